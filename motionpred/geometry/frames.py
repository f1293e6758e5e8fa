"""Moving points between the world and a local frame (x forward, y left)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def rotate(points: npt.ArrayLike, angle: npt.ArrayLike) -> Array:
    """Points ``[..., 2]`` turned counter-clockwise about the origin by ``angle`` ``[...]``."""
    points, angle = np.asarray(points), np.asarray(angle)
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = points[..., 0], points[..., 1]
    return np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)


def to_local(points: npt.ArrayLike, origin: npt.ArrayLike, heading: npt.ArrayLike) -> Array:
    """World points ``[..., 2]`` seen from frames at ``origin`` ``[..., 2]`` along ``heading``."""
    return rotate(np.asarray(points) - np.asarray(origin), -np.asarray(heading))


def to_world(points: npt.ArrayLike, origin: npt.ArrayLike, heading: npt.ArrayLike) -> Array:
    """The inverse of :func:`to_local`."""
    return np.asarray(rotate(points, heading) + np.asarray(origin))
