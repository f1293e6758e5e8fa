"""An experiment logger in a process of its own, so that it can neither stop nor block a training.

A queue and a thread lead to the process; it answers each message by a line. A logger that raises,
dies, or stands still is left behind with one warning, and the run's own ``metrics.csv`` goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LIMIT = 5.0  # seconds without an answer after which nobody waits any longer
_START_LIMIT = 4.0  # for the first contact, below LIMIT: another way may be tried then
_IMPORT_LIMIT = 60.0  # loading a package on a busy machine; only the thread waits for that
_BACKLOG = 100_000  # messages that wait for a logger; more are dropped


class GuardedLog:
    """Figures, pictures and bundles for one experiment logger."""

    def __init__(
        self, name: str, script: Path, starts: Sequence[Mapping[str, Any]], log_file: Path
    ) -> None:
        """Start ``script``; each of ``starts`` is one way to start it, the preferred one first.

        What the process prints goes to ``log_file``. Returns at once.
        """
        self.name = name
        self.folder: Path | None = None  # where the logger keeps its files, once it has started
        self._script = script
        self._starts = list(starts)
        self._log_file = log_file
        self._queue: queue.Queue[dict[str, Any] | None] = queue.Queue(_BACKLOG)
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._process: subprocess.Popen[str] | None = None
        self._progress = time.monotonic()
        self._warned = False
        self._abandoned = False
        self._thread = threading.Thread(target=self._run, name=f"log-{name}", daemon=True)
        self._thread.start()

    def values(self, step: int, values: Mapping[str, float]) -> None:
        """Log numbers of a step."""
        self._put({"step": step, "values": {k: float(v) for k, v in values.items()}})

    def picture(self, step: int, name: str, path: Path) -> None:
        """Log a PNG file, which has to stay where it is."""
        self._put({"step": step, "picture": name, "path": str(path)})

    def bundle(self, step: int, path: Path) -> None:
        """Keep a copy of a bundle, where the logger can."""
        self._put({"step": step, "bundle": str(path)})

    def close(self) -> None:
        """Wait until everything is logged, at most 5 s from one answer to the next."""
        self._put(None)
        self._progress = time.monotonic()
        while self._thread.is_alive() and time.monotonic() - self._progress < LIMIT:
            self._thread.join(0.02)
        if self._thread.is_alive():
            self._give_up(f"it stood still for {LIMIT:g} s")

    def _put(self, message: dict[str, Any] | None) -> None:
        if self._abandoned:
            return
        try:
            self._queue.put_nowait(message)
        except queue.Full:
            self._give_up(f"{_BACKLOG} messages wait for it")

    def _run(self) -> None:
        """The thread: start the process, then pass on one message after another."""
        try:
            reason = self._start()
            while reason is None:
                message = self._queue.get()
                answer = self._send(message or {"end": True}, None)
                if "gone" in answer:
                    reason = answer["error"]
                elif "error" in answer:
                    self._warn(f"the logger {self.name} could not log something: {answer['error']}")
                if message is None:
                    break
        except OSError as error:
            reason = f"its process ended ({error})"
        if reason is not None:
            self._give_up(reason)
        self._end()

    def _start(self) -> str | None:
        """None once it runs; else why no way to start it worked."""
        reason = "there is no way to start it"
        for start in self._starts:
            self._launch()
            answer = self._answer(_IMPORT_LIMIT)
            if "error" not in answer:
                answer = self._send(dict(start), _START_LIMIT)
            if "error" not in answer:
                self.folder = Path(answer["folder"])
                return None
            reason = answer["error"]
            self._end()
        return reason

    def _launch(self) -> None:
        self._answers = queue.Queue()
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(self._script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # an interrupt at the terminal is for the training
            )
        reader = threading.Thread(
            target=self._read, args=(self._process, self._answers), daemon=True
        )
        reader.start()

    def _read(self, process: subprocess.Popen[str], answers: queue.Queue[Any]) -> None:
        """Pass on what the process answers; None is its end."""
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self._progress = time.monotonic()
                answers.put(json.loads(line))
        answers.put(None)

    def _send(self, message: dict[str, Any], limit: float | None) -> dict[str, Any]:
        """Send, and wait for the answer."""
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        return self._answer(limit)

    def _answer(self, limit: float | None) -> dict[str, Any]:
        """What the process answers; an ``error`` where it does not, ``gone`` where it ended."""
        try:
            answer = self._answers.get(timeout=limit)
        except queue.Empty:
            return {"error": f"no answer within {limit:g} s"}
        return {"error": "its process ended", "gone": True} if answer is None else answer

    def _end(self) -> None:
        """No process is left."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(OSError):  # it may be gone already
                process.stdin.close()
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            _kill(process)
            process.wait()

    def _give_up(self, reason: str) -> None:
        self._abandoned = True
        process = self._process
        if process is not None:
            _kill(process)
        self._warn(f"the logger {self.name} is left behind: {reason}")

    def _warn(self, what: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{what}. The training goes on; metrics.csv holds all figures, "
                f"{self._log_file.name} beside it what the logger said",
                stacklevel=2,
            )


def _kill(process: subprocess.Popen[str]) -> None:
    """End the process and those that it has started."""
    if sys.platform == "win32":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
