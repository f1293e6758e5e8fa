"""The pictures that users ask for: one scene, one scene under several models, a PNG file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from motionpred.errors import ConfigError
from motionpred.prediction import Prediction
from motionpred.scene import Scene
from motionpred.viz import frame, style
from motionpred.viz.agent_layer import draw_agents, draw_history
from motionpred.viz.contents import Contents, contents_of, find_forecast
from motionpred.viz.forecast_layer import draw_forecasts, draw_truth
from motionpred.viz.labels import draw_labels
from motionpred.viz.map_layer import draw_map
from motionpred.viz.panels import (
    Draw,
    Groups,
    one_panel,
    panel_grid,
    surround,
    usual_columns,
)
from motionpred.viz.signal_layer import draw_signals
from motionpred.viz.style import Theme
from motionpred.viz.whole_file import whole_file
from motionpred.viz.window import Window, window_of

# A forecast, the file that holds it, or several.
Forecasts: TypeAlias = (
    Prediction
    | str
    | Path
    | Sequence[Prediction | str | Path]
    | Mapping[str, Prediction | str | Path]
    | None
)


def plot(
    scene: Scene,
    forecast: Forecasts = None,
    *,
    agents: str | Sequence[str] = "scored",
    mode: int | None = None,
    center: tuple[float, float] | str | None = None,
    radius: float | None = None,
    history: bool = True,
    truth: bool = True,
    legend: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
    theme: str | Theme = "light",
) -> Figure:
    """Draw a scene, and the futures that one or more forecasts give its agents.

    Args:
        scene: the scene; the picture shows it at ``now``.
        forecast: a Prediction, a forecast file that holds one of this scene, a list of either, or
            a mapping from names to them.
        agents: whose history, truth and futures are drawn: ``"scored"`` (those of the benchmark;
            every forecast agent where there is none), ``"all"`` or track ids.
        mode: draw only this mode (0 is the first).
        center: the middle of the window, a point ``(x, y)`` of the world or a track id; around the
            targets and their futures if not given.
        radius: half the smaller side of the window in metres; as much as needed if not given.
        history: draw past positions.
        truth: draw the recorded future of the targets, as far as the longest forecast goes.
        legend: explain the signs below the axes.
        title: replaces the scene id.
        ax: draw into these axes instead of a figure of its own.
        theme: ``"light"``, ``"dark"`` or a :class:`~motionpred.viz.Theme`.

    Raises:
        SceneError: a forecast is of another scene or of a track that the scene does not have.
        StoreError: a forecast file cannot be read or holds none of this scene.
        ConfigError: an unknown theme, mode, track or choice of agents.
    """
    look = style.theme_of(theme)
    contents = contents_of(scene, named_forecasts(scene, forecast), agents, mode)
    window = window_of(contents, center, radius, truth=truth)
    draw = _layers(look, history=history, truth=truth)
    if ax is None:
        return one_panel(contents, window, draw, look, legend=legend, title=title)
    root = ax.get_figure(root=True)
    assert root is not None
    place, size = ax.get_position(), root.get_size_inches()
    width, height = float(place.width * size[0]), float(place.height * size[1])
    groups = draw(ax, contents, window.fit(width, height))
    surround(ax, contents, groups, width, look, legend=legend, title=title)
    return root


def plot_grid(
    scene: Scene,
    forecasts: Mapping[str, Prediction | str | Path],
    *,
    columns: int | None = None,
    agents: str | Sequence[str] = "scored",
    mode: int | None = None,
    center: tuple[float, float] | str | None = None,
    radius: float | None = None,
    history: bool = True,
    truth: bool = True,
    title: str | None = None,
    theme: str | Theme = "light",
) -> Figure:
    """The same scene in the same window under several models, side by side; options as in plot.

    ``columns`` is 2 for two or four forecasts and 3 for more, if not given. The modes of joint
    forecasts have the same colours in every panel, and their probabilities stand above it.

    Raises:
        ConfigError: no forecast is given, ``columns`` is below 1, or as in :func:`plot`.
        SceneError: as in :func:`plot`.
        StoreError: as in :func:`plot`.
    """
    if columns is None:
        columns = usual_columns(len(forecasts))
    if not forecasts or columns < 1:
        field = "forecasts" if not forecasts else "columns"
        raise ConfigError("nothing to draw", field=field, remedy="Give at least one")
    look = style.theme_of(theme)
    contents = contents_of(scene, named_forecasts(scene, forecasts), agents, mode)
    window = window_of(contents, center, radius, truth=truth)
    draw = _layers(look, history=history, truth=truth, probabilities=False)
    return panel_grid(contents, window, draw, look, columns=columns, title=title)


def save_png(
    scene: Scene, forecast: Forecasts, path: str | Path, *, dpi: int = 160, **options: Any
) -> Path:
    """Write the picture of :func:`plot` (same options) to a PNG file, complete or not at all."""
    return save_picture(plot(scene, forecast, **options), path, dpi=dpi)


def save_picture(picture: Figure, path: str | Path, *, dpi: int = 160) -> Path:
    """Write a picture to a PNG file, complete or not at all, and clear it."""
    path = Path(path)
    try:
        with whole_file(path) as part:
            picture.savefig(part, format="png", dpi=dpi)
    finally:
        picture.clear()  # breaks the cycles between artists, so that memory goes at once
    return path


def named_forecasts(scene: Scene, forecast: Forecasts) -> list[tuple[str, Prediction]]:
    """Forecasts with the names that a legend shows: as given, the source, or a number."""
    if forecast is None:
        return []
    if isinstance(forecast, Mapping):
        return [(name, _opened(scene, item)) for name, item in forecast.items()]
    items = [forecast] if isinstance(forecast, (Prediction, str, Path)) else list(forecast)
    opened = [_opened(scene, item) for item in items]
    names = [
        p.source or (f"forecast {i + 1}" if len(opened) > 1 else "forecast")
        for i, p in enumerate(opened)
    ]
    repeated = {name for name in names if names.count(name) > 1}
    return [
        (f"{name} ({i + 1})" if name in repeated else name, prediction)
        for i, (name, prediction) in enumerate(zip(names, opened, strict=True))
    ]


def _opened(scene: Scene, item: Prediction | str | Path) -> Prediction:
    return item if isinstance(item, Prediction) else find_forecast(Path(item), scene.scene_id)


def _layers(theme: Theme, *, history: bool, truth: bool, probabilities: bool = True) -> Draw:
    """Draws all layers of one axes; gives the legend entries: of the scene, and of the futures."""

    def draw(ax: Axes, contents: Contents, window: Window) -> Groups:
        frame.set_frame(ax, window, theme)
        road = draw_map(ax, contents.scene.map, window, theme)
        road += draw_signals(ax, contents.scene, window, theme)
        past = draw_history(ax, contents, window, theme) if history else []
        traffic = draw_agents(ax, contents, window, theme)
        futures = draw_forecasts(ax, contents, theme, probabilities=probabilities)
        recorded = draw_truth(ax, contents, window, theme) if truth else []
        draw_labels(ax, contents, window, theme, truth=truth)
        frame.draw_scale_bar(ax, window, theme)
        return [*traffic, *past, *road], [*recorded, *futures]

    return draw
