"""``motionpred render``: pictures and animations of scenes and forecasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

_MOVING = (".gif", ".mp4")


def command(
    source: Annotated[Path, typer.Argument(metavar="STORE|RAW", help="Scenes to draw.")],
    forecaster: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FORECASTS|MODEL]...",
            help="Forecast files, bundles or baselines' names; several are drawn side by side.",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            help="A .png, .gif or .mp4 file for one scene, or a folder for one .png file a scene."
        ),
    ] = Path("scene.png"),
    agents: options.Agents = "scored",
    modes: Annotated[int, typer.Option(min=1, help="Futures to draw.")] = 6,
    seed: Annotated[int, typer.Option(help="Seed of the forecast.")] = 0,
    fps: Annotated[float, typer.Option(help="Frames a second of an animation.")] = 10.0,
    speed: Annotated[float, typer.Option(help="Seconds of the scene a second of it.")] = 1.0,
    dataset: options.Dataset = None,
    split: options.Split = None,
    ids: options.Ids = None,
    limit: options.Limit = None,
    filter: options.Filter = None,
) -> None:
    """Draw scenes: map, boxes, history, futures by probability, truth; still or in motion."""
    single = bool(out.suffix)
    if single and out.suffix.lower() not in (".png", *_MOVING):
        raise ConfigError(
            f"is {out}", field="--out", remedy="Name a .png, .gif or .mp4 file, or a folder"
        )
    write = _writer(out, agents, fps, speed)
    forecasts = _forecasters(forecaster or [], agents, modes, seed)
    drawn: list[Path] = []
    for scene in counted(options.read(source, dataset, split, ids, limit, filter), "render"):
        if single and drawn:
            raise ConfigError(
                "there is more than one scene for one file",
                field="--out",
                remedy="Add --limit 1 or --ids ID, or name a folder",
            )
        path = out if single else out / f"{_file_name(scene.scene_id)}.png"
        write(scene, {name: forecast(scene) for name, forecast in forecasts.items()}, path)
        drawn.append(path)
    if not drawn:
        raise StoreError("has no scene to draw", file=source)
    for path in drawn[:10]:
        wrote(path)
    if len(drawn) > 10:
        say(f"... and {len(drawn) - 10} more in {out}")
    if not forecaster:
        then(f"motionpred render {source} constant-velocity --limit 1 --out {drawn[0]}")
    elif out.suffix.lower() not in _MOVING:
        named = " ".join(forecaster)
        then(f"motionpred render {source} {named} --limit 1 --out {drawn[0].with_suffix('.gif')}")


def _writer(
    out: Path, agents: Literal["scored", "all"], fps: float, speed: float
) -> Callable[[Scene, Mapping[str, Prediction], Path], None]:
    """Draws one scene into a file, as the name of ``--out`` asks for."""
    if out.suffix.lower() in _MOVING:
        from motionpred.viz import animate
        from motionpred.viz.movie_files import check_format

        check_format(out)  # before any model is loaded

        def move(scene: Scene, forecasts: Mapping[str, Prediction], path: Path) -> None:
            shown = forecasts if len(forecasts) > 1 else list(forecasts.values())
            animate(scene, shown, path, fps=fps, speed=speed, agents=agents)

        return move

    from motionpred.viz import plot, plot_grid
    from motionpred.viz.picture import save_picture

    def draw(scene: Scene, forecasts: Mapping[str, Prediction], path: Path) -> None:
        if len(forecasts) > 1:
            picture = plot_grid(scene, forecasts, agents=agents)
        else:
            picture = plot(scene, list(forecasts.values()), agents=agents)
        save_picture(picture, path)

    return draw


def _forecasters(
    names: list[str], agents: Literal["scored", "all"], modes: int, seed: int
) -> dict[str, Callable[[Scene], Prediction]]:
    """What forecasts a scene, by the name that stands above its panel."""
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{name} is named twice", field="[FORECASTS|MODEL]...")
    titles = {name: _title(name) for name in names}
    shown = list(titles.values())
    return {
        title if shown.count(title) == 1 else name: _forecaster(name, agents, modes, seed)
        for name, title in titles.items()
    }


def _title(name: str) -> str:
    """What tells a file or a bundle from others; the bundles of all runs have the same name."""
    path = Path(name)
    return path.stem if path.suffix == ".parquet" else "/".join(path.parts[-2:])


def _forecaster(
    name: str, agents: Literal["scored", "all"], modes: int, seed: int
) -> Callable[[Scene], Prediction]:
    from motionpred.prediction import is_forecast_file, load_predictions

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
