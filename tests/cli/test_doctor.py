"""``motionpred doctor``: what it finds in environments that are made up here, and in this one."""

from __future__ import annotations

import json
from email.message import Message
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from motionpred.cli import doctor
from motionpred.cli.checkup import imports, machine
from motionpred.cli.checkup.finding import Finding
from motionpred.cli.checkup.packages import package_findings

OWN = ["numpy>=1.26", "torch>=2.6", 'wandb>=0.18; extra == "wandb"', 'pytest; extra == "dev"']


def environment(**packages: tuple[str, list[str]]):
    """A lookup of installed packages: name → version and requirements."""

    def lookup(name: str):
        if name not in packages:
            raise PackageNotFoundError(name)
        version, requires = packages[name]
        about = Message()
        for extra in ("wandb", "dev") if name == "motionpred" else ():
            about["Provides-Extra"] = extra
        return SimpleNamespace(name=name, version=version, requires=requires, metadata=about)

    return lookup


def found(findings: list[Finding], subject: str) -> Finding:
    (finding,) = [f for f in findings if f.subject == subject]
    return finding


def states(findings: list[Finding]) -> set[str]:
    return {finding.state for finding in findings}


def test_an_environment_with_everything_has_nothing_to_say():
    findings = package_findings(
        environment(
            motionpred=("0.1", OWN),
            numpy=("2.0", []),
            torch=("2.13.0+cpu", ["numpy"]),
            wandb=("0.31", []),
        )
    )
    assert states(findings) == {"ok"}
    assert "torch 2.13.0+cpu" in found(findings, "packages").found
    assert "Weights & Biases" in found(findings, "extra wandb").found
    assert "extra dev" not in {f.subject for f in findings}


def test_a_package_that_is_missing_or_too_old_is_a_problem_with_the_command_that_mends_it():
    findings = package_findings(environment(motionpred=("0.1", OWN), numpy=("1.20", [])))
    assert found(findings, "numpy").remedy == "pip install 'numpy>=1.26'"
    assert "1.20" in found(findings, "numpy").found
    assert found(findings, "torch").state == "problem"
    assert "not installed" in found(findings, "torch").found


def test_an_absent_extra_is_a_note_that_says_what_it_would_give():
    findings = package_findings(
        environment(motionpred=("0.1", OWN), numpy=("2.0", []), torch=("2.6", []))
    )
    absent = found(findings, "extra wandb")
    assert absent.state == "note"
    assert "motionpred[wandb]" in absent.remedy
    assert "Weights & Biases" in absent.remedy


def test_a_conflict_deep_among_the_requirements_is_a_problem():
    findings = package_findings(
        environment(
            motionpred=("0.1", OWN),
            numpy=("2.0", []),
            torch=("2.6", ["sympy", 'triton; sys_platform == "nowhere"']),
            sympy=("1.0", ["mpmath<1"]),
            mpmath=("1.3", []),
        )
    )
    conflict = found(findings, "conflict")
    assert conflict.state == "problem"
    assert "sympy 1.0: mpmath is 1.3, not <1" in conflict.found
    assert conflict.remedy == "pip install 'mpmath<1'"


def test_what_an_extra_lacks_is_only_a_note():
    findings = package_findings(
        environment(
            motionpred=("0.1", OWN),
            numpy=("2.0", []),
            torch=("2.6", []),
            wandb=("0.31", ["protobuf>=4"]),
        )
    )
    assert found(findings, "conflict").state == "note"


def test_without_an_installed_package_the_checkout_is_to_be_installed():
    finding = found(package_findings(environment()), "motionpred")
    assert finding.state == "problem"
    assert "pip install -e ." in finding.remedy


def answer(**errors: str) -> dict[str, object]:
    names = ("numpy", "torch", "pytorch_lightning", "torchvision")
    return {
        "imports": {
            name: {"seconds": 1.0, "error": errors.get(name, ""), "issues": []} for name in names
        },
        "torch": {"version": "2.13.0+cpu", "numpy": ""},
    }


def test_a_torchvision_that_breaks_lightning_is_named_as_the_culprit():
    message = "RuntimeError: operator torchvision::nms does not exist"
    findings = imports.import_findings(answer(torchvision=message, pytorch_lightning=message))
    assert states(findings) == {"problem"}
    for finding in findings:
        assert finding.remedy.startswith("pip uninstall torchvision")
        assert "2.13.0+cpu" in finding.remedy


def test_torch_that_cannot_read_numpy_arrays_is_a_problem():
    plain = answer()
    plain["torch"]["numpy"] = "Numpy is not available"
    assert found(imports.import_findings(plain), "torch and numpy").state == "problem"


def test_companions_built_for_another_torch_are_a_note():
    plain = answer()
    plain["imports"]["torch"]["issues"] = ["An issue occurred while importing 'torch-scatter'"]
    assert "torch-scatter" in found(imports.import_findings(plain), "torch-geometric").found


@pytest.mark.parametrize(
    ("torch", "gpu", "state", "word"),
    [
        ({}, False, "ok", "the CPU is used"),
        ({}, True, "note", "cannot use it"),
        ({"cuda": "13.0"}, True, "problem", "driver too old"),
        ({"cuda": "13.0", "devices": ["H200, 139 GiB"]}, True, "ok", "H200"),
        (
            {"cuda": "13.0", "devices": ["K80, 11 GiB"], "device_error": "no kernel image\nx"},
            True,
            "problem",
            "no kernel image",
        ),
    ],
)
def test_the_accelerator_is_named_or_the_reason_why_there_is_none(torch, gpu, state, word):
    plain = {
        "version": "2.13.0",
        "cuda": None,
        "hip": None,
        "devices": [],
        "device_error": "",
        "device_warnings": ["driver too old"],
    }
    finding = imports.accelerator_finding({**plain, **torch}, gpu)
    assert finding.state == state
    assert word in finding.found


def test_a_process_that_dies_in_an_import_is_reported(monkeypatch):
    monkeypatch.setattr(imports, "_PROBE", "import os, signal; os.kill(os.getpid(), 9)")
    assert "signal 9" in imports.probe()
    monkeypatch.setattr(imports, "_PROBE", "raise SystemExit('bad binary')")
    assert "bad binary" in imports.probe()


def test_more_threads_than_cores_are_a_note_that_names_the_variable():
    assert machine.thread_finding(2, 2.0).state == "ok"
    many = machine.thread_finding(64, 2.5)
    assert many.state == "note"
    assert "OMP_NUM_THREADS=2" in many.remedy


def test_the_quota_of_a_container_counts(tmp_path):
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert machine._quota(tmp_path / "cpu.max") == 1.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert machine._quota(tmp_path / "cpu.max") is None
    assert machine._quota(tmp_path / "nothing") is None


def test_a_full_disk_and_little_shared_memory_are_found(tmp_path, monkeypatch):
    sizes = SimpleNamespace(total=64e6, free=0.2e9)
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda path: sizes)
    assert machine.disk_finding(tmp_path).state == "problem"
    shared = machine.shared_memory_finding(tmp_path)
    assert shared.state == "note"
    assert "--shm-size" in shared.remedy
    assert machine.shared_memory_finding(tmp_path / "nowhere") is None


def test_a_folder_that_cannot_be_written_to_is_a_problem(tmp_path):
    places = {"cache": (tmp_path / "nowhere", "Set X"), "here": (tmp_path, "")}
    cache, here = machine.writable_findings(places)
    assert (cache.state, cache.remedy) == ("problem", "Set X")
    assert here.state == "ok"


def test_the_exit_code_is_1_where_there_is_a_problem_and_0_where_there_are_notes(run, monkeypatch):
    note = Finding("disk", "note", "5 GB free", "Free some space")
    monkeypatch.setattr(doctor, "check", lambda: [note])
    code, text = run("doctor", "--out", "found.json")
    assert code == 0
    assert "note, disk: Free some space" in text
    assert json.loads(Path("found.json").read_text())["findings"][0]["subject"] == "disk"
    problem = Finding("imports", "problem", "torch does not load", "Install it again")
    monkeypatch.setattr(doctor, "check", lambda: [note, problem])
    code, text = run("doctor")
    assert code == 1
    assert "1 problem: see above" in text


@pytest.mark.slow
def test_this_environment_is_looked_at_from_end_to_end(run):
    _, text = run("doctor")
    for subject in ("python", "packages", "imports", "accelerator", "threads", "disk"):
        assert subject in text
