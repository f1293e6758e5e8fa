"""Models without parameters: motion that goes on as it was."""

from motionpred.models.baselines.constant_velocity import ConstantVelocity
from motionpred.models.baselines.ctra import TurnAndAcceleration
from motionpred.models.baselines.ctrv import TurnAndVelocity
from motionpred.models.baselines.fan import Fan
from motionpred.models.baselines.kalman import Kalman
from motionpred.models.contract import ForecastModel

MODELS: dict[str, type[ForecastModel]] = {
    kind.name: kind
    for kind in (ConstantVelocity, Fan, Kalman, TurnAndAcceleration, TurnAndVelocity)
}

__all__ = [
    "MODELS",
    "ConstantVelocity",
    "Fan",
    "Kalman",
    "TurnAndAcceleration",
    "TurnAndVelocity",
]
