"""Oriented boxes in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.geometry.frames import to_world

Array = npt.NDArray[Any]

_CORNERS = np.array([[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]])


def corners(center: npt.ArrayLike, heading: npt.ArrayLike, size: npt.ArrayLike) -> Array:
    """Corners ``[..., 4, 2]``, front left first, counter-clockwise.

    ``center`` ``[..., 2]`` metres, ``heading`` ``[...]`` radians, ``size`` ``[..., 2]`` length and
    width in metres.
    """
    size, center = np.asarray(size), np.asarray(center)
    local = _CORNERS * size[..., None, :]
    return to_world(local, center[..., None, :], np.asarray(heading)[..., None])


def overlap(a: Array, b: Array) -> Array:
    """Whether convex quadrilaterals ``[..., 4, 2]`` share an area (touching is no overlap).

    Separating-axis test over the edge normals of both.
    """
    separated = np.zeros(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), bool)
    for box in (a, b):
        edge = np.roll(box, -1, axis=-2) - box
        normal = np.stack([-edge[..., 1], edge[..., 0]], axis=-1)[..., :2, :]  # sides are parallel
        along_a = np.einsum("...nd,...cd->...nc", normal, a)
        along_b = np.einsum("...nd,...cd->...nc", normal, b)
        gap = (along_a.max(-1) <= along_b.min(-1)) | (along_b.max(-1) <= along_a.min(-1))
        separated |= gap.any(-1)
    return ~separated
