"""SceneArrays: one scene as unpadded arrays, the row of a SceneBatch before padding.

Shapes: A agents, H history steps, F future steps, M map pieces, P points a piece, E lane links.
Names, columns, frame and units are those of :class:`motionpred.graph.SceneBatch`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]

# Sizes of a batch are rounded up to these; at least one group is there, so that an empty map is a
# masked dummy.
AGENT_GROUP = 8
MAP_GROUP = 32
EDGE_GROUP = 32


def padded_size(count: int, group: int) -> int:
    """``count`` rounded up to whole groups, at least one."""
    return max(-(-count // group), 1) * group


# Names under which a batch counts what is not in it.
DROPPED = (
    "agents",  # beyond max_agents
    "agents_missing_at_now",  # kept as context, not predicted
    "agents_below_min_history",  # kept as context, not predicted
    "map_pieces",  # beyond max_map
    "map_pieces_far",  # beyond map_radius
    "scenes_without_lanes",  # no lane within map_radius, or no map at all
    "history_padded",  # steps that the recording does not have, marked invalid
    "history_cropped",  # oldest steps left out
    "future_cropped",  # last steps left out
    "scenes_resampled",  # brought to the clock of the batch, see BatchOptions.resample
)


@dataclass(frozen=True)
class SceneArrays:
    """One scene in its own scene frame, float32, without padding."""

    scene_id: str
    scene_key: int
    track_id: Array  # [A] str
    track_key: Array  # [A] int64
    origin: Array  # [2] float64, world frame
    time: Array  # [H] float32
    history_state: Array  # [A, H, 8] float32
    history_flags: Array  # [A, H, 4] bool
    pose: Array  # [A, 3] float32
    age: Array  # [A] float32
    type: Array  # [A] int64
    roles: Array  # [A] int64
    predict: Array  # [A] bool
    map_points: Array  # [M, P, 2] float32
    map_pose: Array  # [M, 3] float32
    map_category: Array  # [M, 5] int64
    map_attributes: Array  # [M, 2] float32
    lane_edges: Array  # [E, 4] int64, sorted by kind
    target_state: Array  # [A, F, 8] float32
    target_flags: Array  # [A, F, 4] bool
    dropped: dict[str, int] = field(default_factory=dict)  # names of DROPPED, without zeros
