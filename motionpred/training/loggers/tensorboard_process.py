"""The process of the TensorBoard logger; run by path, it imports nothing of motionpred.

It reads messages from stdin, one JSON object a line, and answers each by one on stdout.
"""

from __future__ import annotations

import json
import os
import struct
import time
from pathlib import Path
from typing import Any


class Channel:
    """Messages of the training and the answers to them, and nothing else.

    What libraries print belongs into the log, and what they ask nobody is there to tell.
    """

    def __init__(self) -> None:
        self.messages = os.fdopen(os.dup(0), encoding="utf-8")
        self._answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)

    def answer(self, **values: Any) -> None:
        """One line to the training."""
        self._answers.write(json.dumps(values) + "\n")
        self._answers.flush()


class Events:
    """An event file; written without the library's TensorFlow parts."""

    def __init__(self, message: dict[str, Any]) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._event, self._summary = event_pb2, summary_pb2
        self._writer = EventFileWriter(message["dir"])
        if message["first_step"]:  # a run that goes on: later steps of the earlier file are void
            session = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            self._add(message["first_step"], session_log=session)
        self._text("settings", json.dumps(message["config"], indent=1))

    def log(self, message: dict[str, Any]) -> None:
        """One message; bundles stay where they are."""
        step = message["step"]
        for name, value in message.get("values", {}).items():
            self._add(step, self._summary.Summary.Value(tag=name, simple_value=value))
        if "picture" in message:
            png = Path(message["path"]).read_bytes()
            width, height = struct.unpack(">II", png[16:24])
            image = self._summary.Summary.Image(
                height=height, width=width, colorspace=4, encoded_image_string=png
            )
            name = f"pictures/{message['picture']}"
            self._add(step, self._summary.Summary.Value(tag=name, image=image))

    def close(self) -> None:
        """Everything is on disk."""
        self._writer.close()

    def _text(self, name: str, text: str) -> None:
        from tensorboard.plugins.text.summary_v2 import text_pb

        summary = text_pb(name, "    " + text.replace("\n", "\n    "))
        self._writer.add_event(self._event.Event(wall_time=time.time(), summary=summary))

    def _add(self, step: int, value: Any = None, **fields: Any) -> None:
        if value is not None:
            fields["summary"] = self._summary.Summary(value=[value])
        self._writer.add_event(self._event.Event(wall_time=time.time(), step=step, **fields))


def main() -> None:
    """Serve one run."""
    channel = Channel()
    try:
        from tensorboard.summary.writer import event_file_writer  # noqa: F401
    except ImportError as error:
        channel.answer(error=f"{error}; install it with: pip install 'motionpred[tensorboard]'")
        return
    channel.answer(ready=True)
    events: Events | None = None
    for line in channel.messages:
        message = json.loads(line)
        try:
            if events is None:
                events = Events(message)
                channel.answer(folder=message["dir"])
            elif "end" in message:
                events.close()
                channel.answer(end=True)
                return
            else:
                events.log(message)
                channel.answer(done=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, the training hears of it
            channel.answer(error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
