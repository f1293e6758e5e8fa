"""Constant turn rate and velocity (CTRV): an arc through the last second, continued.

Shapes: B scenes, A agents, T future steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from motionpred.graph import SceneBatch
from motionpred.models.baselines.baseline import Baseline, one_mode
from motionpred.models.contract import Forecast
from motionpred.models.layers.recent_motion import RECENT_STEPS, Clock, RecentMotion, recent_motion
from motionpred.models.layers.turning import half_sinc, turned


@dataclass(frozen=True)
class TurnAndVelocityConfig:
    """Settings of ``ctrv``."""

    steps: int = (
        RECENT_STEPS  # recorded steps that the motion is taken over; fewer where fewer exist
    )
    clock: Clock = "steps"  # divide by steps, or by recorded time
    max_turn_rate: float = 1.0  # rad/s; a faster change of heading is a jump of the label


class TurnAndVelocity(Baseline):
    """An arc of constant speed and turn rate; a straight line where nothing turns."""

    name: ClassVar[str] = "ctrv"
    Config: ClassVar[type[TurnAndVelocityConfig]] = TurnAndVelocityConfig
    config: TurnAndVelocityConfig

    def continue_motion(self, batch: SceneBatch) -> Forecast:
        """One mode; the heading turns with the path."""
        motion = recent_motion(
            batch,
            self.time,
            steps=self.config.steps,
            clock=self.config.clock,
            max_turn_rate=self.config.max_turn_rate,
        )
        step_T = self.horizon(batch.pose)
        angle_BAT = motion.turn[..., None] * step_T
        velocity_BA2 = velocity_now(motion)
        forward_BAT = step_T * half_sinc(angle_BAT)
        displacement_BAT2 = turned(
            velocity_BA2[:, :, None], angle_BAT / 2, forward_BAT, forward_BAT * 0
        )
        return one_mode(batch, displacement_BAT2, batch.pose[..., 2:] + angle_BAT)


def velocity_now(motion: RecentMotion) -> Tensor:
    """Velocity ``[B, A, 2]`` (metres per step) at the end of the arc whose chord was measured.

    The chord is shorter than the arc and points half the turn back.
    """
    angle_BA = motion.turn * motion.elapsed
    stretch_BA = 1 / half_sinc(angle_BA).clamp(min=0.5)  # 0.5: an arc that turns by 3.8 rad
    return turned(motion.displacement, angle_BA / 2, stretch_BA, stretch_BA * 0)
