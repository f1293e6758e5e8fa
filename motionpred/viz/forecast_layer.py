"""Futures: K per agent with the opacity of their probability, and what really happened.

Shapes: K modes, N agents of a forecast, T future steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from motionpred.viz import style
from motionpred.viz.contents import Contents, ShownForecast
from motionpred.viz.style import Theme
from motionpred.viz.window import Window

Array = npt.NDArray[Any]

TOP_WIDTH, MODE_WIDTH, TRUTH_WIDTH, HALO = 2.8, 1.3, 1.4, 1.2  # points
TOP_END, MODE_END = 26.0, 11.0  # square points
_TRUTH_DASHES: Any = (0, (3.4, 1.6))
STAYED = 2.0  # metres: an agent that ends nearer than this gets no end mark, its box is there
LISTED_MODES = 6  # a legend names no more modes than there are colours


def draw_forecasts(
    ax: Axes, contents: Contents, theme: Theme, *, probabilities: bool = True
) -> list[Artist]:
    """Draw every future of every forecast; returns the legend entries.

    One joint forecast alone: a mode has one colour and one opacity across all agents, so that a
    reader sees which futures belong together. A marginal one: each agent's modes by that agent's
    own probabilities. Several: one hue each. The most probable mode is wide and on top.
    ``probabilities`` puts those of a joint forecast into the legend.
    """
    entries: list[Artist] = []
    several = len(contents.forecasts) > 1
    for i, forecast in enumerate(contents.forecasts):
        colors = colors_of(contents, i, theme)
        _draw_one(ax, contents, forecast, colors, theme, style.Z_FORECAST + 0.1 * i)
        if not forecast.shown_modes or not len(forecast.agent):
            continue
        if forecast.prediction.joint and not several:
            entries += _mode_entries(forecast, colors, probabilities)
        else:
            label = forecast.name if several else "futures"
            entries.append(Line2D([], [], color=colors[0], lw=TOP_WIDTH, label=label))
    return entries


def colors_of(contents: Contents, index: int, theme: Theme) -> list[str]:
    """Colours of the modes of forecast ``index``: a ramp if it is joint and alone, else one hue."""
    prediction = contents.forecasts[index].prediction
    if prediction.joint and len(contents.forecasts) == 1:
        return style.mode_colors(theme, prediction.modes)
    return [theme.forecasts[index % len(theme.forecasts)]] * prediction.modes


def _draw_one(
    ax: Axes,
    contents: Contents,
    forecast: ShownForecast,
    colors: list[str],
    theme: Theme,
    zorder: float,
) -> None:
    modes = forecast.shown_modes
    if not modes or not len(forecast.agent):
        return
    probability = forecast.probability  # [N, K]
    alpha = style.opacity(probability)
    top = probability.argmax(axis=1)  # [N]
    paths = future_paths(contents, forecast)
    lines, looks, widths, strength = [], [], [], []
    for k in modes:
        for n in range(len(forecast.agent)):
            lines.append(paths[k][n])
            looks.append(style.rgba(colors[k], alpha[n, k]))
            widths.append(TOP_WIDTH if k == top[n] or len(modes) == 1 else MODE_WIDTH)
            strength.append(probability[n, k] + (k == top[n]))
    order = np.argsort(strength, kind="stable")  # the most probable last: on top
    lines = [lines[i] for i in order]
    rgba, width = np.array(looks)[order], np.array(widths)[order]
    strong = width == TOP_WIDTH
    ends = np.array([line[-1] for line in lines])
    halo = LineCollection(
        [line for line, s in zip(lines, strong, strict=True) if s],
        colors=theme.halo,
        linewidths=TOP_WIDTH + HALO,
        zorder=zorder + 0.01,
        gid="forecast halo",
    )
    for part, gid in ((~strong, "forecast"), (strong, "most probable forecast")):
        if part.any():
            artist = LineCollection(
                [line for line, p in zip(lines, part, strict=True) if p],
                colors=rgba[part],
                linewidths=width[part],
                zorder=zorder + (0.02 if gid != "forecast" else 0.0),
                gid=gid,
                capstyle="round",
            )
            ax.add_collection(artist, autolim=False)
    ax.add_collection(halo, autolim=False)
    ax.scatter(
        ends[:, 0],
        ends[:, 1],
        s=np.where(strong, TOP_END, MODE_END),
        c=rgba,
        edgecolors=theme.halo,
        linewidths=np.where(strong, 0.8, 0.4).tolist(),
        zorder=zorder + 0.03,
        gid="forecast end",
    )


def future_paths(contents: Contents, forecast: ShownForecast) -> list[list[Array]]:
    """For each mode and agent the path ``[T + 1, 2]`` from where the agent is at ``now``.

    An agent without a state at ``now`` has a path of ``T`` points.
    """
    scene = contents.scene
    start = scene.tracks.position[forecast.agent, scene.now, :2]
    known = contents.at_now[forecast.agent]
    return [
        [
            np.concatenate([start[n : n + 1], future]) if known[n] else future
            for n, future in enumerate(mode)
        ]
        for mode in forecast.prediction.position
    ]


def _mode_entries(forecast: ShownForecast, colors: list[str], probabilities: bool) -> list[Artist]:
    probability = forecast.prediction.probability
    alpha = style.opacity(probability)
    top = int(probability.argmax())
    listed = forecast.shown_modes[:LISTED_MODES]
    entries: list[Artist] = [
        Line2D(
            [],
            [],
            color=colors[k],
            alpha=float(alpha[k]),
            lw=TOP_WIDTH if k == top else MODE_WIDTH,
            label=f"mode {k + 1} ({probability[k]:.2f})" if probabilities else f"mode {k + 1}",
        )
        for k in listed
    ]
    more = len(forecast.shown_modes) - len(listed)
    if more:
        entries.append(Line2D([], [], color=colors[-1], alpha=0.3, label=f"{more} more modes"))
    return entries


def draw_truth(ax: Axes, contents: Contents, window: Window, theme: Theme) -> list[Artist]:
    """The recorded future of the targets up to the longest forecast; returns the legend entries."""
    steps = contents.truth_steps
    tracks = contents.scene.tracks
    lines, ends = [], []
    for agent in np.flatnonzero(contents.target):
        path, valid = tracks.position[agent, steps, :2], tracks.valid[agent, steps]
        pieces = _unbroken(path, valid)
        if not valid[1:].any() or not window.contains(path[valid]).any():
            continue
        lines += pieces
        if np.hypot(*(path[valid][-1] - path[valid][0])) > STAYED:
            ends.append(path[valid][-1])
    if not lines:
        return []
    # Thinner than the most probable future and without a halo: where both run on one line, that
    # future shows on both sides and through the gaps.
    artist = LineCollection(
        lines,
        colors=theme.truth,
        linewidths=TRUTH_WIDTH,
        linestyles=_TRUTH_DASHES,
        zorder=style.Z_TRUTH,
        gid="truth",
        capstyle="butt",
    )
    ax.add_collection(artist, autolim=False)
    # Open, so that the end of a forecast that hits the truth shows inside.
    end = np.array(ends).reshape(-1, 2)
    ax.scatter(
        end[:, 0],
        end[:, 1],
        s=46,
        marker="D",
        facecolors="none",
        edgecolors=theme.truth,
        linewidths=1.3,
        zorder=style.Z_TRUTH + 0.01,
        gid="truth end",
    )
    return [
        Line2D(
            [],
            [],
            color=theme.truth,
            lw=TRUTH_WIDTH,
            ls=_TRUTH_DASHES,
            marker="D",
            ms=5,
            mfc="none",
            mew=1.2,
            label="truth",
        )
    ]


def _unbroken(path: Array, valid: Array) -> list[Array]:
    """The runs of at least two valid steps in a row."""
    edges = np.flatnonzero(np.diff(np.r_[False, valid, False].astype(np.int8)))
    runs = zip(edges[::2], edges[1::2], strict=True)
    return [path[begin:end] for begin, end in runs if end - begin > 1]
