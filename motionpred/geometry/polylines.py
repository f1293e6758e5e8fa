"""Polylines ``[n, 2 or 3]``, and flattened sets of them (``points``, ``start`` as in RoadMap)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.geometry.angles import wrap

Array = npt.NDArray[Any]


def drop_repeats(points: Array) -> Array:
    """The polyline without points that equal their predecessor (in x and y)."""
    if len(points) < 2:
        return points
    keep = np.r_[True, (np.diff(points[:, :2], axis=0) != 0).any(axis=1)]
    return np.asarray(points[keep])


def open_ring(points: Array) -> Array:
    """A ring whose first corner is not repeated at the end, without repeated points."""
    points = drop_repeats(points)
    if len(points) > 1 and np.array_equal(points[0, :2], points[-1, :2]):
        points = points[:-1]
    return points


def ring_area(points: Array) -> float:
    """Area of a ring in square metres (shoelace formula), with or without the repeated corner."""
    x, y = points[:, 0] - points[0, 0], points[:, 1] - points[0, 1]
    return float(abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2)


def directions(points: Array) -> Array:
    """Direction of each segment ``[n - 1]`` in radians; none for a single point."""
    step = np.diff(points[:, :2], axis=0)
    return wrap(np.arctan2(step[:, 1], step[:, 0]))


def length(points: Array) -> float:
    """Length in metres, in the plane."""
    return float(np.hypot(*np.diff(points[:, :2], axis=0).T).sum())


def resample(points: Array, start: Array, count: int) -> Array:
    """Every polyline of a flattened set at ``count`` points of equal arc length: ``[M, count, D]``.

    End points are kept; a polyline of one point is that point repeated. All polylines are sampled
    in one interpolation over their joined arc lengths.
    """
    pieces = len(start) - 1
    if pieces == 0:
        return np.zeros((0, count, points.shape[-1]), points.dtype)
    step = np.hypot(*np.diff(points[:, :2], axis=0).T)
    step[start[1:-1] - 1] = 0.0  # no length between the end of one polyline and the next
    along = np.r_[0.0, np.cumsum(step)]
    first, last = along[start[:-1]], along[start[1:] - 1]
    fraction = np.linspace(0.0, 1.0, count)
    wanted = first[:, None] + fraction * (last - first)[:, None]
    # The segment of each sample, kept inside its own polyline.
    low, high = start[:-1, None], np.maximum(start[1:, None] - 2, start[:-1, None])
    index = np.clip(np.searchsorted(along, wanted, side="right") - 1, low, high)
    following = np.minimum(index + 1, start[1:, None] - 1)
    span = along[following] - along[index]
    part = np.divide(wanted - along[index], span, out=np.zeros_like(wanted), where=span > 0)
    part = np.clip(part, 0.0, 1.0)[..., None]
    samples = points[index] * (1 - part) + points[following] * part
    # The last arc length is a sum: its rounding must not move the end point.
    samples[:, -1], samples[:, 0] = points[start[1:] - 1], points[start[:-1]]
    return np.asarray(samples)


def take(
    points: Array, start: Array, index: Array, closed: Array | None = None
) -> tuple[Array, Array]:
    """Some polylines of a flattened set, as a flattened set: points and starts.

    Where ``closed`` ``[len(index)]`` is set, the first point is repeated at the end.
    """
    own = start[index + 1] - start[index]
    length = own if closed is None else own + closed
    begin = np.zeros(len(index) + 1, np.int64)
    np.cumsum(length, out=begin[1:])
    within = np.arange(begin[-1]) - np.repeat(begin[:-1], length)
    if closed is not None:
        within %= np.repeat(own, length)
    return np.asarray(points[np.repeat(start[index], length) + within]), begin
