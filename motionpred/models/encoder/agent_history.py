"""The history of an agent, in its own frame, as one token.

Shapes: B scenes, A agents, H history steps, P spans of S steps each, F features a step, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, pad

from motionpred.graph import SceneBatch
from motionpred.graph.batch import FLAGS
from motionpred.models.layers.frames import rotate
from motionpred.models.layers.recent_motion import recent_motion
from motionpred.scene import AgentType, TimeSpec

_STEP_FEATURES = 6 + FLAGS
_EXTRA = 6  # mean motion (2), age (1), size (3)
_LENGTH = 10.0  # metres, and metres per second, that count as 1
_SPAN = 0.5  # seconds of history that one shared map sums up


class AgentHistory(nn.Module):
    """Spans of half a second by one shared map, then all side by side; invalid is 0 and flagged."""

    def __init__(self, width: int, time: TimeSpec) -> None:
        super().__init__()
        self.time = time
        self.span = max(round(_SPAN / time.dt), 1)
        spans, channels = -(-time.history // self.span), width // 4
        self.steps = nn.Linear(self.span * _STEP_FEATURES, channels)
        self.hidden = nn.Linear(spans * channels + _EXTRA, 2 * width)
        self.kind = nn.Embedding(len(AgentType), 2 * width)
        nn.init.normal_(self.kind.weight, std=0.1)
        self.out = nn.Linear(2 * width, width)

    def forward(self, batch: SceneBatch, pose_BA3: Tensor) -> Tensor:
        """Tokens ``[B, A, D]``; ``pose_BA3`` are the own frames (at the last valid step)."""
        step_BAHF = self._steps(batch, pose_BA3)
        missing = -step_BAHF.shape[2] % self.span
        span_BAPX = torch.unflatten(pad(step_BAHF, (0, 0, missing, 0)), 2, (-1, self.span)).flatten(
            -2
        )
        motion = recent_motion(batch, self.time, steps=10)
        speed_BA2 = rotate(motion.displacement / self.time.dt, -pose_BA3[..., 2]) / _LENGTH
        age_BA1 = torch.where(batch.agent_mask, batch.age, 0.0)[..., None]
        size_BA3 = torch.where(batch.history.valid[..., None], batch.history.size, 0.0).amax(2)
        inputs = [gelu(self.steps(span_BAPX)).flatten(2), speed_BA2, age_BA1, size_BA3 / _LENGTH]
        hidden = self.hidden(torch.cat(inputs, dim=-1)) + self.kind(batch.type)
        return self.out(gelu(hidden))

    def _steps(self, batch: SceneBatch, pose_BA3: Tensor) -> Tensor:
        """Position, direction and velocity in the own frame, and the flags: ``[B, A, H, F]``."""
        history = batch.history
        offset_BAH2 = (history.position - pose_BA3[:, :, None, :2]) / _LENGTH
        direction_BAH2 = torch.stack([torch.cos(history.heading), torch.sin(history.heading)], -1)
        vectors_BAH32 = torch.stack([offset_BAH2, direction_BAH2, history.velocity / _LENGTH], -2)
        own_BAH32 = rotate(vectors_BAH32, -pose_BA3[:, :, None, None, 2])
        known_BAH3 = torch.stack([history.valid, history.valid, history.velocity_valid], dim=-1)
        own_BAH32 = torch.where(known_BAH3[..., None], own_BAH32, 0.0)
        return torch.cat([own_BAH32.flatten(-2), history.flags.to(own_BAH32.dtype)], dim=-1)
