"""Constant velocity: the mean step of the last second, again and again.

Shapes: B scenes, A agents, T future steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from motionpred.graph import SceneBatch
from motionpred.models.baselines.baseline import Baseline, one_mode
from motionpred.models.contract import Forecast
from motionpred.models.layers.recent_motion import RECENT_STEPS, Clock, recent_motion


@dataclass(frozen=True)
class ConstantVelocityConfig:
    """Settings of ``constant-velocity``."""

    steps: int = (
        RECENT_STEPS  # recorded steps that the velocity is taken over; fewer where fewer exist
    )
    clock: Clock = "steps"  # divide by steps, or by recorded time


class ConstantVelocity(Baseline):
    """``p(now + k) = p(now) + k d``, d the mean displacement of the last ``steps`` steps."""

    name: ClassVar[str] = "constant-velocity"
    Config: ClassVar[type[ConstantVelocityConfig]] = ConstantVelocityConfig
    config: ConstantVelocityConfig

    def continue_motion(self, batch: SceneBatch) -> Forecast:
        """One mode; the heading stays what it is."""
        motion = recent_motion(batch, self.time, steps=self.config.steps, clock=self.config.clock)
        step_T = self.horizon(batch.pose)
        displacement_BAT2 = motion.displacement[:, :, None] * step_T[:, None]
        heading_BAT = batch.pose[..., 2:].expand(-1, -1, len(step_T))
        return one_mode(batch, displacement_BAT2, heading_BAT)
