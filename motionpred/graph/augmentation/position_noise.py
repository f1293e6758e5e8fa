"""Trackers are not exact: past positions with noise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from motionpred.graph.augmentation.draws import Draws
from motionpred.graph.batch import SceneBatch, Steps


@dataclass(frozen=True)
class PositionNoise:
    """Normal noise of ``deviation`` metres on every valid past position but the last.

    The last is the agent's pose, in whose frame the future is told: it stays.
    """

    deviation: float

    def __call__(self, batch: SceneBatch, draws: Draws) -> SceneBatch:
        """The batch with noise on past positions."""
        valid = batch.history.valid
        steps = valid.shape[-1]
        index = torch.arange(steps, device=valid.device)
        last = torch.where(valid, index, -1).amax(dim=-1, keepdim=True)
        noisy = valid & (index < last)
        noise = draws.normal(batch, "position noise", (steps, 2)) * self.deviation
        state = batch.history.state.clone()
        state[..., :2] += torch.where(noisy[..., None], noise.to(state.dtype), 0.0)
        return replace(batch, history=Steps(state, batch.history.flags))
