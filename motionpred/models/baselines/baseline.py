"""What the baselines share: nothing to train, and paths relative to where the agent is now."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from motionpred.errors import TrainingError
from motionpred.graph import SceneBatch
from motionpred.models.contract import Forecast, ForecastModel, Term
from motionpred.models.modes import top_modes


class Baseline(ForecastModel):
    """A model without parameters; a family member only writes :meth:`continue_motion`."""

    trainable: ClassVar[bool] = False

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        """There is none.

        Raises:
            TrainingError: always.
        """
        raise TrainingError(
            f"{self.name!r} has no parameters", remedy="Use it as it is: there is nothing to train"
        )

    @torch.no_grad()
    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        """At most ``modes`` futures in closed form; ``seed`` changes nothing."""
        return top_modes(self.continue_motion(batch), modes)

    @abstractmethod
    def continue_motion(self, batch: SceneBatch) -> Forecast:
        """Every mode that the model has, with joint probabilities."""

    def horizon(self, like: Tensor) -> Tensor:
        """``[T]`` steps after ``now``: 1, 2, …, in the type of ``like``."""
        return torch.arange(1, self.time.future + 1, device=like.device, dtype=like.dtype)


def one_mode(batch: SceneBatch, displacement_BAT2: Tensor, heading_BAT: Tensor) -> Forecast:
    """A forecast of a single certain mode from displacements since the last recorded step."""
    position = batch.pose[:, :, None, :2] + displacement_BAT2
    return Forecast(
        position=position[:, None],
        heading=heading_BAT[:, None],
        probability=displacement_BAT2.new_ones((len(batch), 1)),
    )
