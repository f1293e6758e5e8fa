"""Forecasts of scenes, and the file that holds those of many. Needs numpy; pyarrow for files."""

from motionpred.prediction.file import (
    ForecastFile,
    is_forecast_file,
    load_predictions,
    save_predictions,
)
from motionpred.prediction.prediction import Prediction

__all__ = [
    "ForecastFile",
    "Prediction",
    "is_forecast_file",
    "load_predictions",
    "save_predictions",
]
