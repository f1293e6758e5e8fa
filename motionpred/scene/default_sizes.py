"""Class default sizes, for the places that need a box where the publisher recorded none."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.scene.kinds import AgentType
from motionpred.scene.scene import Tracks

Array = npt.NDArray[Any]

# Length, width, height in metres: typical of each class on the road, rounded.
DEFAULT_SIZE: Mapping[AgentType, tuple[float, float, float]] = MappingProxyType(
    {
        AgentType.UNKNOWN: (4.6, 1.9, 1.7),
        AgentType.VEHICLE: (4.6, 1.9, 1.7),
        AgentType.BUS: (12.0, 2.6, 3.2),
        AgentType.MOTORCYCLIST: (2.2, 0.9, 1.6),
        AgentType.CYCLIST: (1.8, 0.7, 1.7),
        AgentType.PEDESTRIAN: (0.7, 0.7, 1.75),
        AgentType.RIDERLESS_BICYCLE: (1.8, 0.6, 1.1),
        AgentType.STATIC: (1.0, 1.0, 1.0),
        AgentType.OTHER: (2.0, 1.0, 1.5),
    }
)


def size_or_default(tracks: Tracks, step: int) -> tuple[Array, Array]:
    """Sizes ``[A, 3]`` at ``step`` in metres, and which of them are assumed ``[A]``.

    A size is recorded where length and width are positive. Elsewhere it is the class default, and
    assumed. A missing height alone is filled in without marking the box.
    """
    recorded = np.asarray(tracks.size[:, step], np.float64)
    default = np.array([DEFAULT_SIZE[AgentType(kind)] for kind in tracks.type.tolist()])
    default = default.reshape(-1, 3)
    assumed = np.asarray((recorded[:, :2] <= 0).any(axis=1))
    sizes = np.where(assumed[:, None] | (recorded <= 0), default, recorded)
    return sizes, assumed
