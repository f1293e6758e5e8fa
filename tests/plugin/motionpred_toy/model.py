"""Constant velocity times one learned number."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from motionpred.graph import SceneBatch
from motionpred.models import Forecast, ForecastModel, Term
from motionpred.scene import TimeSpec


@dataclass(frozen=True)
class DriftConfig:
    """Settings of :class:`Drift`."""

    start: float = 0.5


class Drift(ForecastModel):
    """The last velocity, held, times one learned factor; one mode."""

    name = "toy-drift"
    Config = DriftConfig

    def __init__(self, config: DriftConfig, time: TimeSpec) -> None:
        super().__init__(config, time)
        self.factor = nn.Parameter(torch.tensor(config.start))

    def _path(self, batch: SceneBatch) -> Tensor:
        known = batch.history.velocity_valid[:, :, -1, None]
        velocity = torch.where(known, batch.history.velocity[:, :, -1], 0.0)
        ahead = torch.arange(1, self.time.future + 1, device=velocity.device) * self.time.dt
        step = self.factor * velocity[:, :, None] * ahead[:, None].to(velocity.dtype)
        return batch.pose[:, :, None, :2] + step

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        counted = batch.target.valid & batch.predict[..., None]
        error = (self._path(batch) - batch.target.position).abs().sum(-1)
        return {"distance": Term(torch.where(counted, error, 0.0).sum(), counted.sum())}

    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        path = self._path(batch)
        return Forecast(path[:, None], torch.ones(len(batch), 1, device=path.device))
