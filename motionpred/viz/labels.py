"""Names beside the agents, placed where they cover neither a line nor one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.text import Text

from motionpred.scene import Role
from motionpred.scene.default_sizes import size_or_default
from motionpred.viz import style
from motionpred.viz.agent_layer import RING_GAP, is_round, outlines
from motionpred.viz.contents import Contents, ShownForecast
from motionpred.viz.forecast_layer import STAYED, future_paths
from motionpred.viz.style import Theme
from motionpred.viz.window import Window

Array = npt.NDArray[Any]

GAP = 3.0  # points between an agent and its name
LETTER = 0.62  # width of a letter, as a share of the font size
LINE = 1.15  # height of a line, likewise
_AROUND = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)], float)
TINY_FONT = 6.0
END_REACH = 2.5  # points from the end of a future to its probability
CELL = 1.5  # points: what is nearer together counts once when places are compared
_REACH = (1.0, 1.8, 3.0)  # distances that are tried, nearest first


class Placement:
    """Rectangles that are taken, and points that had better stay free."""

    def __init__(self, window: Window, crowd: Array) -> None:
        self.window = window
        self.crowd = crowd  # [n, 2] metres
        self.taken: list[tuple[float, float, float, float]] = []

    def place(self, text: str, at: Array, reach: Array, font: float) -> Array | None:
        """Centre of the best free place for ``text`` beside ``at``, or None where all are taken.

        ``reach`` ``[2]`` is the distance in metres, along x and y, from ``at`` to the edge of what
        is labelled.
        """
        half = np.array([len(text) * LETTER, LINE]) * self.window.metres(font) / 2
        best: Array | None = None
        least = np.inf
        for step in _REACH:
            offset = _AROUND * (half + reach + step * self.window.metres(GAP))
            # Corner places may move in: the diagonal is longer than the side.
            offset[4:] *= 0.85
            for center in at + offset:
                low, high = center - half, center + half
                if self._blocked(low, high):
                    continue
                covered = ((self.crowd > low) & (self.crowd < high)).all(axis=1).sum()
                cost = float(covered) + 0.5 * step
                if cost < least:
                    best, least = center, cost
        if best is not None:
            self.taken.append((*(best - half), *(best + half)))
        return best

    def _blocked(self, low: Array, high: Array) -> bool:
        if not self.window.contains(np.stack([low, high])).all():
            return True
        return any(
            low[0] < x2 and high[0] > x1 and low[1] < y2 and high[1] > y1
            for x1, y1, x2, y2 in self.taken
        )


def draw_labels(
    ax: Axes, contents: Contents, window: Window, theme: Theme, *, truth: bool
) -> dict[int, Text]:
    """The track ids of targets, ``ego``, and the probabilities of one marginal forecast.

    What finds no free place is left out. The probabilities of a joint forecast are those of the
    whole scene: they stand in the legend. Returns the names, by index of their agent.
    """
    scene = contents.scene
    sizes, _ = size_or_default(scene.tracks, scene.now)
    shapes = outlines(scene, sizes, is_round(scene), window)
    placement = Placement(window, _crowd(contents, shapes, window, truth=truth))
    names = _draw_names(ax, contents, shapes, placement, theme)
    if len(contents.forecasts) == 1 and not contents.forecasts[0].prediction.joint:
        _draw_probabilities(ax, contents, contents.forecasts[0], placement, theme)
    return names


def _draw_names(
    ax: Axes, contents: Contents, shapes: list[Array], placement: Placement, theme: Theme
) -> dict[int, Text]:
    scene, window = contents.scene, placement.window
    tracks = scene.tracks
    ego, focal = (tracks.roles & Role.EGO) != 0, (tracks.roles & Role.FOCAL) != 0
    position = tracks.position[:, scene.now, :2]
    named = contents.at_now & (contents.target | ego) & window.contains(position)
    order = np.lexsort((np.arange(len(tracks)), ~ego, ~focal))
    names = {}
    for agent in order[named[order]]:
        text = "ego" if ego[agent] else str(tracks.track_id[agent])
        reach = np.abs(shapes[agent] - position[agent]).max(axis=0)
        reach = reach + (window.metres(RING_GAP) if focal[agent] else 0.0)
        at = placement.place(text, position[agent], reach, style.SMALL_FONT)
        if at is not None:
            weight = "bold" if focal[agent] or ego[agent] else "normal"
            name = _write(ax, at, text, theme.text, theme, weight=weight, gid="track id")
            names[int(agent)] = name
    return names


def _draw_probabilities(
    ax: Axes, contents: Contents, forecast: ShownForecast, placement: Placement, theme: Theme
) -> None:
    """At the end of each agent's most probable future, and of every future of the focal agent."""
    scene, window = contents.scene, placement.window
    focal = (scene.tracks.roles[forecast.agent] & Role.FOCAL) != 0
    start = scene.tracks.position[forecast.agent, scene.now, :2]
    end = forecast.prediction.position[:, :, -1]  # [K, N, 2]
    reach = np.full(2, window.metres(END_REACH))
    for n, probability in enumerate(forecast.probability):
        ranked = [k for k in np.argsort(-probability, kind="stable") if k in forecast.shown_modes]
        for k in ranked if focal[n] else ranked[:1]:
            if np.hypot(*(end[k, n] - start[n])) <= STAYED or not window.contains(end[k, n]):
                continue
            text = f"{probability[k]:.2f}"
            at = placement.place(text, end[k, n], reach, TINY_FONT)
            if at is not None:
                color = theme.forecasts[0]
                _write(ax, at, text, color, theme, size=TINY_FONT, gid="probability")


def _write(
    ax: Axes,
    at: Array,
    text: str,
    color: str,
    theme: Theme,
    *,
    gid: str,
    size: float = style.SMALL_FONT,
    weight: str = "normal",
) -> Text:
    halo = withStroke(linewidth=1.8, foreground=theme.halo, alpha=0.85)
    return ax.text(
        float(at[0]),
        float(at[1]),
        text,
        fontsize=size,
        fontweight=weight,
        color=color,
        ha="center",
        va="center",
        zorder=style.Z_LABEL,
        clip_on=True,
        gid=gid,
        path_effects=[halo],
    )


def _crowd(contents: Contents, shapes: list[Array], window: Window, *, truth: bool) -> Array:
    """Points ``[n, 2]`` of everything that a name should not cover."""
    scene, tracks = contents.scene, contents.scene.tracks
    parts = []
    for agent in np.flatnonzero(
        contents.at_now & window.contains(tracks.position[:, scene.now, :2])
    ):
        shape, center = shapes[agent], tracks.position[agent, scene.now, :2]
        rim = _dense(np.concatenate([shape, shape[:1]]))
        parts += [rim, center + 0.6 * (rim - center), center + 0.2 * (rim - center)]
    stop = contents.truth_steps.stop if truth else scene.now + 1
    for agent in np.flatnonzero(contents.target):
        parts.append(_dense(tracks.position[agent, :stop, :2][tracks.valid[agent, :stop]]))
    for forecast in contents.forecasts:
        paths = future_paths(contents, forecast)
        parts += [_dense(line) for k in forecast.shown_modes for line in paths[k]]
    points = np.concatenate([*parts, np.zeros((0, 2))])
    points = points[window.contains(points)]
    # One point per cell of the page is enough, and bounds the search.
    column, row = np.floor((points - window.limits[::2]) / window.metres(CELL)).astype(np.int64).T
    _, kept = np.unique((column << 32) + row, return_index=True)
    return np.asarray(points[kept])


def _dense(line: Array) -> Array:
    """The line's points and three between each two: a short name fits between sparse ones."""
    share = np.array([0.0, 0.25, 0.5, 0.75])[:, None, None]
    between = line[:-1] + share * (line[1:] - line[:-1])
    return np.concatenate([between.reshape(-1, 2), line[-1:]])
