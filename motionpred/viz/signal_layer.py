"""Traffic signals in their state at one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D

from motionpred.scene import Scene, SignalState
from motionpred.viz import style
from motionpred.viz.style import Theme
from motionpred.viz.window import Window

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class SignalLook:
    """How a state is drawn; the marker tells it apart without colour."""

    color: str
    marker: str
    label: str


LOOKS = {
    SignalState.STOP: SignalLook("#D62728", "s", "red light"),
    SignalState.CAUTION: SignalLook("#F2B701", "^", "amber light"),
    SignalState.GO: SignalLook("#2CA02C", "o", "green light"),
    SignalState.UNKNOWN: SignalLook("#8E96A3", "D", "unknown light"),
}
_GROUP = {
    SignalState.ARROW_STOP: SignalState.STOP,
    SignalState.FLASHING_STOP: SignalState.STOP,
    SignalState.ARROW_CAUTION: SignalState.CAUTION,
    SignalState.FLASHING_CAUTION: SignalState.CAUTION,
    SignalState.ARROW_GO: SignalState.GO,
}


def draw_signals(ax: Axes, scene: Scene, window: Window, theme: Theme) -> list[Artist]:
    """Draw the signals in the window in their state at ``now``; returns the legend entries."""
    entries: list[Artist] = []
    for state, at in signals_at(scene, scene.now, window).items():
        signal_artist(ax, at, LOOKS[state], theme)
        entries.append(signal_entry(LOOKS[state], theme))
    return entries


def signals_at(scene: Scene, step: int, window: Window) -> dict[SignalState, Array]:
    """Where ``[n, 2]`` in the window signals of each look are at ``step``; looks without any
    are left out.
    """
    signals = scene.signals
    if not len(signals):
        return {}
    states = [SignalState(int(s)) for s in signals.state[:, step]]
    group = np.array([_GROUP.get(state, state) for state in states])
    inside = window.contains(signals.stop_point[:, :2])
    found = {state: signals.stop_point[(group == state) & inside, :2] for state in LOOKS}
    return {state: at for state, at in found.items() if len(at)}


def signal_artist(ax: Axes, at: Array, look: SignalLook, theme: Theme) -> PathCollection:
    """Add the signals of one look at ``at`` ``[n, 2]``."""
    return ax.scatter(
        at[:, 0],
        at[:, 1],
        s=34,
        marker=look.marker,
        color=look.color,
        edgecolors=theme.text,
        linewidths=0.6,
        zorder=style.Z_SIGNAL,
        gid="signal",
    )


def signal_entry(look: SignalLook, theme: Theme) -> Artist:
    """What a legend says about a look."""
    return Line2D(
        [],
        [],
        ls="",
        marker=look.marker,
        ms=5,
        color=look.color,
        mec=theme.text,
        mew=0.6,
        label=look.label,
    )
