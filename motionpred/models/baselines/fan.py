"""The fan: six scene modes that keep, halve or raise the speed, or turn everybody left or right.

Shapes: B scenes, K modes, A agents, T future steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from motionpred.graph import SceneBatch
from motionpred.models.baselines.baseline import Baseline
from motionpred.models.contract import Forecast
from motionpred.models.layers.fan_modes import FAN, fan_paths, fan_turns
from motionpred.models.layers.recent_motion import RECENT_STEPS, Clock, recent_motion


@dataclass(frozen=True)
class FanConfig:
    """Settings of ``fan``."""

    turn_rate: float = 0.15  # rad/s of the two turning modes
    steps: int = (
        RECENT_STEPS  # recorded steps that the velocity is taken over; fewer where fewer exist
    )
    clock: Clock = "steps"  # divide by steps, or by recorded time


class Fan(Baseline):
    """Constant velocity in six variants with fixed probabilities: what no learning can do."""

    name: ClassVar[str] = "fan"
    Config: ClassVar[type[FanConfig]] = FanConfig
    config: FanConfig

    def continue_motion(self, batch: SceneBatch) -> Forecast:
        """Six modes; everybody in the scene does the same in a mode."""
        motion = recent_motion(batch, self.time, steps=self.config.steps, clock=self.config.clock)
        step_T = self.horizon(batch.pose)
        turn = self.config.turn_rate * self.time.dt
        path_BKAT2 = fan_paths(motion.displacement, step_T, turn)
        turns_KAT = fan_turns(step_T, turn)[:, None]
        probability_K = batch.pose.new_tensor([probability for _, _, probability in FAN])
        return Forecast(
            position=batch.pose[:, None, :, None, :2] + path_BKAT2,
            heading=batch.pose[:, None, :, None, 2] + turns_KAT,
            probability=probability_K.expand(len(batch), -1),
        )
