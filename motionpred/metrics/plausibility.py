"""Whether forecast futures could happen: boxes that overlap, vehicles off the road, hard motion.

Shapes: A agents, T future steps. World frame, metres, seconds, radians, float64. None of these
needs the truth, apart from the pairs of agents that overlap in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.geometry.angles import wrap
from motionpred.geometry.boxes import corners, overlap
from motionpred.scene import MapKind, RoadMap

Array = npt.NDArray[Any]

MAX_ACCELERATION = 8.0  # m/s²: braking on dry asphalt is about 8 to 9
MAX_YAW_RATE = 1.5  # rad/s
DIFFERENCE = 0.5  # seconds between the states that are compared

_MOVED = 0.05  # metres a step below which a displacement has no direction
_TURNING_SPEED = 1.0  # m/s below which the direction of a displacement says nothing of the heading


def travel_heading(position: Array, start: Array, start_heading: Array) -> Array:
    """Heading ``[A, T]`` along the path: of the last displacement that was one.

    ``position`` ``[A, T, 2]``; ``start`` ``[A, 2]`` and ``start_heading`` ``[A]`` at now, which an
    agent that does not move keeps.
    """
    step = np.diff(position, axis=1, prepend=start[:, None])
    moved = np.hypot(step[..., 0], step[..., 1]) > _MOVED
    angle = np.arctan2(step[..., 1], step[..., 0])
    angle = np.concatenate([start_heading[:, None], angle], axis=1)
    latest = np.where(moved, np.arange(1, moved.shape[1] + 1), 0)
    latest = np.maximum.accumulate(latest, axis=1)
    return np.asarray(np.take_along_axis(angle, latest, axis=1))


def first_direction(position: Array, valid: Array | None = None) -> Array:
    """Direction ``[A]`` from the first state to the first one that is away from it, else 0.

    ``position`` ``[A, T, 2]``, ``valid`` ``[A, T]``; away is more than 5 cm.
    """
    there = np.ones(position.shape[:2], bool) if valid is None else valid
    agent = np.arange(len(position))
    offset = position - position[agent, there.argmax(axis=1)][:, None]
    away = there & (np.hypot(offset[..., 0], offset[..., 1]) > _MOVED)
    x, y = offset[agent, away.argmax(axis=1)].T
    return np.where(away.any(axis=1), np.arctan2(y, x), 0.0)


def overlapping_pairs(
    position: Array, heading: Array, size: Array, valid: Array | None = None
) -> Array:
    """Whether the boxes of two agents share an area at any step that both have: ``[A, A]`` bool.

    ``position`` ``[A, T, 2]``, ``heading`` ``[A, T]``, ``size`` ``[A, 2]`` length and width,
    ``valid`` ``[A, T]``. Symmetric, False on the diagonal; touching is no overlap.
    """
    agents = len(position)
    met = np.zeros((agents, agents), bool)
    reach = np.hypot(size[:, 0], size[:, 1]) / 2
    box = corners(position, heading, size[:, None])
    for i in range(agents - 1):
        gap = position[i + 1 :] - position[i]
        # Boxes can meet only within their half diagonals: few pairs are left for the exact test.
        near = np.hypot(gap[..., 0], gap[..., 1]) < (reach[i + 1 :] + reach[i])[:, None]
        if valid is not None:
            near &= valid[i + 1 :] & valid[i]
        other, step = np.nonzero(near)
        other += i + 1
        hit = other[overlap(box[i, step], box[other, step])]
        met[i, hit] = met[hit, i] = True
    return met


def drivable_area(road: RoadMap) -> list[Any]:
    """The drivable areas of a map as shapely polygons, holes cut out; empty if it has none."""
    import shapely

    areas = []
    rings = np.flatnonzero((road.kind == MapKind.DRIVABLE_AREA) & (np.diff(road.start) >= 3))
    for outer in rings[road.hole_of[rings] < 0]:
        holes = [road.polyline(hole)[:, :2] for hole in rings[road.hole_of[rings] == outer]]
        polygon = shapely.Polygon(road.polyline(outer)[:, :2], holes)
        areas.append(polygon if polygon.is_valid else shapely.make_valid(polygon))
    return areas


def on_area(points: Array, areas: list[Any]) -> Array:
    """Whether points ``[..., 2]`` lie in any area; its edge belongs to it."""
    import shapely

    inside = np.zeros(points.shape[:-1], bool)
    for area in areas:
        shapely.prepare(area)
        inside |= shapely.intersects_xy(area, points[..., 0], points[..., 1])
    return inside


def hard_steps(position: Array, time: Array, start: Array, heading: Array | None = None) -> Array:
    """Steps over 8 m/s² or 1.5 rad/s: bool ``[A, S]``.

    ``position`` ``[A, T, 2]`` at ``time`` ``[T]`` seconds after now, ``start`` ``[A, 2]`` at now.
    Velocity is the displacement over 0.5 s, acceleration its change over 0.5 s, so the S steps
    begin 1 s after now. Yaw rate is the change over 0.5 s of ``heading`` ``[A, T]``; without one,
    of the direction of travel where the agent is faster than 1 m/s.
    """
    clock = np.r_[0.0, time]
    lag = max(1, round(DIFFERENCE / float(np.median(np.diff(clock)))))
    path = np.concatenate([start[:, None], position], axis=1)
    span = clock[lag:] - clock[:-lag]  # [T + 1 - lag]
    velocity = (path[:, lag:] - path[:, :-lag]) / span[None, :, None]
    between = span[lag:]
    change = velocity[:, lag:] - velocity[:, :-lag]
    acceleration = np.hypot(change[..., 0], change[..., 1]) / between
    if heading is None:
        angle = np.arctan2(velocity[..., 1], velocity[..., 0])
        moving = np.hypot(velocity[..., 0], velocity[..., 1]) > _TURNING_SPEED
        known = moving[:, lag:] & moving[:, :-lag]
        turn = np.where(known, wrap(angle[:, lag:] - angle[:, :-lag]), 0.0)
    else:
        turn = wrap(heading[:, 2 * lag - 1 :] - heading[:, lag - 1 : -lag])
    return np.asarray((acceleration > MAX_ACCELERATION) | (np.abs(turn) / between > MAX_YAW_RATE))
