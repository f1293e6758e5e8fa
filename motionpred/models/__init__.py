"""Forecasting models: the contract, the zoo by name, and bundles that carry trained ones."""

from motionpred.models.contract import Forecast, ForecastModel, Term
from motionpred.models.registry import build_model, get_model, model_names, registry

__all__ = [
    "Forecast",
    "ForecastModel",
    "Term",
    "build_model",
    "get_model",
    "model_names",
    "registry",
]
