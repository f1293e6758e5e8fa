"""From the settings to a logger of the run, or to none."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from motionpred.training.loggers.config import LoggerConfig
from motionpred.training.loggers.guard import GuardedLog

_HERE = Path(__file__).parent
_IDENTITY = "logger.json"  # the id under which a run is known, also when it goes on


def start_log(
    config: LoggerConfig, folder: Path, settings: Mapping[str, Any], *, first_step: int
) -> GuardedLog | None:
    """The logger of the run in ``folder``, starting; None where ``metrics.csv`` is all.

    ``settings`` are plain values. ``first_step`` is above 0 where a run goes on.
    """
    if config.name == "csv":
        return None
    log_file = folder / f"{config.name}.log"
    if config.name == "tensorboard":
        start = {
            "dir": str(folder / "tensorboard"),
            "config": dict(settings),
            "first_step": first_step,
        }
        return GuardedLog("tensorboard", _HERE / "tensorboard_process.py", [start], log_file)
    start = {
        "project": config.project,
        "id": _identity(folder),
        "name": folder.name,
        "dir": str(folder),
        "config": dict(settings),
        "tags": list(config.tags),
        "limit": 3.5,  # seconds, below what the training waits for
    }
    # Without a network the run is kept here all the same, for a later upload.
    modes = ["online", "offline"] if config.mode == "online" else ["offline"]
    starts = [{**start, "mode": mode} for mode in modes]
    return GuardedLog("wandb", _HERE / "wandb_process.py", starts, log_file)


def _identity(folder: Path) -> str:
    path = folder / _IDENTITY
    if path.is_file():
        return str(json.loads(path.read_text(encoding="utf-8"))["id"])
    name = uuid.uuid4().hex[:12]
    path.write_text(json.dumps({"id": name}) + "\n", encoding="utf-8")
    return name
