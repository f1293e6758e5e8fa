"""The pictures that users ask for: one scene, one scene under several models, a PNG file."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from motionpred.errors import ConfigError
from motionpred.files import replacing
from motionpred.prediction import Prediction
from motionpred.scene import Scene
from motionpred.viz import frame, style
from motionpred.viz.agent_layer import draw_agents, draw_history
from motionpred.viz.contents import Contents, contents_of, find_forecast
from motionpred.viz.forecast_layer import draw_forecasts, draw_truth
from motionpred.viz.labels import draw_labels
from motionpred.viz.map_layer import draw_map, draw_signals
from motionpred.viz.style import Theme
from motionpred.viz.window import POINTS_PER_INCH, Window, window_of

# A forecast, the file that holds it, or several.
Forecasts: TypeAlias = (
    Prediction
    | str
    | Path
    | Sequence[Prediction | str | Path]
    | Mapping[str, Prediction | str | Path]
    | None
)

WIDTH = 7.6  # inches, of the axes of a picture
PANEL = 4.4  # inches, of each panel of a grid
PAD = 0.12  # inches around the axes
FLATTEST, TALLEST = 1.7, 0.85  # width over height of the axes
SCREEN_DPI = 110


class Picture(Figure):
    """A figure that shows itself in a notebook; it belongs to no window and leaks nothing."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=SCREEN_DPI)
        return buffer.getvalue()


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
    heading = frame.heading_lines(contents)
    lines = (heading[0] if title is None else title, heading[1])
    if ax is not None:
        root = ax.get_figure(root=True)
        assert root is not None
        place = ax.get_position()
        size = root.get_size_inches()
        width, height = float(place.width * size[0]), float(place.height * size[1])
        groups = _draw(ax, contents, window.fit(width, height), look, history, truth)
        frame.draw_title(ax, *lines, look)
        rows = frame.legend_rows(groups if legend else (), width * POINTS_PER_INCH)
        frame.draw_legend(ax, rows, look)
        return root
    width, height = WIDTH, WIDTH / min(max(window.aspect, TALLEST), FLATTEST)
    picture = Picture(facecolor=look.background)
    axes = picture.add_axes((0.0, 0.0, 1.0, 1.0))
    groups = _draw(axes, contents, window.fit(width, height), look, history, truth)
    rows = frame.legend_rows(groups if legend else (), width * POINTS_PER_INCH)
    frame.draw_title(axes, *lines, look)
    frame.draw_legend(axes, rows, look)
    below = frame.legend_height(rows) / POINTS_PER_INCH or PAD
    _lay_out(picture, [axes], 1, width, height, frame.TITLE_HEIGHT / POINTS_PER_INCH, below)
    return picture


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
        columns = 2 if len(forecasts) == 4 else 3
    if not forecasts or columns < 1:
        field = "forecasts" if not forecasts else "columns"
        raise ConfigError("nothing to draw", field=field, remedy="Give at least one")
    look = style.theme_of(theme)
    named = named_forecasts(scene, forecasts)
    together = contents_of(scene, named, agents, mode)
    window = window_of(together, center, radius, truth=truth)
    width, height = PANEL, PANEL / min(max(window.aspect, TALLEST), FLATTEST)
    window = window.fit(width, height)
    picture = Picture(facecolor=look.background)
    columns = min(columns, len(named))
    panels: list[Axes] = []
    shared: list[dict[str, Artist]] = [{}, {}]
    for shown in together.forecasts:
        ax = picture.add_axes((0.0, 0.0, 1.0, 1.0), label=shown.name)
        alone = Contents(scene, together.target, (shown,))
        groups = _draw(ax, alone, window, look, history, truth, probabilities=False)
        facts = frame.describe(shown).removeprefix(f"{shown.name}, ")
        frame.draw_title(ax, shown.name, facts + frame.probability_list(shown), look)
        for known, entries in zip(shared, groups, strict=True):
            known.update({str(entry.get_label()): entry for entry in entries})
        panels.append(ax)
    across = columns * (width + PAD) - PAD
    rows = frame.legend_rows([list(known.values()) for known in shared], across * POINTS_PER_INCH)
    above = (frame.TITLE_HEIGHT + 24.0) / POINTS_PER_INCH
    below = frame.legend_height(rows) / POINTS_PER_INCH or PAD
    _lay_out(
        picture,
        panels,
        columns,
        width,
        height,
        frame.TITLE_HEIGHT / POINTS_PER_INCH,
        below,
        above=above,
    )
    first_of_last_row = panels[(len(panels) - 1) // columns * columns]
    frame.draw_legend(first_of_last_row, rows, look)
    heading = frame.heading_lines(Contents(scene, together.target, ()))
    total = picture.get_size_inches()
    picture.text(
        PAD / total[0],
        1 - PAD / total[1],
        title or "  ·  ".join(filter(None, heading)),
        fontsize=style.FONT + 1.5,
        color=look.text,
        va="top",
        gid="title",
    )
    return picture


def save_png(
    scene: Scene, forecast: Forecasts, path: str | Path, *, dpi: int = 160, **options: Any
) -> Path:
    """Write the picture of :func:`plot` (same options) to a PNG file, complete or not at all."""
    path = Path(path)
    picture = plot(scene, forecast, **options)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with replacing(path, fsync=False) as part:  # a picture is soon drawn again
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


def _draw(
    ax: Axes,
    contents: Contents,
    window: Window,
    theme: Theme,
    history: bool,
    truth: bool,
    *,
    probabilities: bool = True,
) -> tuple[list[Artist], list[Artist]]:
    """All layers of one axes; returns the legend entries: of the scene, and of the futures."""
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


def _lay_out(
    picture: Figure,
    panels: Sequence[Axes],
    columns: int,
    width: float,
    height: float,
    title: float,
    below: float,
    above: float | None = None,
) -> None:
    """Size the figure so that every panel is ``width`` by ``height`` inches.

    ``title`` inches above each row but the first, which has ``above``; ``below`` under the last.
    """
    rows = -(-len(panels) // columns)
    top = title if above is None else above
    total = (columns * (width + PAD) + PAD, top + rows * height + (rows - 1) * title + below)
    picture.set_size_inches(*total)
    for i, ax in enumerate(panels):
        row, column = divmod(i, columns)
        left = PAD + column * (width + PAD)
        bottom = total[1] - top - height - row * (height + title)
        ax.set_position((left / total[0], bottom / total[1], width / total[0], height / total[1]))
