"""``motionpred render``: pictures of scenes and forecasts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionpred.cli import options
from motionpred.cli.console import counted, say, then, wrote
from motionpred.cli.forecaster import Forecaster
from motionpred.errors import ConfigError, SceneError, StoreError

if TYPE_CHECKING:
    from motionpred.prediction import Prediction
    from motionpred.scene import Scene

NAME = "render"
_LONGEST_NAME = 200  # bytes, of the 255 that file systems allow


def command(
    source: Annotated[Path, typer.Argument(metavar="STORE|RAW", help="Scenes to draw.")],
    forecaster: Annotated[
        str | None,
        typer.Argument(
            metavar="[FORECASTS|MODEL]", help="A forecast file, a bundle or a baseline's name."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="A .png file for one scene, or a folder for one file a scene.")
    ] = Path("scene.png"),
    agents: options.Agents = "scored",
    modes: Annotated[int, typer.Option(min=1, help="Futures to draw.")] = 6,
    seed: Annotated[int, typer.Option(help="Seed of the forecast.")] = 0,
    device: options.Device = "auto",
    dataset: options.Dataset = None,
    split: options.Split = None,
    ids: options.Ids = None,
    limit: options.Limit = None,
    filter: options.Filter = None,
) -> None:
    """Draw scenes: map, boxes, history, futures by probability, truth."""
    from motionpred.viz import save_png

    single = bool(out.suffix)
    if single and (out.suffix.lower() != ".png" or out.is_dir()):
        raise ConfigError(f"is {out}", field="--out", remedy="Name a .png file, or a folder")
    reading = options.Reading(source, dataset, split, ids, limit, filter)
    model = None
    if forecaster is not None:
        # One scene a batch: the first picture should not wait for fifteen others.
        model = Forecaster(
            forecaster, modes=modes, agents=agents, seed=seed, batch_size=1, device=device
        )
    drawn: list[Path] = []
    pairs = _pairs(model, reading, modes)
    for scene, prediction in _only(pairs) if single else pairs:
        path = out if single else out / f"{_file_name(scene.scene_id)}.png"
        try:
            save_png(scene, prediction, path, agents=agents)
        except SceneError as error:
            reading.errors.append(error)
        else:
            drawn.append(path)
    if not drawn:
        raise reading.nothing("draw")
    for path in drawn[:10]:
        wrote(path)
    if len(drawn) > 10:
        say(f"... and {len(drawn) - 10} more in {out}")
    if forecaster is None:
        then("render", source, "constant-velocity", "--limit", 1, "--out", drawn[0])
    reading.finish()


def _only(
    pairs: Iterator[tuple[Scene, Prediction | None]],
) -> list[tuple[Scene, Prediction | None]]:
    """The one scene that a single file is for, before anything is drawn."""
    found = list(islice(pairs, 2))
    if len(found) > 1:
        raise ConfigError(
            "there is more than one scene for one file",
            field="--out",
            remedy="Add --limit 1 or --ids ID, or name a folder",
        )
    return found


def _pairs(
    model: Forecaster | None, reading: options.Reading, modes: int
) -> Iterator[tuple[Scene, Prediction | None]]:
    scenes: Iterable[Scene] = counted(reading, "render")
    if model is None:
        for scene in scenes:
            yield scene, None
        return
    for scene, prediction in model.pairs(scenes):
        if prediction is None:
            missing = "has no forecast of this scene"
            reading.errors.append(StoreError(missing, file=model.name, scene=scene.scene_id))
        else:
            yield scene, prediction.top(modes)


def _file_name(scene_id: str) -> str:
    """The id with everything but letters, digits, dot, dash, underscore and @ replaced.

    What was changed for that, or cut, gets a digest, so that no two scenes have the same file.
    """
    safe = "".join(c if c.isalnum() or c in ".-_@" else "_" for c in scene_id).lstrip(".")
    safe = safe.encode()[:_LONGEST_NAME].decode(errors="ignore") or "scene"
    if safe == scene_id:
        return safe
    return f"{safe}-{hashlib.sha256(scene_id.encode(errors='replace')).hexdigest()[:8]}"
