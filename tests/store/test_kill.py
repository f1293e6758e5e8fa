"""kill -9 at random moments, two workers: a rerun gives the bytes of an uninterrupted run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from crossing_files import CrossingFiles, write_crossings

from motionpred.store import Store, prepare

RUN = Path(__file__).parent / "run_prepare.py"
SLOW = {**os.environ, "CROSSING_SECONDS": "0.05"}


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.*")}


def start(raw: Path, out: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(RUN), str(raw), str(out), "--workers", "2", *options]
    return subprocess.Popen(command, env=SLOW, start_new_session=True, stderr=subprocess.DEVNULL)


def wait_for_a_scene(out: Path) -> None:
    until = time.monotonic() + 60
    while not any(p.stat().st_size > 40_000 for p in out.glob(".build/*.part")):
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_a_group_killed_at_three_moments_leaves_the_same_bytes_in_the_end(tmp_path, compression):
    raw = write_crossings(tmp_path / "raw", {f"{i:02d}": f"{i} broken" for i in range(40)})
    options = [] if compression == "none" else ["--compression", compression]
    wanted = None if compression == "none" else "zstd"
    prepare(CrossingFiles(), raw, tmp_path / "whole", compression=wanted)
    rng = random.Random(3)
    killed = 0
    for _ in range(3):
        run = start(raw, tmp_path / "out", *options)
        wait_for_a_scene(tmp_path / "out")
        time.sleep(rng.uniform(0, 1))
        os.killpg(run.pid, signal.SIGKILL)
        killed += run.wait() == -signal.SIGKILL
    assert killed == 3
    report = prepare(CrossingFiles(), raw, tmp_path / "out", workers=2, compression=wanted)
    assert report.resumed > 0
    assert files(tmp_path / "out") == files(tmp_path / "whole")


@pytest.mark.slow
def test_workers_whose_main_process_was_killed_end_and_do_not_disturb_the_rerun(tmp_path):
    raw = write_crossings(tmp_path / "raw", 40)
    run = start(raw, tmp_path / "out")
    wait_for_a_scene(tmp_path / "out")
    os.kill(run.pid, signal.SIGKILL)  # the main process alone
    run.wait()
    report = prepare(CrossingFiles(), raw, tmp_path / "out", workers=2)
    assert (report.scenes, report.built + report.resumed) == (40, 40)
    Store(tmp_path / "out").verify()
    until = time.monotonic() + 30
    while group_lives(run.pid):
        assert time.monotonic() < until, "a worker outlived its main process"
        time.sleep(0.05)


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
