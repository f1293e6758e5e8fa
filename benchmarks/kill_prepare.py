"""Preparing under ``kill -9``: the same bytes after a rerun, whatever the moment.

    python benchmarks/kill_prepare.py --data ROOT [--out DIR] [--scenes N] [--moments N]

ROOT holds Argoverse 2 scenarios, replicated under new ids. Each time the whole process group (the
main process and two workers) is killed at a random moment of the run, then the same call finishes
the store; it has to equal an uninterrupted one in every file. POSIX only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from record import hash_of_files, write_result
from replicated import Replicated

from motionpred.store import prepare

SEED = 0
WORKERS = 2


def digest(folder: Path) -> str:
    """SHA-256 over names and bytes of all files below ``folder``, hidden ones too."""
    total = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        total.update(path.relative_to(folder).as_posix().encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def start(data: Path, out: Path, scenes: int) -> subprocess.Popen[bytes]:
    """Prepare into ``out`` in a process group of its own."""
    command = [sys.executable, __file__, "--data", str(data), "--scenes", str(scenes)]
    return subprocess.Popen([*command, "--prepare-into", str(out)], start_new_session=True)


def one_moment(data: Path, out: Path, scenes: int, seconds: float, wanted: str) -> dict[str, Any]:
    """Kill after so many seconds, run again, compare."""
    run = start(data, out, scenes)
    time.sleep(seconds)
    os.killpg(run.pid, signal.SIGKILL)
    killed = run.wait() == -signal.SIGKILL
    report = prepare(Replicated("argoverse2", scenes), data, out, workers=WORKERS)
    return {
        "seconds": round(seconds, 3),
        "killed": killed,
        "resumed": report.resumed,
        "built": report.built,
        "same": digest(out) == wanted,
    }


def main() -> None:
    """Run the check and write its result; exit code 1 where a store differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of Argoverse 2 scenarios")
    parser.add_argument("--out", type=Path, help="default benchmarks/results")
    parser.add_argument("--scenes", type=int, default=200)
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--prepare-into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare_into is not None:
        adapter = Replicated("argoverse2", options.scenes)
        prepare(adapter, options.data, options.prepare_into, workers=WORKERS)
        return
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begun = time.perf_counter()
        if start(options.data, folder / "whole", options.scenes).wait():
            raise RuntimeError("the uninterrupted run failed")
        whole_seconds = time.perf_counter() - begun
        wanted = digest(folder / "whole")
        moments: list[dict[str, Any]] = []
        # A run may be done before its moment comes: that is no kill, and another one is drawn.
        while sum(moment["killed"] for moment in moments) < options.moments:
            seconds = rng.uniform(0, whole_seconds)
            out = folder / f"killed{len(moments)}"
            moments.append(one_moment(options.data, out, options.scenes, seconds, wanted))
            print(moments[-1])
    summary = {
        "scenes": options.scenes,
        "workers": WORKERS,
        "runs": len(moments),
        "killed": sum(moment["killed"] for moment in moments),
        "killed_with_scenes_to_resume": sum(
            moment["killed"] and moment["resumed"] > 0 for moment in moments
        ),
        "same_bytes_after_a_kill": sum(m["same"] for m in moments if m["killed"]),
        "same_bytes": sum(moment["same"] for moment in moments),
    }
    path = write_result(
        "kill-prepare",
        options.out,
        {"uninterrupted_seconds": round(whole_seconds, 2), "moments": moments},
        summary,
        data_hash=hash_of_files(options.data),
        seed=SEED,
    )
    print(json.dumps(summary, indent=2))
    print(f"wrote {path}")
    sys.exit(summary["same_bytes"] != len(moments))


if __name__ == "__main__":
    main()
