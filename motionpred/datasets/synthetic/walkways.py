"""Where people walk: pavements along the roads, corners between them, crosswalks at the mouths."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.arms import CROSSING_DEPTH, PAVEMENT, Arm
from motionpred.datasets.synthetic.network import Network, NetworkBuilder

Array = npt.NDArray[Any]

_CROSSES = 1.8  # how many cross for one who takes another way
_FREE = 100.0  # m/s, no limit for walking


@dataclass(frozen=True)
class Walkways:
    """The network of walking paths. W segments."""

    network: Network
    crosses: Array  # [W] arm whose road a segment crosses, else -1
    start: Array  # [W] of a crossing: offset from the arm's reference line at its start
    sign: Array  # [W] of a crossing: +1 where the offset grows along it, else -1
    pavement: Array  # [W] bool, along a road
    entries: Array  # segments on which people arrive from outside


def build_walkways(arms: list[Arm], around: float = 0.0) -> Walkways:
    """Pavements at both sides of every arm; crosswalks where the arm has one.

    Corners keep ``around`` metres from the origin, the middle of a roundabout.
    """
    builder = NetworkBuilder()
    crosses: dict[int, tuple[int, float, float]] = {}
    pavement: set[int] = set()
    # inbound and outbound path, and the crossing that starts there, of every (arm, side)
    reach: dict[tuple[int, int], int] = {}
    leave: dict[tuple[int, int], int] = {}
    cross: dict[tuple[int, int], int] = {}
    point: dict[tuple[int, int], Array] = {}
    for number, arm in enumerate(arms):
        sides = {1: arm.kerb_left + PAVEMENT, -1: arm.kerb_right - PAVEMENT}
        for side, offset in sides.items():
            point[number, side] = arm.before_mouth(CROSSING_DEPTH, offset)
            line = np.concatenate([point[number, side][None], arm.offset_line(offset)])
            leave[number, side] = builder.add(line, _FREE)
            reach[number, side] = builder.add(line[::-1], _FREE)
            pavement |= {leave[number, side], reach[number, side]}
        if arm.crosswalk:
            for side in (1, -1):
                line = np.stack([point[number, side], point[number, -side]])
                cross[number, side] = builder.add(line, _FREE)
                crosses[cross[number, side]] = (number, sides[side], -float(side))
    order = sorted(range(len(arms)), key=lambda number: arms[number].angle)
    corner: dict[tuple[int, int], int] = {}
    for number, following in zip(order, order[1:] + order[:1], strict=True):
        ends = (number, 1), (following, -1)  # the left side of an arm meets the next arm's right
        line = _corner(point[ends[0]], point[ends[1]], around)
        corner[ends[0]] = builder.add(line, _FREE)
        corner[ends[1]] = builder.add(line[::-1], _FREE)
    other = {}
    for number, following in zip(order, order[1:] + order[:1], strict=True):
        other[number, 1], other[following, -1] = (following, -1), (number, 1)
    for node, segment in reach.items():
        _link_all(builder, segment, [cross.get(node), corner[node]], crosses)
    for (number, side), segment in cross.items():
        end = (number, -side)
        _link_all(builder, segment, [corner[end], leave[end]], crosses)
    for node, segment in corner.items():
        end = other[node]
        _link_all(builder, segment, [leave[end], cross.get(end)], crosses)
    network = builder.finish()
    rows = [crosses.get(segment, (-1, 0.0, 0.0)) for segment in range(len(network))]
    return Walkways(
        network=network,
        crosses=np.array([row[0] for row in rows], np.int64),
        start=np.array([row[1] for row in rows]),
        sign=np.array([row[2] for row in rows]),
        pavement=np.array([segment in pavement for segment in range(len(network))]),
        entries=np.array(sorted(reach.values()), np.int64),
    )


def _corner(start: Array, stop: Array, around: float) -> Array:
    if around <= 0:
        return np.stack([start, stop])
    first, last = (np.arctan2(point[1], point[0]) for point in (start, stop))
    angle = first + np.linspace(0.15, 0.85, 7) * ((last - first) % (2 * np.pi))
    arc = around * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return np.concatenate([start[None], arc, stop[None]])


def _link_all(
    builder: NetworkBuilder, segment: int, following: list[int | None], crossings: Collection[int]
) -> None:
    for after in following:
        if after is not None:
            builder.link(segment, after, _CROSSES if after in crossings else 1.0)
