"""From mode tokens to paths, spreads and scores.

Shapes: B scenes, K modes, Q predicted agents, S future steps that are asked for, C knots, D width.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from motionpred.models.layers.feed_forward import mlp
from motionpred.models.layers.frames import full_precision
from motionpred.models.layers.knots import knot_count
from motionpred.scene import TimeSpec

_SPEED = 5.0  # m/s that one unit of the head's output adds
_TURN = 0.5  # rad/s, likewise
_SCALE = (0.1, 50.0)  # metres, least and largest Laplace b


class Paths(NamedTuple):
    """Futures in the own frames of the agents, at some steps of the future."""

    position: Tensor  # [B, K, Q, 2, S] metres: x and y as planes, since sums over S are cheap then
    heading: Tensor  # [B, K, Q, S] radians, 0 is the heading at now


class PathHead(nn.Module):
    """Changes of velocity, turn rate and growth of the spread at knots in time."""

    def __init__(self, width: int, time: TimeSpec, *, spread: bool) -> None:
        super().__init__()
        self.knots = knot_count(time)
        self.hidden = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU())
        self.out = nn.Linear(2 * width, self.knots * (5 if spread else 3))
        with torch.no_grad():
            self.out.weight.mul_(0.1)  # the first forecasts are those of the anchors
            self.out.bias.zero_()

    def forward(self, x_BKQD: Tensor) -> Tensor:
        """Rates ``[B, K, Q, 3 or 5, C]``: x, y, turn, and the spreads in x and y; float32."""
        hidden = self.hidden(x_BKQD)
        with torch.autocast(hidden.device.type, enabled=False):
            return torch.unflatten(self.out(full_precision(hidden)), -1, (-1, self.knots))


def motion_rates(velocity_BKQ2C: Tensor, turn_K: Tensor) -> Tensor:
    """Rates ``[B, K, Q, 3, C]`` as of :class:`PathHead`, of velocities (m/s) and turns (rad/s)."""
    turn_BKQ1C = (turn_K[:, None, None, None] / _TURN).expand_as(velocity_BKQ2C[..., :1, :])
    return torch.cat([velocity_BKQ2C / _SPEED, turn_BKQ1C], dim=-2)


def paths_of(rate_BKQ3C: Tensor, integral_SC: Tensor) -> Paths:
    """Rates summed up, in full precision also under autocast."""
    with torch.autocast(rate_BKQ3C.device.type, enabled=False):
        moved_BKQ3S = rate_BKQ3C @ (integral_SC.T * _SPEED)
    position, turned = torch.split(moved_BKQ3S, [2, 1], dim=-2)
    return Paths(position, turned[..., 0, :] * (_TURN / _SPEED))


def scale_of(rate_BKQ2C: Tensor, integral_SC: Tensor) -> Tensor:
    """Laplace scale ``[B, K, Q, 2, S]``, growing over time."""
    with torch.autocast(rate_BKQ2C.device.type, enabled=False):
        return (_SCALE[0] + softplus(rate_BKQ2C) @ integral_SC.T).clamp(max=_SCALE[1])


class SceneScore(nn.Module):
    """One number for each scene mode, pooled over the predicted agents by attention."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.importance = nn.Linear(width, 1)
        self.score = mlp(width, width, 1)

    def forward(self, x_BKQD: Tensor, mask_BQ: Tensor) -> Tensor:
        """Logits ``[B, K]``; a scene with nobody to predict pools nothing."""
        mask_B1Q1 = mask_BQ[:, None, :, None]
        weight_BKQ1 = self.importance(x_BKQD).masked_fill(~mask_B1Q1, -1e9).softmax(dim=2)
        pooled_BKD = (torch.where(mask_B1Q1, x_BKQD, 0.0) * weight_BKQ1).sum(dim=2)
        return self.score(pooled_BKD).squeeze(-1)


class AgentScore(nn.Module):
    """One number for each mode of each agent."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = mlp(width, width, 1)

    def forward(self, x_BKQD: Tensor, mask_BQ: Tensor) -> Tensor:
        """Logits ``[B, Q, K]``."""
        return self.score(x_BKQD).squeeze(-1).transpose(1, 2)
