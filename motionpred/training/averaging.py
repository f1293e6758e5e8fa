"""Averaged weights: calmer than the last ones, and usually better."""

from __future__ import annotations

from typing import Any

import torch
from pytorch_lightning.callbacks import WeightAveraging
from torch import Tensor

from motionpred.models import ForecastModel


class AveragedWeights(WeightAveraging):
    """Exponential moving average of the weights after every step.

    Validations and bundles take the average; training goes on with the weights themselves. The
    decay grows with the steps, min(decay, (1 + n) / (10 + n)), so that a short run is not an
    average with its first, random weights.
    """

    def __init__(self, decay: float) -> None:
        def average(averaged: Tensor, current: Tensor, count: Tensor | int) -> Tensor:
            if not averaged.is_floating_point():
                return current
            steps = float(count)
            return torch.lerp(averaged, current, 1 - min(decay, (1 + steps) / (10 + steps)))

        super().__init__(avg_fn=average)

    @property
    def model(self) -> ForecastModel | None:
        """The model with the averaged weights; None before the training starts."""
        average: Any = self._average_model
        return None if average is None else average.module.model
