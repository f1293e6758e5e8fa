"""The machine: processor, memory, threads, disk, places to write to."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from pathlib import Path
from typing import Any

from motionpred.cli.checkup.finding import Finding

LEAST_DISK, GOOD_DISK = 1e9, 10e9  # bytes
LEAST_SHARED = 1e9  # bytes of /dev/shm that batches of worker processes go through
LEAST_MEMORY = 4e9  # bytes


def machine_facts() -> dict[str, Any]:
    """Processor, cores, memory and system, as a report or a bench writes them down."""
    memory = memory_bytes()
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "memory_gib": None if memory is None else round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }


def usable_cores() -> float:
    """Cores that this process may use: by affinity, and by the quota of its container."""
    if hasattr(os, "sched_getaffinity"):
        cores = float(len(os.sched_getaffinity(0)))
    else:
        cores = float(os.cpu_count() or 1)
    quota = _quota(Path("/sys/fs/cgroup/cpu.max"))
    return cores if quota is None else min(cores, quota)


def _quota(path: Path) -> float | None:
    try:
        most, period = path.read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return None
    return None if most == "max" else float(most) / float(period)


def memory_bytes() -> int | None:
    """Bytes of memory of the machine, where the system says so."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def thread_finding(threads: int, usable: float) -> Finding:
    """Threads of torch against the cores that there are for them."""
    found = f"{threads} of torch on {usable:g} usable cores"
    if threads <= max(usable, 1):
        return Finding("threads", "ok", found)
    remedy = f"Set OMP_NUM_THREADS={max(int(usable), 1)}: waiting threads slow each other down"
    return Finding("threads", "note", found, remedy)


def memory_finding(total: int | None) -> Finding:
    """Memory of the machine."""
    if total is None:
        return Finding("memory", "ok", "not known on this system")
    found = f"{total / 2**30:.1f} GiB"
    if total >= LEAST_MEMORY:
        return Finding("memory", "ok", found)
    return Finding("memory", "note", found, "Use trainer.batch_size=4 or less")


def disk_finding(folder: Path) -> Finding:
    """Room on the disk of a folder."""
    free = shutil.disk_usage(folder).free
    found = f"{free / 1e9:.1f} GB free in {folder}"
    if free >= GOOD_DISK:
        return Finding("disk", "ok", found)
    remedy = "Free some space, or write stores and runs to another disk"
    return Finding("disk", "problem" if free < LEAST_DISK else "note", found, remedy)


def shared_memory_finding(folder: Path = Path("/dev/shm")) -> Finding | None:
    """Room for batches that worker processes hand over; None where there is no such place."""
    if not folder.is_dir():
        return None
    total = shutil.disk_usage(folder).total
    found = f"{total / 1e9:.2f} GB in {folder}"
    if total >= LEAST_SHARED:
        return Finding("shared memory", "ok", found)
    remedy = (
        "Start the container with more (docker run --shm-size=8g), or use trainer.num_workers=0"
    )
    return Finding("shared memory", "note", found, remedy)


def writable_findings(places: dict[str, tuple[Path, str]]) -> list[Finding]:
    """Whether files can be made in folders, given by name with what to do if not."""
    findings = []
    for name, (folder, remedy) in places.items():
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            reason = f"{folder} cannot be written to: {error.strerror}"
            findings.append(Finding(name, "problem", reason, remedy))
        else:
            findings.append(Finding(name, "ok", f"{folder} can be written to"))
    return findings


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
