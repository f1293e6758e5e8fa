"""The recorded traffic of an animation: made once, moved from frame to frame.

Shapes: A agents, T steps, S segments of a trail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.text import Text

from motionpred.scene import Role
from motionpred.scene.default_sizes import size_or_default
from motionpred.viz import agent_layer as layer
from motionpred.viz import style
from motionpred.viz.contents import Contents
from motionpred.viz.forecast_layer import TRUTH_WIDTH
from motionpred.viz.moments import Moment
from motionpred.viz.signal_layer import LOOKS, signal_artist, signal_entry, signals_at
from motionpred.viz.style import Theme
from motionpred.viz.window import Window

Array = npt.NDArray[Any]

HELD = 0.45  # opacity of boxes after the end of the record


class MovingAgents:
    """Boxes, discs, headings and the ring of the focal agent."""

    def __init__(self, ax: Axes, contents: Contents, window: Window, theme: Theme) -> None:
        self._scene, self._window, self._theme = contents.scene, window, theme
        self._round = layer.is_round(contents.scene)
        self._groups = layer.groups(contents, theme)
        self._focal = (contents.scene.tracks.roles & Role.FOCAL) != 0
        self._outlines = [
            [layer.outline_artist([], look, theme, dashed=dashed) for dashed in (False, True)]
            for look, _ in self._groups
        ]
        self._ticks = [layer.tick_artist([], look) for look, _ in self._groups]
        self._ring = layer.ring_artist([], theme)
        for artist in self.artists:
            ax.add_collection(artist, autolim=False)

    @property
    def artists(self) -> list[Any]:
        """Everything that moves."""
        return [*(a for pair in self._outlines for a in pair), *self._ticks, self._ring]

    def move(self, moment: Moment) -> None:
        """Show the traffic at that time."""
        window = self._window
        sizes, assumed = size_or_default(self._scene.tracks, moment.step)
        near = moment.shown & window.contains(moment.position, margin=layer.BEYOND)
        outline = layer.shapes(moment.position, moment.heading, sizes, self._round, window)
        for (_, members), pair, ticks in zip(
            self._groups, self._outlines, self._ticks, strict=True
        ):
            for dashed, artist in zip((False, True), pair, strict=True):
                drawn = np.flatnonzero(members & near & (assumed == dashed))
                artist.set_verts([outline[i] for i in drawn])
            pointed = members & near & ~self._round
            ticks.set_segments(
                layer.ticks(moment.position[pointed], moment.heading[pointed], sizes[pointed])
            )
        wider = sizes + 2 * window.metres(layer.RING_GAP)
        rings = layer.shapes(moment.position, moment.heading, wider, self._round, window)
        self._ring.set_verts([rings[i] for i in np.flatnonzero(self._focal & near)])
        for artist in self.artists:
            artist.set_alpha(HELD if moment.held else None)

    def entries(self, moments: Sequence[Moment]) -> list[Artist]:
        """Legend entries of the groups that are seen at any of these times."""
        seen = np.zeros(len(self._round), bool)
        guessed = False
        for moment in moments:
            inside = moment.shown & self._window.contains(moment.position)
            seen |= inside
            guessed |= bool((inside & size_or_default(self._scene.tracks, moment.step)[1]).any())
        found = [
            layer.group_entry(look) for look, members in self._groups if (members & seen).any()
        ]
        return [*found, layer.assumed_entry(self._theme)] if guessed else found


class Trail:
    """The way that some agents have come, as segments that fade with age.

    ``first`` and ``last`` bound the steps that it is made of; ``seconds`` is how long it stays,
    None for ever.
    """

    def __init__(
        self,
        ax: Axes,
        contents: Contents,
        window: Window,
        members: Array,
        *,
        steps: tuple[int, int],
        seconds: float | None,
        color: str,
        width: float,
        zorder: float,
        gid: str,
    ) -> None:
        scene = contents.scene
        first, last = steps
        self._seconds, self._color = seconds, color
        self._time = scene.time[first : last + 1] - scene.time[scene.now]
        position = scene.tracks.position[:, first : last + 1, :2]
        valid = scene.tracks.valid[:, first : last + 1]
        # A gap in a track stays a gap.
        both = valid[:, 1:] & valid[:, :-1] & members[:, None]
        both &= window.contains(position[:, 1:]) | window.contains(position[:, :-1])
        self._agent, self._step = np.nonzero(both)
        self._begin, self._end = position[:, :-1][both], position[:, 1:][both]
        self.artist = LineCollection(
            [], linewidths=width, zorder=zorder, gid=gid, capstyle="butt", colors=color
        )
        ax.add_collection(self.artist, autolim=False)

    @property
    def empty(self) -> bool:
        """Whether it never shows anything."""
        return not len(self._agent)

    def move(self, moment: Moment) -> None:
        """Show what lies behind the agents at that time; the last segment ends at their boxes."""
        begin, end = self._time[self._step], self._time[self._step + 1]
        age = moment.seconds - end
        drawn = begin < moment.seconds
        if self._seconds is not None:
            drawn &= age <= self._seconds
        part = np.clip((moment.seconds - begin[drawn]) / (end - begin)[drawn], 0, 1)[:, None]
        start, stop = self._begin[drawn], self._end[drawn]
        self.artist.set_segments(list(np.stack([start, start + part * (stop - start)], axis=1)))
        if self._seconds is None:
            return
        fade = 1.0 - 0.9 * np.clip(age[drawn] / max(self._seconds, 1e-3), 0, 1)
        colors: Any = style.rgba(self._color, 0.8 * fade)  # typed as colours one by one
        self.artist.set_color(colors)


def trails(
    ax: Axes, contents: Contents, window: Window, theme: Theme, last: int
) -> tuple[list[Trail], list[Artist]]:
    """The trails of an animation and their legend entries.

    Up to ``now`` those of a picture; after it targets leave a line in the colour of the truth,
    which stays.
    """
    scene = contents.scene
    now = scene.now
    important = contents.target | ((scene.tracks.roles & Role.EGO) != 0)
    span = float(scene.time[now] - scene.time[0])
    past = Trail(
        ax,
        contents,
        window,
        important,
        steps=(0, now),
        seconds=span,
        color=theme.history,
        width=1.6,
        zorder=style.Z_HISTORY,
        gid="history",
    )
    ego = Trail(
        ax,
        contents,
        window,
        important & ~contents.target,
        steps=(now, last),
        seconds=span,
        color=theme.history,
        width=1.6,
        zorder=style.Z_HISTORY,
        gid="history",
    )
    others = Trail(
        ax,
        contents,
        window,
        ~important,
        steps=(0, last),
        seconds=layer.CONTEXT_HISTORY,
        color=theme.context_edge,
        width=0.8,
        zorder=style.Z_HISTORY,
        gid="context history",
    )
    truth = Trail(
        ax,
        contents,
        window,
        contents.target,
        steps=(now, last),
        seconds=None,
        color=theme.truth,
        width=TRUTH_WIDTH,
        zorder=style.Z_TRUTH,
        gid="truth",
    )
    entries = [] if past.empty else [layer.history_entry(theme)]
    if not truth.empty:
        entries.append(Line2D([], [], color=theme.truth, lw=TRUTH_WIDTH, label="truth"))
    return [past, ego, others, truth], entries


class MovingNames:
    """Names that stay beside their agents."""

    def __init__(self, contents: Contents, window: Window, names: dict[int, Text]) -> None:
        now = contents.scene.tracks.position[:, contents.scene.now, :2]
        self._window = window
        self._names = {
            i: (text, np.array(text.get_position()) - now[i]) for i, text in names.items()
        }

    def move(self, moment: Moment) -> None:
        """Carry them along; the name of an agent that is not shown is not shown either."""
        for agent, (text, offset) in self._names.items():
            at = moment.position[agent] + offset
            text.set_position((float(at[0]), float(at[1])))
            text.set_visible(bool(moment.shown[agent] and self._window.contains(at)))


class MovingSignals:
    """Signals that change their state."""

    def __init__(self, ax: Axes, contents: Contents, window: Window, theme: Theme) -> None:
        self._scene, self._window, self._theme = contents.scene, window, theme
        nowhere = np.zeros((0, 2))
        some = LOOKS if len(contents.scene.signals) else {}
        self._marks = {
            state: signal_artist(ax, nowhere, look, theme) for state, look in some.items()
        }

    @property
    def artists(self) -> list[Artist]:
        """Everything that changes."""
        return list(self._marks.values())

    def move(self, moment: Moment) -> None:
        """Show the states at that time."""
        at = signals_at(self._scene, moment.step, self._window)
        for state, artist in self._marks.items():
            artist.set_offsets(at.get(state, np.zeros((0, 2))))

    def entries(self, moments: Sequence[Moment]) -> list[Artist]:
        """Legend entries of the states that are seen at any of these times."""
        steps = {moment.step for moment in moments}
        seen = {s for step in steps for s in signals_at(self._scene, step, self._window)}
        return [signal_entry(LOOKS[state], self._theme) for state in self._marks if state in seen]
