"""Row "import": ``import motionpred`` and ``motionpred --help`` against ``import torch``.

    python benchmarks/import_time.py [--out DIR]

CPU seconds (user + system) of whole processes, the three in turn, after one warm-up of each.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from record import write_result

COMMANDS = {
    "import motionpred": [sys.executable, "-c", "import motionpred; motionpred.Scene"],
    "motionpred --help": [sys.executable, "-m", "motionpred", "--help"],
    "import torch": [sys.executable, "-c", "import torch"],
}


def cpu_seconds(command: list[str]) -> float:
    """User and system time of one run of a command."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    for command in COMMANDS.values():
        cpu_seconds(command)
    raw: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(options.repeats):
        for name, command in COMMANDS.items():
            raw[name].append(cpu_seconds(command))
    middle = {name: median(values) for name, values in raw.items()}
    peer = middle["import torch"]
    summary = {
        f"{name} / import torch": middle[name] / peer
        for name in ("import motionpred", "motionpred --help")
    }
    for name, ratio in summary.items():
        print(f"{name}: {ratio:.3f}")
    print("wrote", write_result("import-time", options.out, raw=raw, summary=summary))


if __name__ == "__main__":
    main()
