"""Training under ``kill -9``: the same weights after going on, whatever the moment.

    python benchmarks/kill_train.py [--out DIR] [--steps N] [--moments N]

Scenes made by hand, the nano regression model with averaged weights and augmentation, validations,
and a checkpoint every third step. Each time ``motionpred train`` is killed at a random moment of
its run, sometimes a second time, and ``motionpred train resume=RUN`` finishes it. The weights of
both bundles have to equal an uninterrupted run's bit for bit, and each scene has to be seen once
per epoch. POSIX only.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from record import hash_of_files, write_result

from motionpred.datasets import get_adapter
from motionpred.datasets.argoverse2 import write_scene
from motionpred.models.checkpoint import read_checkpoint
from motionpred.store import prepare
from motionpred.testing import crossing_scene

SEED = 0
SCENES = {"train": 10, "val": 3}
BATCH = 4  # so an epoch has three steps, the last of two scenes
SETTINGS = (
    "trainer=smoke",
    f"trainer.batch_size={BATCH}",
    "trainer.val_every=5",
    "trainer.checkpoint_every=3",
    "trainer.log_scenes=true",
    "trainer.ema_decay=0.99",
    "trainer.accelerator=cpu",
    "augmentation.mirror=0.5",
    "augmentation.agent_drop=0.1",
    "augmentation.history_drop=0.3",
    "augmentation.position_noise=0.05",
    "model=regression",
    "model.size=nano",
)


def make_stores(folder: Path) -> None:
    """The stores ``train`` and ``val``."""
    seed = 0
    for split, count in SCENES.items():
        for _ in range(count):
            write_scene(crossing_scene(f"{split}-{seed}", seed=seed, split=split), folder / "raw")
            seed += 1
        prepare(get_adapter("argoverse2"), folder / "raw", folder / split, split=split)


def start(folder: Path, *overrides: str) -> subprocess.Popen[bytes]:
    """``motionpred train`` in a process group of its own."""
    command = [sys.executable, "-m", "motionpred", "train", *overrides]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def fresh(steps: int, out: str) -> list[str]:
    """Overrides of a new run."""
    return ["store=train", "val_store=val", *SETTINGS, f"trainer.max_steps={steps}", f"out={out}"]


def kill_after(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Kill the group after so many seconds; False where it had ended by then."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait() == -signal.SIGKILL
    return False


def run_of(folder: Path, out: str) -> Path | None:
    """The run folder in ``out`` that can be gone on with, where there is one already."""
    found = sorted((folder / out).glob("*/config.yaml"))
    return found[-1].parent if found else None


def weights(run: Path) -> dict[str, bytes]:
    """The weight files of both bundles, byte for byte."""
    return {name: (run / name / "model.safetensors").read_bytes() for name in ("best", "last")}


def each_scene_once_per_epoch(run: Path, steps: int) -> bool:
    """Whether the log of scenes has every step, and every scene of whole epochs once."""
    with (run / "scenes.csv").open() as file:
        rows = list(csv.DictReader(file))
    epochs: dict[str, Counter[str]] = {}
    for row in rows:
        epochs.setdefault(row["epoch"], Counter())[row["scene_id"]] += 1
    epoch_steps = -(-SCENES["train"] // BATCH)
    whole = [epochs[str(epoch)] for epoch in range(steps // epoch_steps)]
    every_step = sorted({int(row["step"]) for row in rows}) == list(range(1, steps + 1))
    once = all(len(scenes) == SCENES["train"] and set(scenes.values()) == {1} for scenes in whole)
    return every_step and once


def logged_step(run: Path | None) -> int:
    """The last step in the run's log."""
    path = None if run is None else run / "scenes.csv"
    if path is None or not path.exists():
        return 0
    lines = [line for line in path.read_text().splitlines(keepends=True)[1:] if line[-1] == "\n"]
    return int(lines[-1].split(",")[0]) if lines else 0


def checkpoint_step(run: Path | None) -> int:
    """The step that a run goes on from; 0 without a checkpoint."""
    path = None if run is None else run / "checkpoints" / "last.ckpt"
    return 0 if path is None or not path.exists() else read_checkpoint(path)["global_step"]


def go(folder: Path, out: str, steps: int) -> tuple[subprocess.Popen[bytes], int]:
    """Start, or go on where there is something to go on with; and the step that it begins at."""
    run = run_of(folder, out)
    # Killed before there was a folder, the same command is given again.
    overrides = fresh(steps, out) if run is None else [f"resume={run}"]
    return start(folder, *overrides), checkpoint_step(run)


def one_moment(
    folder: Path, number: int, steps: int, seconds: list[float], wanted: dict[str, bytes]
) -> dict[str, Any]:
    """Kill after so many seconds, and again while it goes on; finish; compare."""
    out = f"killed{number}"
    killed_at, went_on_from = [], []
    for wait in seconds:
        process, begin = go(folder, out, steps)
        if kill_after(process, wait):
            killed_at.append(logged_step(run_of(folder, out)))
        if begin:
            went_on_from.append(begin)
    process, begin = go(folder, out, steps)
    went_on_from.append(begin)
    finished = process.wait() == 0
    run = run_of(folder, out)
    return {
        "seconds": [round(wait, 2) for wait in seconds],
        "killed_at_step": killed_at,
        "went_on_from_step": went_on_from,
        "finished": finished,
        "same_weights": finished and run is not None and weights(run) == wanted,
        "each_scene_once_per_epoch": run is not None and each_scene_once_per_epoch(run, steps),
    }


def main() -> None:
    """Run the check and write its result; exit code 1 where a run differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="default benchmarks/results")
    parser.add_argument("--steps", type=int, default=240)
    parser.add_argument("--moments", type=int, default=10)
    options = parser.parse_args()
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_stores(folder)
        begun = time.perf_counter()
        if start(folder, *fresh(options.steps, "whole")).wait():
            raise RuntimeError("the uninterrupted run failed")
        whole_seconds = time.perf_counter() - begun
        whole = run_of(folder, "whole")
        assert whole is not None
        wanted = weights(whole)
        moments: list[dict[str, Any]] = []
        # A run may be done before its moment comes: that is no kill, and another one is drawn.
        while sum(bool(moment["killed_at_step"]) for moment in moments) < options.moments:
            seconds = [rng.uniform(0, whole_seconds)]
            if rng.random() < 1 / 3:
                seconds.append(rng.uniform(0, whole_seconds / 2))
            moments.append(one_moment(folder, len(moments), options.steps, seconds, wanted))
            print(moments[-1], flush=True)
        data_hash = hash_of_files(folder / "train")
    killed = [moment for moment in moments if moment["killed_at_step"]]
    good = [m for m in killed if m["same_weights"] and m["each_scene_once_per_epoch"]]
    summary = {
        "steps": options.steps,
        "killed": len(killed),
        "killed_twice": sum(len(moment["killed_at_step"]) > 1 for moment in killed),
        "killed_with_steps_to_go_on_from": sum(any(m["went_on_from_step"]) for m in killed),
        "same_weights_and_each_scene_once": len(good),
    }
    path = write_result(
        "kill-train",
        options.out,
        {"uninterrupted_seconds": round(whole_seconds, 2), "moments": moments},
        summary,
        data_hash=data_hash,
        seed=SEED,
        packages=("torch", "pytorch-lightning", "numpy"),
    )
    print(json.dumps(summary, indent=2))
    print(f"wrote {path}")
    sys.exit(len(good) != len(killed))


if __name__ == "__main__":
    main()
