"""A single-lane roundabout: a ring of arcs that arms join and leave, counter-clockwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.arms import Arm, connecting_curve
from motionpred.datasets.synthetic.layouts import LEFT, RIGHT, Layout, LayoutBuilder

Array = npt.NDArray[Any]

RING_LIMIT = 8.0  # m/s
_APART = 0.36  # radians on the ring between the middle of an arm and where traffic joins or leaves


def roundabout(name: str, arms: list[Arm], radius: float, *, demand: float) -> Layout:
    """The layout of ``arms`` around a ring whose lane has ``radius`` metres to its middle.

    Traffic on the ring has the right of way.
    """
    builder = LayoutBuilder(name, arms)
    order = sorted(range(len(arms)), key=lambda number: arms[number].angle % (2 * np.pi))
    leaves = {number: arms[number].angle - _APART for number in order}
    joins = {number: arms[number].angle + _APART for number in order}
    # Arcs that lead to the next exit, and short ones that pass in front of an arm.
    long_arc: dict[int, int] = {}
    for number, following in zip(order, order[1:] + order[:1], strict=True):
        stop = joins[number] + (leaves[following] - joins[number]) % (2 * np.pi)
        long_arc[number] = builder.builder.add(_arc(radius, joins[number], stop), RING_LIMIT)
    for position, number in enumerate(order):
        previous = order[position - 1]
        point, direction = _ring_pose(radius, leaves[number])
        stop_point, out = builder.start_of(number, 0)
        exit_line = connecting_curve(point, direction, stop_point, out)
        source, target = long_arc[previous], long_arc[number]
        builder.connect(
            exit_line, RING_LIMIT, source=source, target=(number, 0), turn=RIGHT, rank=1
        )
        passing = _arc(radius, leaves[number], joins[number])
        builder.connect(passing, RING_LIMIT, source=source, target=target, turn=LEFT, rank=1)
        start_point, inward = builder.end_of(number, 0)
        entry = connecting_curve(start_point, inward, *_ring_pose(radius, joins[number]))
        builder.connect(entry, RING_LIMIT, source=(number, 0), target=target, turn=RIGHT)
    return builder.finish(demand=demand, crosswalk_courtesy=0.85, ring=radius + arms[0].width / 2)


def _ring_pose(radius: float, angle: float) -> tuple[Array, Array]:
    point = radius * np.array([np.cos(angle), np.sin(angle)])
    return point, np.array([-np.sin(angle), np.cos(angle)])


def _arc(radius: float, start: float, stop: float) -> Array:
    angle = np.linspace(start, stop, max(4, int(radius * (stop - start))))
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
