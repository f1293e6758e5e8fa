"""Angles in radians, always in (-pi, pi]."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def wrap(angle: npt.ArrayLike) -> Array:
    """The same angles in (-pi, pi]; the dtype is kept."""
    angle = np.asarray(angle)
    turn = angle.dtype.type(2 * np.pi) if angle.dtype.kind == "f" else 2 * np.pi
    half = angle.dtype.type(np.pi) if angle.dtype.kind == "f" else np.pi
    wrapped = angle - turn * np.ceil((angle - half) / turn)
    # Rounding may leave a value one step outside the half-open range.
    return np.asarray(np.where(wrapped <= -half, half, np.minimum(wrapped, half)))


def difference(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """``a - b`` along the shorter arc."""
    return wrap(np.asarray(a) - np.asarray(b))


def mean(angle: npt.ArrayLike, axis: int = -1, weight: npt.ArrayLike | None = None) -> Array:
    """Direction of the mean unit vector along ``axis`` (0 where the vectors cancel).

    ``weight`` broadcasts against ``angle``; a weight of 0 leaves an angle out.
    """
    angle = np.asarray(angle)
    weight = np.ones_like(angle) if weight is None else np.asarray(weight)
    angle, weight = np.broadcast_arrays(angle, weight)
    sin, cos = (np.sin(angle) * weight).sum(axis), (np.cos(angle) * weight).sum(axis)
    # Sines and cosines that cancel leave a remainder of rounding, which has no direction.
    rounding = np.finfo(angle.dtype if angle.dtype.kind == "f" else float).eps
    cancelled = np.hypot(sin, cos) <= 4 * rounding * np.abs(weight).sum(axis)
    return wrap(np.where(cancelled, 0.0, np.arctan2(sin, cos)))


def interpolate(a: npt.ArrayLike, b: npt.ArrayLike, fraction: npt.ArrayLike) -> Array:
    """From ``a`` to ``b`` along the shorter arc; ``fraction`` in 0..1."""
    return wrap(np.asarray(a) + np.asarray(fraction) * difference(b, a))
