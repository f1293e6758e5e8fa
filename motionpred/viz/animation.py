"""Scenes in motion: GIF and MP4 files, several models side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.text import Text

from motionpred.errors import ConfigError
from motionpred.scene import Scene
from motionpred.viz import frame, style
from motionpred.viz.contents import Contents, contents_of
from motionpred.viz.forecast_layer import draw_forecasts
from motionpred.viz.labels import draw_labels
from motionpred.viz.map_layer import draw_map
from motionpred.viz.moments import Moment, moment_at
from motionpred.viz.movie_files import MOST_FPS, check_format, write_movie
from motionpred.viz.moving_futures import MovingFutures
from motionpred.viz.moving_traffic import MovingAgents, MovingNames, MovingSignals, trails
from motionpred.viz.panels import PAD, Groups, Picture, one_panel, panel_grid, usual_columns
from motionpred.viz.picture import Forecasts, named_forecasts
from motionpred.viz.stage import Stage
from motionpred.viz.style import Theme
from motionpred.viz.window import Window, window_of

Array = npt.NDArray[Any]

PAUSE_AT_NOW, PAUSE_AT_END = 0.6, 1.5  # seconds that these frames stay longer
DPI = 100
WIDEST = 1200  # pixels of frames of many panels, so that files stay small


@dataclass(frozen=True)
class _Script:
    """What is shown when."""

    moments: list[Moment]
    durations: list[float]
    last: int  # step of the scene at which its record ends


def animate(
    scene: Scene,
    forecast: Forecasts,
    path: str | Path,
    *,
    fps: float = 10.0,
    speed: float = 1.0,
    past: float | None = None,
    agents: str | Sequence[str] = "scored",
    mode: int | None = None,
    center: tuple[float, float] | str | None = None,
    radius: float | None = None,
    truth: bool = True,
    columns: int | None = None,
    title: str | None = None,
    theme: str | Theme = "light",
    dpi: int | None = None,
) -> Path:
    """Write a scene in motion to a .gif or .mp4 file, complete or not at all.

    Boxes move along the record and leave a trail. At ``now`` the futures appear; from then on a dot
    runs along each, and an outline shows where the most probable one has its agent. Where there is
    no record after ``now`` the boxes stay, pale. Several forecasts stand side by side.

    Args:
        scene: the scene.
        forecast: as in :func:`motionpred.viz.plot`; several give one panel each.
        path: the file; ``.mp4`` needs the extra ``video``.
        fps: frames a second of the file, at most 50.
        speed: seconds of the scene that go by in a second.
        past: seconds before ``now`` at which to begin; from the first step if not given.
        truth: go on with the record after ``now``.
        columns: panels in a row; 2 for two or four, 3 for more, if not given.
        dpi: pixels an inch (a single scene is 7.6 inches wide, a panel 4.4); 100, or what makes the
            frames 1,200 pixels wide, if not given.
        agents, mode, center, radius, title, theme: as in :func:`motionpred.viz.plot`.

    Raises:
        ConfigError: another kind of file, MP4 without its extra, or an option out of range.
        SceneError: a forecast is of another scene or of a track that the scene does not have.
        StoreError: a forecast file cannot be read or holds none of this scene.
    """
    path = Path(path)
    check_format(path)
    _check(fps=fps, speed=speed, past=past, dpi=dpi, columns=columns)
    look = style.theme_of(theme)
    contents = contents_of(scene, named_forecasts(scene, forecast), agents, mode)
    window = window_of(contents, center, radius, truth=truth)
    script = _script(contents, fps, speed, past, truth=truth)
    panels = _Panels(script, look, single=len(contents.forecasts) < 2)
    if len(contents.forecasts) < 2:
        picture = one_panel(contents, window, panels.draw, look, legend=True, title=title)
    else:
        columns = columns or usual_columns(len(contents.forecasts))
        picture = panel_grid(contents, window, panels.draw, look, columns=columns, title=title)
    try:
        clock = _clock(picture, look)
        usual = min(DPI, int(WIDEST / picture.get_size_inches()[0]))
        stage = Stage(picture, [*panels.artists, clock], dpi=dpi or usual)

        def shown(moment: Moment) -> Array:
            panels.move(moment)
            clock.set_text(f"{moment.seconds:+.1f} s".replace("-", "−"))
            return stage.frame()

        now = min(script.moments, key=lambda moment: abs(moment.seconds))
        samples = [shown(moment) for moment in (script.moments[0], now, script.moments[-1])]
        frames: Iterator[Array] = (shown(moment) for moment in script.moments)
        return write_movie(frames, script.durations, path, fps=fps, samples=samples)
    finally:
        picture.clear()


def _check(
    *, fps: float, speed: float, past: float | None, dpi: int | None, columns: int | None
) -> None:
    if not 0 < fps <= MOST_FPS:
        raise ConfigError(f"is {fps:g}", field="fps", remedy=f"Use a number up to {MOST_FPS}")
    for name, value in (("speed", speed), ("dpi", dpi), ("columns", columns)):
        if value is not None and not value > 0:
            raise ConfigError(f"is {value:g}", field=name, remedy="Use a number above 0")
    if past is not None and not past >= 0:
        raise ConfigError(f"is {past:g}", field="past", remedy="Give seconds, 0 or more")


def _script(
    contents: Contents, fps: float, speed: float, past: float | None, *, truth: bool
) -> _Script:
    """Frames at even times with one at ``now``, up to the longest forecast or the record's end."""
    scene = contents.scene
    last = contents.truth_steps.stop - 1 if truth else scene.now
    clock = scene.time - scene.time[scene.now]
    begin = float(clock[0]) if past is None else max(float(clock[0]), -past)
    end = float(clock[last])
    if np.isfinite(contents.horizon):
        end = max(end, contents.horizon)
    step = speed / fps
    first, final = int(np.ceil(begin / step - 1e-6)), int(np.floor(end / step + 1e-6))
    moments = [moment_at(scene, i * step, last) for i in range(first, final + 1)]
    durations = [1.0 / fps] * len(moments)
    durations[-first] += PAUSE_AT_NOW
    durations[-1] += PAUSE_AT_END
    return _Script(moments, durations, last)


class _Panels:
    """Draws what stands still, and moves the rest in every panel."""

    def __init__(self, script: _Script, theme: Theme, *, single: bool) -> None:
        self._script, self._theme, self._single = script, theme, single
        self._movers: list[Any] = []
        self.artists: list[Artist] = []

    def draw(self, ax: Axes, contents: Contents, window: Window) -> Groups:
        """Fill one panel; gives the legend entries: of the scene, and of the futures."""
        theme, moments = self._theme, self._script.moments
        frame.set_frame(ax, window, theme)
        road = draw_map(ax, contents.scene.map, window, theme)
        still = set(ax.get_children())
        signals = MovingSignals(ax, contents, window, theme)
        left, passed = trails(ax, contents, window, theme, self._script.last)
        traffic = MovingAgents(ax, contents, window, theme)
        before = set(ax.get_children())
        futures = draw_forecasts(ax, contents, theme, probabilities=self._single)
        truth = self._script.last > contents.scene.now
        names = draw_labels(ax, contents, window, theme, truth=truth)
        lines = [a for a in ax.get_children() if a not in before and a not in names.values()]
        moving = MovingFutures(ax, contents, window, theme, lines)
        self._movers += [signals, *left, traffic, moving, MovingNames(contents, window, names)]
        frame.draw_scale_bar(ax, window, theme)
        self.artists += [artist for artist in ax.get_children() if artist not in still]
        scenery = [*traffic.entries(moments), *passed, *road, *signals.entries(moments)]
        return scenery, [*futures, *moving.entries]

    def move(self, moment: Moment) -> None:
        """Show every panel at that time."""
        for mover in self._movers:
            mover.move(moment)


def _clock(picture: Picture, theme: Theme) -> Text:
    """The time before or after ``now``, in the upper right corner."""
    width, height = picture.get_size_inches()
    return picture.text(
        1 - PAD / width,
        1 - PAD / height,
        "",
        fontsize=style.FONT + 1.5,
        fontweight="bold",
        color=theme.text,
        ha="right",
        va="top",
        gid="clock",
    )
