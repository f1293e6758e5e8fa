"""A direction for agents that have none: not recorded, and they never moved.

Own frames need one, and it must turn with the scene: the axes of the world would not. A parked car
points along its lane, so the nearest lane gives it; without a lane, the middle of the scene does.
Shapes: A agents, H history steps, N map pieces, P points a piece.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.geometry.angles import wrap
from motionpred.geometry.kinematics import last_valid
from motionpred.graph.map_pieces import TIE, MapPieces
from motionpred.scene import MapKind

Array = npt.NDArray[Any]

# Nearer than this to the middle of the scene, the direction to it is rounding noise.
_LEAST_DISTANCE = 0.1


def fill_headings(state: Array, flags: Array, pieces: MapPieces) -> None:
    """Write a heading into the valid steps of a history that have none, in place.

    ``state`` ``[A, H, 8]`` and ``flags`` ``[A, H, 4]`` as in SceneBatch. The steps of an agent take
    its heading at its last valid step; where that has none either, it comes from the scene.
    """
    missing = flags[..., 0] & ~flags[..., 3]
    rows = np.flatnonzero(missing.any(axis=1))
    if not len(rows):
        return
    last = last_valid(flags[rows, :, 0])
    heading = state[rows, last, 2]
    unknown = np.flatnonzero(~flags[rows, last, 3])
    if len(unknown):
        heading[unknown] = _scene_direction(state[rows[unknown], last[unknown], :2], pieces)
    state[rows, :, 2] = np.where(missing[rows], heading[:, None], state[rows, :, 2])


def _scene_direction(position: Array, pieces: MapPieces) -> Array:
    """Direction ``[n]`` of the nearest lane, else to the origin, else 0; positions ``[n, 2]``."""
    lanes = np.flatnonzero(pieces.category[:, 0] == MapKind.LANE)
    if not len(lanes):
        far = np.hypot(position[:, 0], position[:, 1]) > _LEAST_DISTANCE
        return np.where(far, wrap(np.arctan2(-position[:, 1], -position[:, 0])), 0.0)
    points = pieces.points[lanes]  # [N, P, 2]
    offset = position[:, None, None] - points
    distance = np.hypot(offset[..., 0], offset[..., 1])
    # Lanes share their end points: rounding must not decide between them, so the first one wins.
    place = np.argmin(np.round(distance / TIE).reshape(len(position), -1), axis=1)
    lane, point = np.divmod(place, points.shape[1])
    segment = np.minimum(point, points.shape[1] - 2)
    step = points[lane, segment + 1] - points[lane, segment]
    return wrap(np.arctan2(step[:, 1], step[:, 0]))
