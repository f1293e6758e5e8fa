"""Inference: load a model by name or path and forecast scenes."""

from motionpred.inference.counts import describe
from motionpred.inference.loading import load
from motionpred.inference.predictor import Predictor

__all__ = ["Predictor", "describe", "load"]
