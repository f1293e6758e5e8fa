"""F35: disk full, stale cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from crossing_files import CrossingFiles, write_crossings

from motionpred.errors import StoreError
from motionpred.store import prepare

RUN = Path(__file__).parents[1] / "store" / "run_prepare.py"

LIMIT = 5_000_000


@pytest.fixture
def five_megabytes(tmp_path):
    """A file system of 5 MB; skips where mounting one is not allowed."""
    folder = tmp_path / "five megabytes"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={LIMIT}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("may not mount a small file system here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def run(raw: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RUN), str(raw), str(out)]
    return subprocess.run([*command, *options], capture_output=True, text=True)


def test_f35_disk_full(tmp_path, five_megabytes):
    raw = write_crossings(tmp_path / "raw", 400)  # about 14 MB as a store
    result = run(raw, five_megabytes / "out")
    assert result.returncode != 0
    needed, free = "the store needs about 1", "MB are free"
    assert needed in result.stderr and free in result.stderr, result.stderr
    assert list(five_megabytes.rglob("*.arrow*")) == []


def test_f35_disk_full_by_a_file_size_limit(tmp_path):
    raw = write_crossings(tmp_path / "raw", 170)
    result = run(raw, tmp_path / "out", "--shard-size", "170", "--largest-file", str(LIMIT))
    assert result.returncode != 0
    assert "limit of 5 MB" in result.stderr
    assert "needs about" in result.stderr and "are free" in result.stderr
    assert not (tmp_path / "out").exists()


def test_f35_stale_cache_of_another_setting_is_not_reused(tmp_path):
    raw = write_crossings(tmp_path / "raw", {"train/a": "1", "val/b": "2"})
    prepare(CrossingFiles(), raw, tmp_path / "out", split="train")
    with pytest.raises(StoreError, match="split was 'train' and is 'val'"):
        prepare(CrossingFiles(), raw, tmp_path / "out", split="val")
