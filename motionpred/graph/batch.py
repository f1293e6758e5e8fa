"""SceneBatch: scenes as dense padded tensors, the one input of every model.

Shapes: B scenes, A agents (padded to a multiple of 8), H history steps (``now`` is the last),
F future steps, M map pieces (padded to a multiple of 32), P points a piece, E lane links.
Scene frame: axes of the world, origin near the agents, float32. Metres, seconds, radians.
Own-frame transforms happen in the model. Padding and invalid entries are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

# Columns of Steps.state and Steps.flags, in order.
STATE = 8  # x, y, heading, vx, vy, length, width, height
FLAGS = 4  # valid, measured, velocity_valid, heading_valid
CATEGORIES = 5  # MapKind, LaneType, Marking, intersection (0/1), SignalState at now
ATTRIBUTES = 2  # width (m), speed limit (m/s); 0 where unknown


@dataclass
class Steps:
    """States of agents over some steps, with names for the columns."""

    state: Tensor  # [B, A, T, 8] float32
    flags: Tensor  # [B, A, T, 4] bool

    @property
    def position(self) -> Tensor:
        """[B, A, T, 2] metres, scene frame."""
        return self.state[..., 0:2]

    @property
    def heading(self) -> Tensor:
        """[B, A, T] radians, scene frame; not ``heading_valid``: that of the pose in a history."""
        return self.state[..., 2]

    @property
    def velocity(self) -> Tensor:
        """[B, A, T, 2] metres per second, scene frame; counts only where ``velocity_valid``."""
        return self.state[..., 3:5]

    @property
    def size(self) -> Tensor:
        """[B, A, T, 3] length, width, height in metres; 0 where the dataset has none."""
        return self.state[..., 5:8]

    @property
    def valid(self) -> Tensor:
        """[B, A, T] bool: there is a state."""
        return self.flags[..., 0]

    @property
    def measured(self) -> Tensor:
        """[B, A, T] bool: the state was recorded, not interpolated."""
        return self.flags[..., 1]

    @property
    def velocity_valid(self) -> Tensor:
        """[B, A, T] bool: there is a velocity."""
        return self.flags[..., 2]

    @property
    def heading_valid(self) -> Tensor:
        """[B, A, T] bool: there is a heading."""
        return self.flags[..., 3]


@dataclass
class SceneBatch:
    """A batch of scenes. Future values are in ``target`` and nowhere else."""

    origin: Tensor  # [B, 2] float64, world frame: world = scene + origin
    time: Tensor  # [B, H] float32, recorded seconds relative to now (the last is 0)
    history: Steps  # [B, A, H, ...]
    pose: Tensor  # [B, A, 3] float32: x, y, heading at the last valid step (see headings.py)
    age: Tensor  # [B, A] float32, seconds from that step to now
    type: Tensor  # [B, A] int64, AgentType
    roles: Tensor  # [B, A] int64, Role bits
    predict: Tensor  # [B, A] bool: a mode covers this agent
    map_points: Tensor  # [B, M, P, 2] float32
    map_mask: Tensor  # [B, M] bool
    map_pose: Tensor  # [B, M, 3] float32: middle of the piece and its direction there
    map_category: Tensor  # [B, M, 5] int64, see CATEGORIES
    map_attributes: Tensor  # [B, M, 2] float32, see ATTRIBUTES
    lane_edges: Tensor  # [B, E, 4] int64: source, destination, EdgeKind, opposite; -1 is padding
    target: Steps  # [B, A, F, ...]; all flags False where there is no future
    scene_key: Tensor  # [B] int64, stable hash of the scene id
    track_key: Tensor  # [B, A] int64, stable hash of the track id; 0 is padding
    scene_id: list[str] = field(default_factory=list)
    track_id: list[npt.NDArray[np.str_]] = field(default_factory=list)  # per scene, without padding
    dropped: dict[str, int] = field(default_factory=dict)  # what caps and TimeSpecs cut, by name

    def __len__(self) -> int:
        return int(self.origin.shape[0])

    @property
    def agent_mask(self) -> Tensor:
        """[B, A] bool: a real agent, not padding."""
        return self.history.valid.any(dim=-1)

    def to(self, device: torch.device | str, *, non_blocking: bool = False) -> SceneBatch:
        """The batch on another device; ids stay where they are."""
        return self.map(lambda t: t.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> SceneBatch:
        """The batch in page-locked memory."""
        return self.map(lambda t: t.pin_memory())

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Every tensor with its dotted name, in a fixed order."""
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Tensor):
                yield item.name, value
            elif isinstance(value, Steps):
                yield f"{item.name}.state", value.state
                yield f"{item.name}.flags", value.flags

    def map(self, function: Callable[[Tensor], Tensor]) -> SceneBatch:
        """The batch with ``function`` applied to every tensor."""
        changed: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Tensor):
                value = function(value)
            elif isinstance(value, Steps):
                value = Steps(function(value.state), function(value.flags))
            changed[item.name] = value
        return SceneBatch(**changed)
