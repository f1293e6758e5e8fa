"""Wheel, source archive and checkout each find the configs; imports stay light."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import motionpred

ROOT = Path(__file__).parents[1]
FIND = "from motionpred.config_dir import config_dir; print(config_dir())"


def python(*arguments: str, path: Path | None = None, cwd: Path) -> str:
    environment = dict(os.environ)
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel, built from the source archive, as for a release."""
    out = tmp_path_factory.mktemp("dist")
    python("-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT), cwd=out)
    return out


@pytest.mark.slow
def test_an_installed_wheel_finds_its_own_configs(built, tmp_path):
    wheel = next(built.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    found = Path(python("-c", FIND, path=tmp_path / "site", cwd=tmp_path))
    assert found == tmp_path / "site" / "motionpred" / "configs"
    assert (found / "train.yaml").is_file()


@pytest.mark.slow
def test_an_unpacked_source_archive_finds_the_configs_beside_the_package(built, tmp_path):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    source = next(tmp_path.glob("motionpred-*"))
    found = Path(python("-c", FIND, path=source, cwd=tmp_path))
    assert found == source / "configs"
    assert (source / "tests").is_dir()
    assert (source / "constraints.txt").is_file()


def test_a_checkout_finds_the_configs_beside_the_package(tmp_path):
    found = Path(python("-c", FIND, path=ROOT, cwd=tmp_path))
    assert found == ROOT / "configs"


def test_importing_motionpred_and_asking_for_help_load_no_heavy_package(tmp_path):
    heavy = ["torch", "pytorch_lightning", "torch_geometric", "matplotlib", "pandas", "hydra"]
    code = (
        "import sys, motionpred, motionpred.cli; motionpred.Scene; motionpred.Prediction; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert python("-c", code, path=ROOT, cwd=tmp_path) == "[]"


def test_reading_and_storing_scenes_needs_no_torch(tmp_path):
    code = (
        "import sys, motionpred, motionpred.datasets, motionpred.metrics; motionpred.read_scenes; "
        "from motionpred.datasets import adapter_names; adapter_names(); "
        "from motionpred.metrics import protocol_names; protocol_names(); "
        "print('torch' in sys.modules)"
    )
    assert python("-c", code, path=ROOT, cwd=tmp_path) == "False"


@pytest.mark.slow
def test_wheel_and_source_archive_have_the_version_of_the_package(built):
    assert [path.name for path in sorted(built.iterdir())] == [
        f"motionpred-{motionpred.__version__}-py3-none-any.whl",
        f"motionpred-{motionpred.__version__}.tar.gz",
    ]


def test_the_command_says_the_version_of_the_package():
    said = python("-m", "motionpred", "--version", cwd=ROOT)
    assert said == f"motionpred {motionpred.__version__}"
