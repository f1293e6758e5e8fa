"""Whether the heavy packages really load, and what torch can compute on.

They are imported in a process of their own: a broken binary may end it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from motionpred.cli.checkup.finding import Finding

SECONDS = 300  # a first import from a network disk is slow

# Its output is one JSON line; what packages print themselves goes before it.
_PROBE = """
import importlib, importlib.util, json, time, warnings
found = {"imports": {}, "torch": {}, "matplotlib_cache": None}
names = ["numpy", "torch", "pytorch_lightning", "torch_geometric", "pyarrow", "matplotlib"]
names += ["torchvision"] if importlib.util.find_spec("torchvision") else []
for name in names:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            importlib.import_module(name)
            error = ""
        except BaseException as problem:
            error = f"{type(problem).__name__}: {problem}"
    issues = [str(w.message) for w in said if "An issue occurred while importing" in str(w.message)]
    found["imports"][name] = {
        "seconds": time.perf_counter() - start, "error": error, "issues": issues
    }
if not found["imports"]["torch"]["error"]:
    import torch
    about = found["torch"]
    about["version"], about["cuda"] = torch.__version__, torch.version.cuda
    about["threads"], about["hip"] = torch.get_num_threads(), torch.version.hip
    try:
        import numpy
        torch.from_numpy(numpy.ones(2)).sum().item()
        about["numpy"] = ""
    except Exception as problem:
        about["numpy"] = str(problem)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        about["devices"] = []
        try:
            if torch.cuda.is_available():
                for i in range(torch.cuda.device_count()):
                    facts = torch.cuda.get_device_properties(i)
                    about["devices"].append(f"{facts.name}, {facts.total_memory / 2**30:.0f} GiB")
                    torch.ones(8, device=f"cuda:{i}").sum().item()
            elif torch.backends.mps.is_available():
                about["devices"].append("Apple GPU (mps)")
            about["device_error"] = ""
        except Exception as problem:
            about["device_error"] = str(problem)
    about["device_warnings"] = [str(w.message) for w in said]
if not found["imports"]["matplotlib"]["error"]:
    import matplotlib
    found["matplotlib_cache"] = matplotlib.get_cachedir()
print(json.dumps(found))
"""


def probe() -> dict[str, Any] | str:
    """What a fresh process found, or why there is no answer."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE], capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"importing torch and its companions took more than {SECONDS} s"
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0 and lines:
        found: dict[str, Any] = json.loads(lines[-1])
        return found
    said = done.stderr.strip().splitlines()
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"code {done.returncode}"
    return f"a process that imports them ended with {how}" + (f": {said[-1]}" if said else "")


def import_findings(found: Mapping[str, Any]) -> list[Finding]:
    """Which packages load, and the combinations that are known not to."""
    imports: Mapping[str, Mapping[str, Any]] = found["imports"]
    version = found["torch"].get("version", "")
    broken = {name: about["error"] for name, about in imports.items() if about["error"]}
    issues = [issue for about in imports.values() for issue in about["issues"]]
    findings = []
    if not broken:
        seconds = sum(about["seconds"] for about in imports.values())
        findings.append(Finding("imports", "ok", f"{', '.join(imports)} in {seconds:.0f} s"))
    # torch's companions load torchvision where it is there, and fail with it.
    vision = any("torchvision" in name or "torchvision" in error for name, error in broken.items())
    for name, error in broken.items():
        remedy = f"pip install --force-reinstall {name.replace('_', '-')}"
        if vision and name != "torch":
            remedy = (
                "pip uninstall torchvision (motionpred does not use it), "
                f"or install the build that belongs to torch {version}"
            )
        findings.append(Finding(f"import {name}", "problem", _first_line(error), remedy))
    for issue in issues:
        text = "a compiled companion of torch-geometric was built for another torch: "
        remedy = "Uninstall it (motionpred needs none of them)"
        findings.append(Finding("torch-geometric", "note", text + _first_line(issue), remedy))
    if found["torch"].get("numpy"):
        findings.append(
            Finding(
                "torch and numpy",
                "problem",
                f"torch {version} cannot read numpy arrays: {_first_line(found['torch']['numpy'])}",
                "Install a newer torch, or the numpy that this torch was built for",
            )
        )
    return findings


def accelerator_finding(torch: Mapping[str, Any], gpu_in_machine: bool) -> Finding:
    """What torch computes on, and whether that is all there is."""
    build = f"CUDA {torch['cuda']}" if torch["cuda"] else "ROCm" if torch["hip"] else "CPU"
    name = f"torch {torch['version']}, {build} build"
    if torch["device_error"]:
        return Finding(
            "accelerator",
            "problem",
            f"{name}: {'; '.join(torch['devices'])}: {_first_line(torch['device_error'])}",
            "Install a build of torch for this GPU and its driver, or train with "
            "trainer.accelerator=cpu",
        )
    if torch["devices"]:
        return Finding("accelerator", "ok", f"{name}: {'; '.join(torch['devices'])}")
    if not gpu_in_machine:
        return Finding("accelerator", "ok", f"{name}: no GPU, the CPU is used")
    if torch["cuda"] or torch["hip"]:
        reason = next((f": {_first_line(text)}" for text in torch["device_warnings"]), "")
        return Finding(
            "accelerator",
            "problem",
            f"{name}: there is a GPU and torch cannot use it{reason}",
            "Update the driver, or install a build of torch for the driver that is there",
        )
    return Finding(
        "accelerator",
        "note",
        f"{name}: there is a GPU and this build cannot use it",
        "Install a CUDA build of torch",
    )


def gpu_in_machine() -> bool:
    """Whether there is an NVIDIA GPU, whatever torch thinks of it."""
    return Path("/proc/driver/nvidia/gpus").exists() or shutil.which("nvidia-smi") is not None


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[0]
