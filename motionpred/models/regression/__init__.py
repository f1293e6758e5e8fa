"""Joint regression: K futures of the whole scene in one pass."""

from motionpred.models.contract import ForecastModel
from motionpred.models.regression.config import RegressionConfig
from motionpred.models.regression.model import Regression

MODELS: dict[str, type[ForecastModel]] = {Regression.name: Regression}

__all__ = ["MODELS", "Regression", "RegressionConfig"]
