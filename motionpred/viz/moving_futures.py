"""The forecasts of an animation: they appear at ``now``, and marks run along them.

Shapes: K modes, N agents of a forecast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgba_array
from matplotlib.patches import Patch

from motionpred.scene.default_sizes import size_or_default
from motionpred.viz import agent_layer, style
from motionpred.viz.contents import Contents
from motionpred.viz.forecast_layer import MODE_END, STAYED, TOP_END, colors_of
from motionpred.viz.moments import Course, Moment
from motionpred.viz.style import Theme
from motionpred.viz.window import Window

Array = npt.NDArray[Any]

GHOST_WIDTH = 1.5  # points, of the outline where the most probable future has an agent


class MovingFutures:
    """One forecast: lines that are there from ``now``, a dot on each, a box on the most probable.

    ``lines`` are the artists of the still picture, the names of its probabilities among them. A
    future that stays within 2 m has no marks: they would hide the agent.
    """

    def __init__(
        self, ax: Axes, contents: Contents, window: Window, theme: Theme, lines: list[Artist]
    ) -> None:
        self._lines = lines
        self._marks = [
            _Marks(ax, contents, i, window, theme)
            for i, forecast in enumerate(contents.forecasts)
            if forecast.shown_modes and len(forecast.agent)
        ]

    @property
    def artists(self) -> list[Artist]:
        """Everything that appears or moves."""
        return [*self._lines, *(artist for marks in self._marks for artist in marks.artists)]

    @property
    def entries(self) -> list[Artist]:
        """What a legend says about the boxes, if there are any."""
        color = next((marks.color for marks in self._marks if marks.color), None)
        if color is None:
            return []
        label = "most probable"
        return [Patch(facecolor="none", edgecolor=color, lw=GHOST_WIDTH, label=label)]

    def move(self, moment: Moment) -> None:
        """Show the futures from ``now`` on, with the marks where they are by then."""
        begun = moment.seconds > -1e-6
        for artist in self._lines:
            artist.set_visible(begun)
        for marks in self._marks:
            marks.move(moment.seconds if begun else None)


class _Marks:
    def __init__(
        self, ax: Axes, contents: Contents, index: int, window: Window, theme: Theme
    ) -> None:
        forecast = contents.forecasts[index]
        self._window, self._agent = window, forecast.agent
        self._course = Course.of(contents, forecast)
        colors = colors_of(contents, index, theme)
        probability = forecast.probability  # [N, K]
        modes = forecast.shown_modes
        top = np.asarray(modes)[probability[:, modes].argmax(axis=1)]  # [N]
        path = self._course.position
        far = np.linalg.norm(path - path[:, :, :1], axis=-1).max(axis=2) > STAYED  # [K, N]
        # Row by row (mode, agent), the most probable last: on top.
        pairs = [(k, n) for k in modes for n in range(len(self._agent)) if far[k, n]]
        pairs.sort(key=lambda pair: (pair[0] == top[pair[1]], probability[pair[1], pair[0]]))
        self._mode, self._row = np.array(pairs, np.int64).reshape(-1, 2).T
        alpha = style.opacity(probability)[self._row, self._mode]
        self._boxed = np.flatnonzero(far[top, np.arange(len(top))])
        self._top = top[self._boxed]
        zorder = style.Z_TARGET + 0.3
        self._dots: PathCollection = ax.scatter(
            np.zeros(len(pairs)),
            np.zeros(len(pairs)),
            s=np.where(self._mode == top[self._row], TOP_END, MODE_END),
            c=np.column_stack([to_rgba_array(colors)[self._mode, :3], alpha]),
            edgecolors=theme.halo,
            linewidths=0.5,
            zorder=zorder,
            gid="forecast mark",
        )
        self._ghosts = PolyCollection(
            [],
            facecolors="none",
            edgecolors=[colors[k] for k in self._top],
            linewidths=GHOST_WIDTH,
            zorder=zorder - 0.01,
            gid="forecast box",
        )
        ax.add_collection(self._ghosts, autolim=False)
        sizes, _ = size_or_default(contents.scene.tracks, contents.scene.now)
        self._sizes = sizes[self._agent[self._boxed]]
        self._round = agent_layer.is_round(contents.scene)[self._agent[self._boxed]]
        self.color = colors[self._top[0]] if len(self._top) else None

    @property
    def artists(self) -> list[Artist]:
        return [self._ghosts, self._dots]

    def move(self, seconds: float | None) -> None:
        for artist in self.artists:
            artist.set_visible(seconds is not None)
        if seconds is None:
            return
        position, heading = self._course.at(seconds)
        self._dots.set_offsets(position[self._mode, self._row])
        self._ghosts.set_verts(
            agent_layer.shapes(
                position[self._top, self._boxed],
                heading[self._top, self._boxed],
                self._sizes,
                self._round,
                self._window,
            )
        )
