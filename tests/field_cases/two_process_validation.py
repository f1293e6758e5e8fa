"""Validates the scenes of F22 in two processes and prints the figures; run by test_f22."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

import numpy as np
import torch
from pytorch_lightning import Trainer

from motionpred.graph import BatchOptions, SceneBatch
from motionpred.metrics import get_protocol, report_to_json
from motionpred.models import Forecast, ForecastModel, Term
from motionpred.scene import Scene, TimeSpec
from motionpred.testing import make_scene, make_tracks
from motionpred.training.config import TrainerConfig
from motionpred.training.data import SceneData
from motionpred.training.module import ForecastTraining
from motionpred.training.order import SceneOrder
from motionpred.training.steps import TrainScenes

CLOCK = TimeSpec(0.1, 1, 1)
FDE = {"a": [6.0], "b": [2.0, 2.0, 2.0], "c": [4.0]}


@dataclass(frozen=True)
class _Settings:
    pass


class Stay(ForecastModel):
    """Everybody stays: the endpoint error is the distance that an agent goes."""

    name = "stay"
    Config = _Settings

    def __init__(self) -> None:
        super().__init__(_Settings(), CLOCK)
        self.nothing = torch.nn.Parameter(torch.zeros(()))

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        return {"nothing": Term(self.nothing, torch.ones(()))}

    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        position = batch.pose[:, None, :, None, :2]
        return Forecast(position.clone(), torch.ones(len(batch), 1))


def scene(name: str) -> Scene:
    """Agents that go as far as their error is to be."""
    position = np.array([[(0.0, 10.0 * i), (d, 10.0 * i)] for i, d in enumerate(FDE[name])])
    return make_scene(make_tracks(position), now=0, scene_id=name)


def main() -> None:
    """Two processes, three scenes: one process has two of them."""
    config = TrainerConfig(batch_size=1)
    scenes = [scene(name) for name in FDE]
    source = TrainScenes(scenes, CLOCK, BatchOptions(), SceneOrder((3,), 1, 0))
    module = ForecastTraining(Stay(), config, BatchOptions(), protocol=get_protocol("joint")())
    trainer = Trainer(
        accelerator="cpu",
        devices=2,
        strategy="ddp",
        use_distributed_sampler=False,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.validate(module, SceneData(source, scenes, config), verbose=False)
    if trainer.is_global_zero:
        sys.stdout.write(json.dumps(report_to_json(module.report)) + "\n")


if __name__ == "__main__":
    main()
