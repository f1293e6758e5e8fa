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


def drop_all_repeats(points: Array, start: Array) -> tuple[Array, Array]:
    """:func:`drop_repeats` of every polyline of a flattened set: points and starts."""
    keep = np.ones(len(points), bool)
    keep[1:] = (points[1:, :2] != points[:-1, :2]).any(axis=1)
    keep[start[:-1]] = True
    return _keep(points, start, keep)


def open_rings(points: Array, start: Array, ring: Array) -> tuple[Array, Array]:
    """A flattened set whose rings (``ring`` ``[M]``) do not repeat their first corner at the end.

    Repeated points must have been dropped before.
    """
    first, last = start[:-1], start[1:] - 1
    closing = ring & (first < last) & (points[first, :2] == points[last, :2]).all(axis=1)
    keep = np.ones(len(points), bool)
    keep[last[closing]] = False
    return _keep(points, start, keep)


def _keep(points: Array, start: Array, keep: Array) -> tuple[Array, Array]:
    if keep.all():
        return points, start
    before = np.zeros(len(points) + 1, np.int64)
    np.cumsum(keep, out=before[1:])
    return points[keep], before[start]


def directions(points: Array) -> Array:
    """Direction of each segment ``[n - 1]`` in radians; none for a single point."""
    step = np.diff(points[:, :2], axis=0)
    return wrap(np.arctan2(step[:, 1], step[:, 0]))


def resample(points: Array, start: Array, count: int) -> Array:
    """Every polyline of a flattened set at ``count`` points of equal arc length.

    Returns ``[M, count, 2 or 3]``. End points are kept; a polyline of one point is that point
    repeated. All polylines are sampled in one interpolation over their joined arc lengths.
    """
    pieces = len(start) - 1
    samples = np.zeros((pieces, count, points.shape[-1]), points.dtype)
    if pieces == 0:
        return samples
    x, y = points[:, 0], points[:, 1]
    along = np.zeros(len(points))
    step = np.hypot(x[1:] - x[:-1], y[1:] - y[:-1])
    # A gap between polylines gives each a range of arc lengths of its own.
    step[start[1:-1] - 1] = 1.0
    np.cumsum(step, out=along[1:])
    first, last = along[start[:-1]], along[start[1:] - 1]
    fraction = np.arange(count) / max(count - 1, 1)
    wanted = first[:, None] + fraction * (last - first)[:, None]
    # x and y as one complex number: one search for both.
    plane = np.interp(wanted, along, x + 1j * y)
    samples[..., 0], samples[..., 1] = plane.real, plane.imag
    if points.shape[-1] > 2:
        samples[..., 2] = np.interp(wanted, along, points[:, 2])
    # Arc lengths are sums: their rounding must not move the ends.
    samples[:, -1], samples[:, 0] = points[start[1:] - 1], points[start[:-1]]
    return samples


def take(
    points: Array, start: Array, index: Array, closed: Array | None = None
) -> tuple[Array, Array]:
    """Some polylines of a flattened set, as a flattened set: points and starts.

    Where ``closed`` ``[len(index)]`` is set, the first point is repeated at the end.
    """
    first = start[index]
    length = start[index + 1] - first
    if closed is not None:
        length = length + closed
    begin = np.zeros(len(index) + 1, np.int64)
    np.cumsum(length, out=begin[1:])
    source = np.arange(begin[-1]) + np.repeat(first - begin[:-1], length)
    if closed is not None:
        source[begin[1:][closed] - 1] = first[closed]
    return points.take(source, axis=0), begin
