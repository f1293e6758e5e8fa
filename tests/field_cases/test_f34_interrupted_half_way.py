"""F34: interrupted half-way."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from crossing_files import CrossingFiles, write_crossings

from motionpred.errors import StoreError
from motionpred.store import Store, prepare, read_scenes

RUN = Path(__file__).parents[1] / "store" / "run_prepare.py"


def test_f34_interrupted_half_way(tmp_path):
    raw = write_crossings(tmp_path / "raw", 20)
    whole = prepare(CrossingFiles(), raw, tmp_path / "whole")
    command = [sys.executable, str(RUN), str(raw)]
    command.append(str(tmp_path / "out"))

    killed = subprocess.run([*command, "--kill-after", "7"])
    assert killed.returncode == -signal.SIGKILL
    for use in (Store, read_scenes):
        with pytest.raises(StoreError, match=r"unfinished.*it continues where it stopped"):
            use(tmp_path / "out")

    again = subprocess.run(command, check=True, capture_output=True, text=True)
    report = json.loads(again.stdout)
    assert (report["built"], report["resumed"], report["scenes"]) == (13, 7, 20)
    assert report["content_hash"] == whole.content_hash
    for path in whole.path.iterdir():
        assert path.read_bytes() == (tmp_path / "out" / path.name).read_bytes(), path.name


def test_f34_failed_scenes_are_listed_with_reasons(tmp_path):
    raw = write_crossings(tmp_path / "raw", {"a": "1", "b": "broken"})
    prepare(CrossingFiles(), raw, tmp_path / "out")
    (line,) = (tmp_path / "out" / "failures.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "source": "b.crossing",
        "ordinal": 0,
        "file": "b.crossing",
        "scene": "b",
        "field": "signals",
        "message": "the lights are out",
        "remedy": "Fix it",
    }
