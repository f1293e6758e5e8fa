"""``motionpred render``: pictures of scenes and forecasts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from motionpred.cli import options
from motionpred.cli.console import counted, say, then, wrote
from motionpred.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from motionpred.prediction import Prediction
    from motionpred.scene import Scene

NAME = "render"


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
    dataset: options.Dataset = None,
    split: options.Split = None,
    ids: options.Ids = None,
    limit: options.Limit = None,
    filter: options.Filter = None,
) -> None:
    """Draw scenes: map, boxes, history, futures by probability, truth."""
    from motionpred.viz import save_png

    single = bool(out.suffix)
    if single and out.suffix.lower() != ".png":
        raise ConfigError(f"is {out}", field="--out", remedy="Name a .png file, or a folder")
    forecast = _forecaster(forecaster, agents, modes, seed)
    drawn: list[Path] = []
    for scene in counted(options.read(source, dataset, split, ids, limit, filter), "render"):
        if single and drawn:
            raise ConfigError(
                "there is more than one scene for one file",
                field="--out",
                remedy="Add --limit 1 or --ids ID, or name a folder",
            )
        path = out if single else out / f"{_file_name(scene.scene_id)}.png"
        save_png(scene, forecast(scene), path, agents=agents)
        drawn.append(path)
    if not drawn:
        raise StoreError("has no scene to draw", file=source)
    for path in drawn[:10]:
        wrote(path)
    if len(drawn) > 10:
        say(f"... and {len(drawn) - 10} more in {out}")
    if forecaster is None:
        then(f"motionpred render {source} constant-velocity --limit 1 --out {drawn[0]}")


def _forecaster(
    name: str | None, agents: Literal["scored", "all"], modes: int, seed: int
) -> Callable[[Scene], Prediction | None]:
    from motionpred.prediction import is_forecast_file, load_predictions

    if name is None:
        return lambda scene: None
    if is_forecast_file(name):
        known = {item.scene_id: item for item in load_predictions(name)}

        def find(scene: Scene) -> Prediction:
            if scene.scene_id not in known:
                raise StoreError("has no forecast of this scene", file=name, scene=scene.scene_id)
            return known[scene.scene_id].top(modes)

        return find
    from motionpred.inference import load

    predictor = load(name)
    return lambda scene: predictor.predict(scene, modes=modes, agents=agents, seed=seed)


def _file_name(scene_id: str) -> str:
    """The id with everything but letters, digits, dot, dash, underscore and @ replaced."""
    safe = "".join(c if c.isalnum() or c in ".-_@" else "_" for c in scene_id)
    return safe.lstrip(".") or "scene"
