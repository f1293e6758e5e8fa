"""The regression model: scene encoder, scene-mode decoder, paths on top of a fan of motions.

Shapes: B scenes, K modes, A agents, T future steps, D width.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from motionpred.graph import SceneBatch
from motionpred.models.contract import Forecast, ForecastModel, Term
from motionpred.models.encoder import SIZES, SceneEncoder
from motionpred.models.layers.fan_modes import FAN, fan_paths
from motionpred.models.layers.frames import from_own, full_precision, rotate, to_own
from motionpred.models.layers.recent_motion import RECENT_STEPS, recent_motion
from motionpred.models.modes import top_modes
from motionpred.models.regression.config import RegressionConfig
from motionpred.models.regression.decoder import SceneModeDecoder, SceneScore
from motionpred.models.regression.loss import agent_weights, joint_terms, temperature
from motionpred.scene import TimeSpec

_SPEED = 5.0  # m/s that one unit of the head's output adds
_SCALE = (0.1, 50.0)  # metres, least and largest Laplace b


class OwnFrameModes(NamedTuple):
    """Joint modes in the own frames of the agents."""

    position: Tensor  # [B, K, A, T, 2] metres
    scale: Tensor  # [B, K, A, T, 2] Laplace b
    logit: Tensor  # [B, K]


class PathHead(nn.Module):
    """Change of velocity and growth of the scale at every step, summed up over time."""

    def __init__(self, width: int, time: TimeSpec) -> None:
        super().__init__()
        self.dt = time.dt
        self.hidden = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU())
        self.out = nn.Linear(2 * width, time.future * 4)
        with torch.no_grad():
            self.out.weight.mul_(0.1)  # the first forecasts are those of the anchors
            self.out.bias.zero_()

    def forward(self, x_BKAD: Tensor) -> tuple[Tensor, Tensor]:
        """Displacement from the anchor path and Laplace scale, both ``[B, K, A, T, 2]``."""
        hidden = self.hidden(x_BKAD)
        with torch.autocast(hidden.device.type, enabled=False):
            rate_BKAT4 = self.out(full_precision(hidden)).unflatten(-1, (-1, 4))
            moved_BKAT2 = (rate_BKAT4[..., :2] * (_SPEED * self.dt)).cumsum(-2)
            spread_BKAT2 = (softplus(rate_BKAT4[..., 2:]) * self.dt).cumsum(-2)
        return moved_BKAT2, (_SCALE[0] + spread_BKAT2).clamp(max=_SCALE[1])


class Regression(ForecastModel):
    """Six joint futures in one pass; each starts from one motion of the fan."""

    name: ClassVar[str] = "regression"
    Config: ClassVar[type[RegressionConfig]] = RegressionConfig
    config: RegressionConfig

    def __init__(self, config: RegressionConfig, time: TimeSpec) -> None:
        super().__init__(config, time)
        size = SIZES[config.size]
        self.encoder = SceneEncoder(size, time)
        self.decoder = SceneModeDecoder(size, len(FAN))
        self.path = PathHead(size.width, time)
        self.score = SceneScore(size.width)
        prior_K = torch.tensor([probability for _, _, probability in FAN])
        self.prior = nn.Parameter(prior_K.log())

    def forward(self, batch: SceneBatch) -> OwnFrameModes:
        """All modes of all agents; entries of agents without ``predict`` mean nothing."""
        x_BKAD = self.decoder(self.encoder(batch))
        moved_BKAT2, scale_BKAT2 = self.path(x_BKAD)
        logit_BK = full_precision(self.score(x_BKAD, batch.predict)) + self.prior
        return OwnFrameModes(self._anchors(batch) + moved_BKAT2, scale_BKAT2, logit_BK)

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        """``path``, ``scale`` and ``score``, see :func:`joint_terms`; nothing is random."""
        modes = self(batch)
        config = self.config
        return joint_terms(
            modes.position,
            modes.scale,
            modes.logit,
            target=to_own(batch.target.position, batch.pose[:, :, None]),
            valid=batch.target.valid,
            weight=agent_weights(batch, config.other_weight),
            temperature=temperature(
                epoch, config.anneal_epochs, config.temperature, config.final_temperature
            ),
        )

    @torch.no_grad()
    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        """At most six joint futures, most probable first; ``seed`` changes nothing."""
        own = self(batch)
        forecast = Forecast(
            position=from_own(own.position, batch.pose[:, None, :, None]),
            probability=own.logit.softmax(-1),
            scale=own.scale,
        )
        return top_modes(forecast, modes)

    def _anchors(self, batch: SceneBatch) -> Tensor:
        """Paths ``[B, K, A, T, 2]`` of the fan in the own frames."""
        motion = recent_motion(batch, self.time, steps=RECENT_STEPS)
        step_BA2 = rotate(motion.displacement, -batch.pose[..., 2])
        step_T = torch.arange(1, self.time.future + 1, device=step_BA2.device, dtype=step_BA2.dtype)
        return fan_paths(step_BA2, step_T, self.config.turn_rate * self.time.dt)
