"""F24: a stop inside an epoch, and a damaged last checkpoint."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from motionpred.cli import app
from motionpred.models.checkpoint import read_checkpoint

SETTINGS = (
    "trainer=smoke",
    "trainer.batch_size=1",
    "trainer.max_steps=10",
    "trainer.checkpoint_every=1",
    "trainer.log_scenes=true",
    "trainer.accelerator=cpu",
    "model.size=nano",
)


def seen(run: Path) -> list[tuple[int, int, str]]:
    """(step, epoch, scene id) of every row that is whole."""
    path = run / "scenes.csv"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    rows = csv.DictReader(line for line in lines if line.endswith("\n"))
    return [(int(row["step"]), int(row["epoch"]), row["scene_id"]) for row in rows]


@pytest.mark.slow
def test_f24_killed_after_step_two_each_scene_is_seen_once_per_epoch(
    crossing_store: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "runs"
    command = [sys.executable, "-m", "motionpred", "train", f"store={crossing_store(5)}"]
    process = subprocess.Popen([*command, *SETTINGS, f"out={out}"])
    until = time.monotonic() + 120
    while not (out.is_dir() and any(len(seen(run)) >= 2 for run in out.iterdir())):
        assert process.poll() is None, "the training ended before it could be killed"
        assert time.monotonic() < until
        time.sleep(0.005)
    process.kill()  # SIGKILL
    process.wait()
    (run,) = out.iterdir()
    assert 2 <= len(seen(run)) < 10

    done = CliRunner().invoke(app, ["train", f"resume={run}"])

    assert done.exit_code == 0, done.output
    rows = seen(run)
    assert [step for step, _, _ in rows] == list(range(1, 11))
    for epoch in (0, 1):
        scenes = Counter(scene for _, e, scene in rows if e == epoch)
        assert scenes == {f"train{i}": 1 for i in range(5)}


def test_f24_a_last_checkpoint_that_is_cut_short_falls_back_to_the_one_before(
    crossing_store: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "runs"
    call = ["train", f"store={crossing_store(5)}", *SETTINGS, f"out={out}", "trainer.max_steps=3"]
    assert CliRunner().invoke(app, call).exit_code == 0
    (run,) = out.iterdir()
    last = run / "checkpoints" / "last.ckpt"
    last.write_bytes(last.read_bytes()[:-100])

    with pytest.warns(UserWarning, match=r"last\.ckpt.*before_last\.ckpt"):
        done = CliRunner().invoke(app, ["train", f"resume={run}"])

    assert done.exit_code == 0, done.output
    assert read_checkpoint(last)["global_step"] == 3
    assert [step for step, _, _ in seen(run)] == [1, 2, 3]


def test_f24_a_changed_byte_is_damage_too(
    crossing_store: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "runs"
    call = ["train", f"store={crossing_store(5)}", *SETTINGS, f"out={out}", "trainer.max_steps=2"]
    assert CliRunner().invoke(app, call).exit_code == 0
    (run,) = out.iterdir()
    last = run / "checkpoints" / "last.ckpt"
    content = bytearray(last.read_bytes())
    content[len(content) // 2] ^= 1  # inside the weights
    last.write_bytes(content)

    with pytest.warns(UserWarning, match="checksum"):
        done = CliRunner().invoke(app, ["train", f"resume={run}"])

    assert done.exit_code == 0, done.output
