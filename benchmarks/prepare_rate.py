"""Preparing with two workers against one (field case F33), the start of the workers included.

    python benchmarks/prepare_rate.py --data ROOT [--out DIR] [--scenes N] [--repeats N]

ROOT holds Argoverse 2 scenarios; every scene is read from its files again, under a new id. The two
take turns. Needs two free cores: on a busy machine the ratio of rates says how busy it is. The CPU
time of both (all processes) does not: two workers that cost as much as one can be twice as fast.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

from record import hash_of_files, write_result
from replicated import Replicated

from motionpred.store import prepare


def cpu_seconds() -> float:
    """User and system time of this process and of its ended children."""
    return sum(os.times()[:4])


def main() -> None:
    """Run the benchmark and write its result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of Argoverse 2 scenarios")
    parser.add_argument("--out", type=Path, help="default benchmarks/results")
    parser.add_argument("--scenes", type=int, default=1200)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    adapter = Replicated("argoverse2", options.scenes)
    speeds: dict[int, list[float]] = {1: [], 2: []}
    cpu: dict[int, list[float]] = {1: [], 2: []}
    hashes: set[str] = set()
    for _ in range(options.repeats):
        for workers, found in speeds.items():
            with tempfile.TemporaryDirectory() as folder:
                start, used = time.perf_counter(), cpu_seconds()
                report = prepare(adapter, options.data, Path(folder) / "store", workers=workers)
                found.append(round(report.scenes / (time.perf_counter() - start), 2))
                cpu[workers].append(round(cpu_seconds() - used, 2))
                hashes.add(report.content_hash)
    ratios = [two / one for one, two in zip(speeds[1], speeds[2], strict=True)]
    summary = {
        "scenes": options.scenes,
        "one_worker_scenes_per_s": statistics.median(speeds[1]),
        "two_workers_scenes_per_s": statistics.median(speeds[2]),
        "ratio": round(statistics.median(ratios), 2),
        "target_ratio": 1.5,
        "cpu_two_over_one": round(statistics.median(cpu[2]) / statistics.median(cpu[1]), 3),
        "identical": len(hashes) == 1,
    }
    path = write_result(
        "prepare-rate",
        options.out,
        {
            "scenes_per_s": {str(workers): found for workers, found in speeds.items()},
            "cpu_seconds": {str(workers): found for workers, found in cpu.items()},
        },
        summary,
        data_hash=hash_of_files(options.data),
    )
    print(json.dumps(summary, indent=2))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
