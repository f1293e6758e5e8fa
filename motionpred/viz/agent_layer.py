"""The traffic at ``now``: boxes, headings, who is who, and where each agent came from.

Shapes: A agents, T steps, N agents that are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from motionpred.geometry.boxes import corners
from motionpred.scene import AgentType, FieldSource, Role, Scene
from motionpred.scene.default_sizes import size_or_default
from motionpred.viz import style
from motionpred.viz.contents import Contents
from motionpred.viz.style import Theme
from motionpred.viz.window import Window

Array = npt.NDArray[Any]

SMALLEST_ROUND = 2.6  # points: radius below which a pedestrian would be lost on the page
RING_GAP = 2.6  # points between the focal agent's box and the ring around it
BEYOND = 15.0  # metres outside the window: an agent there may still reach into it
CONTEXT_HISTORY = 2.0  # seconds of an agent that is no target
_ROUND = np.stack(
    [np.cos(np.linspace(0, 2 * np.pi, 24)), np.sin(np.linspace(0, 2 * np.pi, 24))], -1
)
_ASSUMED_DASHES: Any = (0, (2.2, 1.3))


@dataclass(frozen=True)
class Look:
    """How one group of agents is drawn."""

    label: str
    face: str
    edge: str
    zorder: float


def draw_agents(ax: Axes, contents: Contents, window: Window, theme: Theme) -> list[Artist]:
    """Draw every agent with a state at ``now`` inside the window; returns the legend entries.

    A box of an assumed size is pale with a dashed outline. Pedestrians, and agents whose heading is
    not known, are round.
    """
    scene = contents.scene
    tracks, now = scene.tracks, scene.now
    center = tracks.position[:, now, :2]
    inside = window.contains(center)
    shown = contents.at_now & window.contains(center, margin=BEYOND)
    sizes, assumed = size_or_default(tracks, now)
    round_ = is_round(scene)
    outline = outlines(scene, sizes, round_, window)
    entries: list[Artist] = []
    for look, members in groups(contents, theme):
        members = members & shown
        if not members.any():
            continue
        for dashed in (False, True):
            _add_outlines(
                ax,
                [outline[i] for i in np.flatnonzero(members & (assumed == dashed))],
                look,
                theme,
                dashed=dashed,
            )
        _add_ticks(ax, scene, members & ~round_, sizes, look)
        if (members & inside).any():
            entries.append(group_entry(look))
    focal = shown & ((tracks.roles & Role.FOCAL) != 0)
    _add_rings(ax, scene, focal, sizes, round_, window, theme)
    if (shown & inside & assumed).any():
        entries.append(assumed_entry(theme))
    return entries


def group_entry(look: Look) -> Artist:
    """What a legend says about a group."""
    return Patch(facecolor=look.face, edgecolor=look.edge, lw=0.8, label=look.label)


def assumed_entry(theme: Theme) -> Artist:
    """What a legend says about boxes of an assumed size."""
    return Patch(
        facecolor=style.pale(theme.context, theme),
        edgecolor=theme.context_edge,
        lw=0.8,
        ls=_ASSUMED_DASHES,
        label="assumed size",
    )


def history_entry(theme: Theme) -> Artist:
    """What a legend says about the past."""
    return Line2D([], [], color=theme.history, lw=1.6, alpha=0.7, label="history")


def is_round(scene: Scene) -> Array:
    """``[A]`` bool: agents drawn as discs."""
    unknown = scene.tracks.source.get("heading") == FieldSource.ABSENT
    return np.asarray((scene.tracks.type == AgentType.PEDESTRIAN) | unknown)


def outlines(scene: Scene, sizes: Array, round_: Array, window: Window) -> list[Array]:
    """The outline ``[n, 2]`` of every agent at ``now``: a box or a disc."""
    tracks, now = scene.tracks, scene.now
    return shapes(tracks.position[:, now, :2], tracks.heading[:, now], sizes, round_, window)


def shapes(
    center: Array, heading: Array, sizes: Array, round_: Array, window: Window
) -> list[Array]:
    """The outline ``[n, 2]`` of boxes and, where ``round_`` is set, discs."""
    boxes = corners(center, heading, sizes[:, :2])
    radius = np.maximum(sizes[:, :2].max(axis=1) / 2, window.metres(SMALLEST_ROUND))
    discs = center[:, None] + radius[:, None, None] * _ROUND
    return [disc if r else box for disc, box, r in zip(discs, boxes, round_, strict=True)]


def groups(contents: Contents, theme: Theme) -> list[tuple[Look, Array]]:
    """Disjoint groups of agents, most important first."""
    roles = contents.scene.tracks.roles
    ego, focal = (roles & Role.EGO) != 0, (roles & Role.FOCAL) != 0
    target = contents.target
    halo, top = theme.halo, style.Z_TARGET
    return [
        (Look("ego", theme.ego, theme.focal, top - 0.1), ego),
        (Look("focal agent", theme.focal, halo, top + 0.2), focal & ~ego),
        (Look("target", theme.target, halo, top), target & ~focal & ~ego),
        (
            Look("other agent", theme.context, theme.context_edge, style.Z_CONTEXT),
            ~(target | focal | ego),
        ),
    ]


def _add_outlines(
    ax: Axes, outline: list[Array], look: Look, theme: Theme, *, dashed: bool
) -> None:
    if outline:
        ax.add_collection(outline_artist(outline, look, theme, dashed=dashed), autolim=False)


def outline_artist(
    outline: list[Array], look: Look, theme: Theme, *, dashed: bool
) -> PolyCollection:
    """The outlines of a group; ``dashed`` where their size is assumed."""
    # A dashed line in the halo's colour would not be seen: an assumed box has its own, darker edge.
    dark = look.edge if look.label in ("ego", "other agent") else look.face
    return PolyCollection(
        outline,
        facecolors=style.pale(look.face, theme) if dashed else look.face,
        edgecolors=dark if dashed else look.edge,
        linewidths=0.8,
        linestyles=_ASSUMED_DASHES if dashed else "solid",
        zorder=look.zorder,
        gid=f"{look.label}, assumed size" if dashed else look.label,
    )


def _add_ticks(ax: Axes, scene: Scene, members: Array, sizes: Array, look: Look) -> None:
    if members.any():
        center = scene.tracks.position[members, scene.now, :2]
        heading = scene.tracks.heading[members, scene.now]
        ax.add_collection(tick_artist(ticks(center, heading, sizes[members]), look), autolim=False)


def ticks(center: Array, heading: Array, sizes: Array) -> list[Array]:
    """A line ``[2, 2]`` from the centre of each box to its front."""
    angle = np.asarray(heading, np.float64)
    forward = np.stack([np.cos(angle), np.sin(angle)], -1)
    return list(np.stack([center, center + forward * sizes[:, :1] / 2], 1))


def tick_artist(lines: list[Array], look: Look) -> LineCollection:
    """The ticks of a group."""
    return LineCollection(
        lines, colors=look.edge, linewidths=0.9, zorder=look.zorder + 0.05, gid="heading"
    )


def _add_rings(
    ax: Axes,
    scene: Scene,
    focal: Array,
    sizes: Array,
    round_: Array,
    window: Window,
    theme: Theme,
) -> None:
    if not focal.any():
        return
    rings = outlines(scene, sizes + 2 * window.metres(RING_GAP), round_, window)
    shown = [rings[i] for i in np.flatnonzero(focal)]
    ax.add_collection(ring_artist(shown, theme), autolim=False)


def ring_artist(rings: list[Array], theme: Theme) -> PolyCollection:
    """The lines around focal agents."""
    return PolyCollection(
        rings,
        facecolors="none",
        edgecolors=theme.focal,
        linewidths=1.1,
        zorder=style.Z_TARGET + 0.1,
        gid="focal ring",
    )


def draw_history(ax: Axes, contents: Contents, window: Window, theme: Theme) -> list[Artist]:
    """Past positions as lines that fade with age: strong for targets, short and pale for others."""
    scene = contents.scene
    important = contents.target | ((scene.tracks.roles & Role.EGO) != 0)
    horizon = scene.time[scene.now] - scene.time[0]
    drawn = _fading(ax, scene, important, horizon, theme.history, 1.6, window, "history")
    others = contents.at_now & ~important
    _fading(ax, scene, others, CONTEXT_HISTORY, theme.context_edge, 0.8, window, "context history")
    return [history_entry(theme)] if drawn else []


def _fading(
    ax: Axes,
    scene: Scene,
    members: Array,
    seconds: float,
    color: str,
    width: float,
    window: Window,
    gid: str,
) -> bool:
    """Segments between two valid steps: a gap in a track stays a gap."""
    age = scene.time[scene.now] - scene.time[: scene.now + 1]
    position = scene.tracks.position[:, : scene.now + 1, :2]
    valid = scene.tracks.valid[:, : scene.now + 1]
    both = valid[:, 1:] & valid[:, :-1] & members[:, None] & (age[:-1] <= seconds)[None]
    both &= window.contains(position[:, 1:]) | window.contains(position[:, :-1])
    if not both.any():
        return False
    segments = np.stack([position[:, :-1], position[:, 1:]], axis=2)[both]
    fade = 1.0 - 0.9 * np.clip(age[1:] / max(seconds, scene.dt), 0, 1)
    alpha = np.broadcast_to(fade, both.shape)[both]
    artist = LineCollection(
        list(segments),
        colors=style.rgba(color, 0.8 * alpha),
        linewidths=width,
        zorder=style.Z_HISTORY,
        gid=gid,
        capstyle="butt",
    )
    ax.add_collection(artist, autolim=False)
    return True
