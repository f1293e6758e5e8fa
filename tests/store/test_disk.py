"""The disk: an estimate before the bulk of the work, and a clean stop when it is full."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest
from crossing_files import CrossingFiles, write_crossings

from motionpred.errors import StoreError
from motionpred.store import Store, prepare
from motionpred.store.disk import size

Usage = namedtuple("Usage", "total used free")
RUN = Path(__file__).parent / "run_prepare.py"


@pytest.fixture
def small_disk(tmp_path):
    """Mounts a file system of so many bytes in memory; skips where that is not allowed."""
    mounted: list[Path] = []

    def mount(bytes: int) -> Path:
        folder = tmp_path / "small disk"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={bytes}", "tmpfs", str(folder)]
        if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("may not mount a small file system here")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


def test_what_will_not_fit_is_refused_after_twenty_scenes(tmp_path, monkeypatch):
    raw = write_crossings(tmp_path / "raw", 200)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 0, 5_000_000))
    built = []
    message = (
        r"needs about 6[.\d]* MB more \(measured on 20 scenes\) and 5 MB are free.*another disk"
    )
    with pytest.raises(StoreError, match=message):
        prepare(CrossingFiles(), raw, tmp_path / "out", progress=lambda p: built.append(p.scenes))
    assert max(built) <= 20
    assert not (tmp_path / "out").exists()


def test_finished_shards_are_kept_when_the_rest_will_not_fit(tmp_path, monkeypatch):
    raw = write_crossings(tmp_path / "raw", 60)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 0, 1000))
    with pytest.raises(StoreError, match=r"1 kB are free.*finished shards are kept"):
        prepare(CrossingFiles(), raw, tmp_path / "out", shard_size=9)
    assert len(Store(tmp_path / "out", allow_partial=True)) == 18
    assert list((tmp_path / "out" / ".build").glob("*.part")) == []
    monkeypatch.undo()
    report = prepare(CrossingFiles(), raw, tmp_path / "out", shard_size=9)
    assert (report.scenes, report.resumed) == (60, 18)


def test_a_full_disk_in_the_middle_is_a_clean_stop_that_can_go_on(tmp_path, small_disk):
    raw = write_crossings(tmp_path / "raw", 60)
    disk = small_disk(1_000_000)  # about half of what is needed
    with pytest.raises(StoreError, match=r"needs about [\d.]+ k?M?B more.* free"):
        prepare(CrossingFiles(), raw, disk / "out", shard_size=5)
    kept = len(Store(disk / "out", allow_partial=True))
    assert 0 < kept < 60
    assert list((disk / "out" / ".build").glob("*.part")) == []
    subprocess.run(["mount", "-o", "remount,size=9000000", str(disk)], check=True)
    report = prepare(CrossingFiles(), raw, disk / "out", shard_size=5)
    assert (report.scenes, report.resumed) == (60, kept)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_disk_that_fills_up_before_the_estimate_says_how_much_is_needed(
    tmp_path, small_disk, workers
):
    raw = write_crossings(tmp_path / "raw", 40)
    disk = small_disk(300_000)
    with pytest.raises(StoreError, match=r"the disk is full: the store needs about .* are free"):
        prepare(CrossingFiles(), raw, disk / "out", workers=workers)
    assert list(disk.rglob("*.part")) == []


def test_a_file_size_limit_is_named_and_nothing_half_written_is_left(tmp_path):
    raw = write_crossings(tmp_path / "raw", 40)
    command = [sys.executable, str(RUN), str(raw), str(tmp_path / "out"), "--shard-size", "10"]
    limited = [*command, "--largest-file", "250000"]  # a shard of ten has more
    run = subprocess.run(limited, capture_output=True, text=True, env=os.environ)
    assert run.returncode == 1
    assert "larger than the limit of 250 kB" in run.stderr
    assert "smaller shard_size" in run.stderr
    assert not (tmp_path / "out").exists()
    assert subprocess.run(command).returncode == 0
    assert len(Store(tmp_path / "out")) == 40


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (5_000_000, "5 MB"), (1.5e12, "1.5 TB")]
)
def test_sizes_are_written_as_people_read_them(count, text):
    assert size(count) == text
