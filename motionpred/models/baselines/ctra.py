"""Constant turn rate and acceleration (CTRA), in closed form.

With speed ``v``, acceleration ``a``, turn rate ``w`` and ``x = w t``, the displacement is, as a
complex number in the frame of the present direction,
``exp(i x / 2) [(v t + a t² / 2) sinc(x / 2) + i a t² lever(x)]``: the integral of
``(v + a s) exp(i w s)`` over ``s`` in 0 .. t, without a division by ``w``. A car that brakes stops.

Shapes: B scenes, A agents, T future steps. Units inside: metres and steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from motionpred.graph import SceneBatch
from motionpred.models.baselines.baseline import Baseline, one_mode
from motionpred.models.baselines.ctrv import velocity_now
from motionpred.models.contract import Forecast
from motionpred.models.layers.recent_motion import RECENT_STEPS, Clock, recent_motion
from motionpred.models.layers.turning import half_sinc, lever, turned


@dataclass(frozen=True)
class TurnAndAccelerationConfig:
    """Settings of ``ctra``."""

    steps: int = (
        RECENT_STEPS  # recorded steps that the motion is taken over; fewer where fewer exist
    )
    clock: Clock = "steps"  # divide by steps, or by recorded time
    max_turn_rate: float = 1.0  # rad/s; a faster change of heading is a jump of the label
    max_acceleration: float = 4.0  # m/s², either way


class TurnAndAcceleration(Baseline):
    """A path of constant turn rate whose speed changes steadily, down to a standstill."""

    name: ClassVar[str] = "ctra"
    Config: ClassVar[type[TurnAndAccelerationConfig]] = TurnAndAccelerationConfig
    config: TurnAndAccelerationConfig

    def continue_motion(self, batch: SceneBatch) -> Forecast:
        """One mode; the heading turns with the path and stops turning with it."""
        config = self.config
        motion = recent_motion(
            batch,
            self.time,
            steps=config.steps,
            clock=config.clock,
            max_turn_rate=config.max_turn_rate,
        )
        mean_BA2 = velocity_now(motion)
        mean_speed_BA = torch.linalg.vector_norm(mean_BA2, dim=-1)
        change_BA = self._acceleration(batch)
        speed_BA = (mean_speed_BA + change_BA * motion.elapsed / 2).clamp(min=0.0)
        step_T = self.horizon(batch.pose)
        # The last step of a braking car is the one at which its speed is zero.
        stop_BA = torch.where(change_BA < 0, speed_BA / (-change_BA).clamp(min=1e-9), torch.inf)
        moving_BAT = torch.minimum(step_T.expand(*stop_BA.shape, -1), stop_BA[..., None])
        angle_BAT = motion.turn[..., None] * moving_BAT
        gained_BAT = change_BA[..., None] * moving_BAT**2
        forward_BAT = (speed_BA[..., None] * moving_BAT + gained_BAT / 2) * half_sinc(angle_BAT)
        direction_BA2 = mean_BA2 / mean_speed_BA.clamp(min=1e-6)[..., None]
        displacement_BAT2 = turned(
            direction_BA2[:, :, None], angle_BAT / 2, forward_BAT, gained_BAT * lever(angle_BAT)
        )
        return one_mode(batch, displacement_BAT2, batch.pose[..., 2:] + angle_BAT)

    def _acceleration(self, batch: SceneBatch) -> Tensor:
        """``[B, A]`` metres per step²: speed of the newer half of the steps against the older."""
        config, half = self.config, max(self.config.steps // 2, 1)
        new = recent_motion(batch, self.time, steps=half, clock=config.clock)
        old = recent_motion(batch, self.time, steps=half, skip=half, clock=config.clock)
        speeds = [torch.linalg.vector_norm(m.displacement, dim=-1) for m in (old, new)]
        change_BA = (speeds[1] - speeds[0]) / ((old.elapsed + new.elapsed) / 2)
        enough_BA = batch.history.valid.sum(-1) > half + 1  # two chords need three recorded steps
        limit = config.max_acceleration * self.time.dt**2
        return torch.where(enough_BA, change_BA, 0.0).clamp(-limit, limit)
