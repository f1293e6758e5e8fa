"""What every benchmark writes down: command, commit, machine, data and raw figures.

A result is one ``result.json`` in a folder of its own; the documentation quotes nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from motionpred.files import write_atomically

CHECKOUT = Path(__file__).resolve().parents[1]
RESULTS = CHECKOUT / "benchmarks" / "results"


def write_result(
    name: str,
    out_dir: Path | None,
    raw: Mapping[str, Any],
    summary: Mapping[str, Any],
    command: str | None = None,
    data_hash: str = "",
    seed: int | None = None,
    packages: tuple[str, ...] = ("numpy", "pyarrow"),
) -> Path:
    """Write ``<out_dir>/<name>/result.json`` (default below ``benchmarks/results``).

    ``raw`` holds every repeat, ``summary`` the figures that are quoted; ``command`` defaults to
    the running one; ``data_hash`` and ``seed`` stay empty where there is no data or no chance.
    The file appears under its name only when it is complete. Returns its path.
    """
    folder = Path(out_dir or RESULTS) / name
    folder.mkdir(parents=True, exist_ok=True)
    result = {
        "name": name,
        "summary": dict(summary),
        "command": command or command_line(),
        "commit": commit(),
        "seed": seed,
        "data_hash": data_hash,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(),
        "packages": {package: _version(package) for package in packages},
        "raw": dict(raw),
    }
    path = folder / "result.json"
    text = json.dumps(result, indent=2, allow_nan=False)
    write_atomically(path, f"{text}\n".encode())
    return path


def command_line() -> str:
    """The command as it was typed; of a path outside the checkout only the last name is shown."""
    script = Path(sys.argv[0]).resolve()
    return " ".join(["python", *map(_shown, [str(script), *sys.argv[1:]])])


def commit() -> str:
    """The commit of the checkout; ``+changes`` where the package differs from it."""
    head = _git("rev-parse", "HEAD")
    return f"{head}+changes" if _git("status", "--porcelain", "--", "motionpred") else head


def machine() -> dict[str, Any]:
    """Processor, cores, memory and system; and the load, since others may be at work."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_1min": round(os.getloadavg()[0], 2),
    }


def hash_of_files(root: Path, pattern: str = "*") -> str:
    """SHA-256 over names and contents of the files below ``root`` (hidden ones left out)."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob(pattern)):
        name = path.relative_to(root)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            digest.update(name.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _shown(argument: str) -> str:
    path = Path(argument)
    if not path.is_absolute():
        return argument
    inside = path.is_relative_to(CHECKOUT)
    return path.relative_to(CHECKOUT).as_posix() if inside else path.name


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=CHECKOUT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
