"""The folder of one training: made once, never shared by two runs, and what is written into it."""

from __future__ import annotations

import csv
import json
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from motionpred import __version__
from motionpred.settings import to_mapping
from motionpred.training.config import TrainConfig

CONFIG, ENVIRONMENT, METRICS, SUMMARY = "config.yaml", "environment.json", "metrics.csv", "run.json"
SCENES, PICTURES, RESUMES, LOCK = "scenes.csv", "pictures", "resumes.jsonl", ".lock"
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
    _write_config(folder, config)
    write_json(folder / ENVIRONMENT, environment(config))


def _write_config(folder: Path, config: TrainConfig) -> None:
    import yaml

    # Paths are made absolute: a run may be gone on with from another folder.
    stores = [str(path) for path in config.store_paths]
    val_stores = [str(path) for path in config.val_store_paths]
    resolved = replace(
        config,
        store=stores[0] if len(stores) == 1 else stores,
        val_store=val_stores[0] if len(val_stores) == 1 else val_stores or None,
        out=str(Path(config.out).expanduser().absolute()),
        resume=None,
        reschedule=False,
    )
    text = yaml.safe_dump(to_mapping(resolved), sort_keys=False, allow_unicode=True)
    part = folder / f"{CONFIG}.part"
    part.write_text(text, encoding="utf-8")
    part.replace(folder / CONFIG)


def go_on(folder: Path, config: TrainConfig, step: int) -> None:
    """Make the folder what it was at ``step``, from which the run goes on with ``config``."""
    for name in (METRICS, SCENES):
        _cut(folder / name, step)
    for name in (BEST, LAST):
        _mend_bundle(folder, name)
    _write_config(folder, config)
    line = {"step": step, **environment(config)}
    with (folder / RESUMES).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _cut(path: Path, step: int) -> None:
    """Take away rows of later steps, and what is left of a row that was being written."""
    if not path.exists():
        return
    header, *rows = path.read_text(encoding="utf-8").splitlines(keepends=True) or [""]
    if not header.endswith("\n"):
        path.unlink()
        return
    kept = [row for row in rows if row.endswith("\n") and int(row.split(",", 1)[0]) <= step]
    part = path.with_name(path.name + ".part")
    part.write_text("".join([header, *kept]), encoding="utf-8")
    part.replace(path)


def _mend_bundle(folder: Path, name: str) -> None:
    """A bundle that was being replaced when the run was killed: the one before is put back."""
    for left in sorted(folder.glob(f".{name}.*.old")):
        if not (folder / name).exists():
            left.replace(folder / name)
    for left in [*folder.glob(f".{name}.*.old"), *folder.glob(f".{name}.*.tmp")]:
        shutil.rmtree(left)


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
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def append_metrics(path: Path, step: int, values: Mapping[str, float]) -> None:
    """Rows ``step,metric,value``: appended, so that an interrupted run keeps what it wrote."""
    rows = [(step, name, repr(float(value))) for name, value in values.items()]
    _append(path, ("step", "metric", "value"), rows)


def append_scenes(path: Path, step: int, epoch: int, scene_ids: Sequence[str]) -> None:
    """Rows ``step,epoch,scene_id``: what a step saw."""
    rows = [(step, epoch, scene_id) for scene_id in scene_ids]
    _append(path, ("step", "epoch", "scene_id"), rows)


def _append(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    fresh = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(header)
        writer.writerows(rows)
