"""SIGTERM and Ctrl-C ask a training to leave; it does so after the step, with a checkpoint."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class TrainingStopped(Exception):
    """The training left at a step, as it was asked to; its checkpoint is written."""

    def __init__(self, signal_name: str) -> None:
        super().__init__(signal_name)
        self.signal_name = signal_name


class StopRequest:
    """Whether a signal has asked to stop; a second one of Ctrl-C interrupts at once."""

    def __init__(self) -> None:
        self.signal_name: str | None = None
        self._before: dict[signal.Signals, Any] = {}

    def listen(self) -> None:
        """Take the signals over. Only the main thread can; elsewhere nothing changes."""
        if self._before or threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._note)

    def release(self) -> None:
        """Give the signals back to whoever had them."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.signal_name is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.signal_name = signal.Signals(number).name
