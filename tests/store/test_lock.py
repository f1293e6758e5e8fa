"""Two writers of one store: the second refuses, and a dead one holds nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from crossing_files import CrossingFiles, write_crossings

from motionpred.errors import StoreError
from motionpred.store import prepare
from motionpred.store.lock import exclusive

RUN = Path(__file__).parent / "run_prepare.py"


def test_a_second_holder_is_refused_and_told_who_the_first_is(tmp_path):
    refused = pytest.raises(StoreError, match=rf"another process.*process {os.getpid()} on")
    with exclusive(tmp_path / "lock"), refused, exclusive(tmp_path / "lock"):
        pass
    with exclusive(tmp_path / "lock"):
        pass
    assert not (tmp_path / "lock").exists()


def test_a_lock_file_that_was_left_over_holds_nothing(tmp_path):
    (tmp_path / "lock").write_text("process 1 on elsewhere")
    with exclusive(tmp_path / "lock"):
        pass


def test_a_second_prepare_refuses_while_the_first_runs_and_goes_on_when_it_was_killed(tmp_path):
    raw = write_crossings(tmp_path / "raw", 40)
    command = [sys.executable, str(RUN), str(raw), str(tmp_path / "out")]
    first = subprocess.Popen(command, env={**os.environ, "CROSSING_SECONDS": "0.2"})
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "out" / ".build" / "plan.json").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        with pytest.raises(StoreError, match=rf"process {first.pid} on .*Wait until it has"):
            prepare(CrossingFiles(), raw, tmp_path / "out")
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    assert prepare(CrossingFiles(), raw, tmp_path / "out").scenes == 40
