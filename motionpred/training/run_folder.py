"""The folder of one training: made once, never shared by two runs, and what is written into it."""

from __future__ import annotations

import csv
import json
import platform
import subprocess
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from motionpred import __version__
from motionpred.files import write_atomically
from motionpred.settings import to_mapping
from motionpred.training.config import TrainConfig

CONFIG, ENVIRONMENT, METRICS, SUMMARY = "config.yaml", "environment.json", "metrics.csv", "run.json"
BEST, LAST = "best", "last"  # bundles


def make_run_folder(out: Path, name: str) -> Path:
    """A new folder ``<out>/<date>-<time>-<name>``; a second run of the same second gets ``-2``."""
    out.mkdir(parents=True, exist_ok=True)
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{name}"
    number = 1
    while True:
        folder = out / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def write_settings(folder: Path, config: TrainConfig) -> None:
    """The resolved settings, and the state of the code that used them."""
    import yaml

    text = yaml.safe_dump(to_mapping(config), sort_keys=False, allow_unicode=True)
    (folder / CONFIG).write_text(text, encoding="utf-8")
    write_json(folder / ENVIRONMENT, environment(config))


def environment(config: TrainConfig) -> dict[str, Any]:
    """Versions, the commit of the code, and the seed."""

    return {
        "motionpred": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "pytorch-lightning", "numpy")},
        "git": git_state(),
        "seed": config.trainer.seed,
    }


def git_state() -> dict[str, Any] | None:
    """Commit of this code and whether files differ from it; None where it is not a checkout."""
    here = Path(__file__).resolve()

    def ask(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(here.parent), *words],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
        return done.stdout.strip()

    try:
        # Installed into somebody's project, the package lies in a repository that is not its own.
        ask("ls-files", "--error-unmatch", here.name)
        return {"commit": ask("rev-parse", "HEAD"), "changed": bool(ask("status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return None


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file that is never half there."""
    text = json.dumps(values, indent=1, ensure_ascii=False)
    write_atomically(path, f"{text}\n".encode())


def append_metrics(path: Path, step: int, values: Mapping[str, float]) -> None:
    """Rows ``step,metric,value``: appended, so that an interrupted run keeps what it wrote."""
    fresh = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if fresh:
            writer.writerow(("step", "metric", "value"))
        writer.writerows((step, name, repr(float(value))) for name, value in values.items())
