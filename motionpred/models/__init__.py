"""Forecasting models: the contract, the zoo by name, and bundles that carry trained ones."""

from motionpred.models.bundle import LoadedBundle, load_bundle, save_bundle
from motionpred.models.card import Card
from motionpred.models.checkpoint import read_checkpoint
from motionpred.models.contract import Forecast, ForecastModel, Term
from motionpred.models.registry import build_model, get_model, model_names, registry

__all__ = [
    "Card",
    "Forecast",
    "ForecastModel",
    "LoadedBundle",
    "Term",
    "build_model",
    "get_model",
    "load_bundle",
    "model_names",
    "read_checkpoint",
    "registry",
    "save_bundle",
]
