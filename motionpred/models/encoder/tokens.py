"""What an encoder hands to a decoder.

Shapes: B scenes, A agents, M map pieces, N = A + M, D width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from motionpred.models.layers.places import Places


@dataclass
class SceneTokens:
    """One token an agent and one a map piece: features of its own frame, the pose beside them."""

    agent: Tensor  # [B, A, D]
    agent_pose: Tensor  # [B, A, 3] x, y, heading, scene frame; 0 where masked
    agent_mask: Tensor  # [B, A] bool
    map: Tensor  # [B, M, D], M >= 1
    map_pose: Tensor  # [B, M, 3]; 0 where masked
    map_mask: Tensor  # [B, M] bool
    map_directed: Tensor  # [B, M] bool: a direction exists (a stop sign is a point)
    centre: Tensor  # [B, 2] float64: from where places are measured
    places: Places  # of all N tokens, for point-rotary layers

    @property
    def both(self) -> Tensor:
        """Agent and map tokens ``[B, N, D]``."""
        return torch.cat([self.agent, self.map], dim=1)

    @property
    def pose(self) -> Tensor:
        """Their poses ``[B, N, 3]``."""
        return torch.cat([self.agent_pose, self.map_pose], dim=1)

    @property
    def mask(self) -> Tensor:
        """Which of them are real ``[B, N]``."""
        return torch.cat([self.agent_mask, self.map_mask], dim=1)

    @property
    def directed(self) -> Tensor:
        """Which of them have a heading ``[B, N]``."""
        return torch.cat([torch.ones_like(self.agent_mask), self.map_directed], dim=1)
