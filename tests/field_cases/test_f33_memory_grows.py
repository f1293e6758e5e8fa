"""F33: memory grows, the build is slow and silent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from crossing_files import CrossingFiles, write_crossings

from motionpred.store import Store, prepare

RUN = Path(__file__).parents[1] / "store" / "run_prepare.py"


def peak_memory(tmp_path: Path, scenes: int) -> int:
    """Peak memory (kB) of a process that prepares so many scenes."""
    raw = write_crossings(tmp_path / f"raw{scenes}", {f"{i:04d}": "tiny" for i in range(scenes)})
    command = [sys.executable, str(RUN), str(raw)]
    command += [str(tmp_path / f"out{scenes}")]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    report = json.loads(run.stdout)
    assert report["scenes"] == scenes
    return int(report["peak"])


@pytest.mark.slow
def test_f33_memory_grows(tmp_path):
    few, many = peak_memory(tmp_path, 200), peak_memory(tmp_path, 2000)
    assert abs(many - few) < 0.1 * few, f"{few} kB for 200 scenes, {many} kB for 2000"


def test_f33_identical_files_with_two_workers(tmp_path):
    raw = write_crossings(tmp_path / "raw", 20)
    one = prepare(CrossingFiles(), raw, tmp_path / "one", workers=1)
    two = prepare(CrossingFiles(), raw, tmp_path / "two", workers=2)
    assert one.content_hash == two.content_hash
    for path in one.path.iterdir():
        assert path.read_bytes() == (two.path / path.name).read_bytes(), path.name


def test_f33_build_is_not_silent(tmp_path):
    raw = write_crossings(tmp_path / "raw", 5)
    seen = []
    prepare(CrossingFiles(), raw, tmp_path / "out", progress=seen.append)
    assert {p.scenes for p in seen} >= {1, 2, 3, 4, 5}
    assert all(p.rate > 0 and p.eta is not None for p in seen if 0 < p.done < p.total)


def test_f33_usable_output_from_the_first_shard(tmp_path):
    raw = write_crossings(tmp_path / "raw", 6)
    readable = []

    def look(progress):
        readable.append(len(Store(tmp_path / "out", allow_partial=True)))

    prepare(CrossingFiles(), raw, tmp_path / "out", shard_size=2, progress=look)
    assert {0, 2, 4} <= set(readable)
