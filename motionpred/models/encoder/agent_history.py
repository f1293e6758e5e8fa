"""The history of an agent, in its own frame, as one token.

Shapes: B scenes, A agents, H history steps, F features a step, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from motionpred.graph import SceneBatch
from motionpred.graph.batch import FLAGS
from motionpred.models.layers.feed_forward import FeedForward, mlp
from motionpred.models.layers.frames import rotate, to_own
from motionpred.models.layers.recent_motion import RECENT_STEPS, recent_motion
from motionpred.scene import AgentType, TimeSpec

_STEP_FEATURES = 6 + FLAGS
_EXTRA = 6  # mean motion (2), age (1), size (3)
_LENGTH = 10.0  # metres, and metres per second, that count as 1


class AgentHistory(nn.Module):
    """All steps side by side through an MLP; what is not valid is 0 and flagged."""

    def __init__(self, width: int, time: TimeSpec) -> None:
        super().__init__()
        self.time = time
        self.steps = mlp(time.history * _STEP_FEATURES + _EXTRA, 2 * width, width)
        self.kind = nn.Embedding(len(AgentType), width)
        nn.init.normal_(self.kind.weight, std=0.1)
        self.mix = FeedForward(width)

    def forward(self, batch: SceneBatch, pose_BA3: Tensor) -> Tensor:
        """Tokens ``[B, A, D]``; ``pose_BA3`` are the own frames (at the last valid step)."""
        steps_BAX = self._steps(batch, pose_BA3).flatten(2)  # X = H * F
        motion = recent_motion(batch, self.time, steps=RECENT_STEPS)
        speed_BA2 = rotate(motion.displacement / self.time.dt, -pose_BA3[..., 2]) / _LENGTH
        age_BA1 = torch.where(batch.agent_mask, batch.age, 0.0)[..., None]
        valid_BAH1 = batch.history.valid[..., None]
        size_BA3 = torch.where(valid_BAH1, batch.history.size, 0.0).amax(2) / _LENGTH
        inputs = torch.cat([steps_BAX, speed_BA2, age_BA1, size_BA3], dim=-1)
        return self.mix(self.steps(inputs) + self.kind(batch.type))

    def _steps(self, batch: SceneBatch, pose_BA3: Tensor) -> Tensor:
        history = batch.history
        frame_BA13 = pose_BA3[:, :, None]
        position_BAH2 = to_own(history.position, frame_BA13) / _LENGTH
        turn_BAH = history.heading - frame_BA13[..., 2]
        direction_BAH2 = torch.stack([torch.cos(turn_BAH) - 1, torch.sin(turn_BAH)], dim=-1)
        velocity_BAH2 = rotate(history.velocity, -frame_BA13[..., 2]) / _LENGTH
        velocity_BAH2 = torch.where(history.velocity_valid[..., None], velocity_BAH2, 0.0)
        state_BAH6 = torch.cat([position_BAH2, direction_BAH2, velocity_BAH2], dim=-1)
        state_BAH6 = torch.where(history.valid[..., None], state_BAH6, 0.0)
        return torch.cat([state_BAH6, history.flags.to(state_BAH6.dtype)], dim=-1)
