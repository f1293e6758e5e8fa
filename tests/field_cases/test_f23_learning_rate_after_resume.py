"""F23: resuming changes the learning-rate schedule."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from motionpred.errors import ConfigError
from motionpred.models import load_bundle
from motionpred.training import ModelChoice, TrainConfig, TrainerConfig, compose, train
from motionpred.training.module import ForecastTraining


class _Stop(Exception):
    pass


def rates(run: Path) -> list[float]:
    with (run / "metrics.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "train/learning_rate"]
    assert [int(row["step"]) for row in rows] == list(range(1, 61))
    return [float(row["value"]) for row in rows]


@pytest.mark.slow
def test_f23_twelve_epochs_of_five_steps_stopped_after_the_fifth(
    crossing_store: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = TrainConfig(
        store=str(crossing_store(5)),
        model=ModelChoice("regression", {"size": "nano"}),
        trainer=TrainerConfig(
            max_steps=60,
            batch_size=1,
            warmup_steps=5,
            log_every=1,
            checkpoint_every=25,
            accelerator="cpu",
        ),
        out=str(tmp_path / "whole"),
    )
    whole = train(config)
    whole_step = ForecastTraining.training_step

    def training_step(self: ForecastTraining, batch: Any, batch_idx: int) -> Any:
        if self.trainer.global_step == 25:
            raise _Stop
        return whole_step(self, batch, batch_idx)

    with monkeypatch.context() as patch, pytest.raises(_Stop):
        patch.setattr(ForecastTraining, "training_step", training_step)
        train(replace(config, out=str(tmp_path / "stopped")))
    (run,) = (tmp_path / "stopped").iterdir()
    for change in ("trainer.max_steps=120", "trainer.batch_size=2", "trainer.devices=2"):
        with pytest.raises(ConfigError, match="reschedule=true"):
            train(compose([f"resume={run}", change]))

    resumed = train(compose([f"resume={run}"]))

    assert rates(resumed.run) == pytest.approx(rates(whole.run), rel=0, abs=1e-12)
    weights = load_bundle(whole.bundle).model.state_dict()
    for name, value in load_bundle(resumed.bundle).model.state_dict().items():
        assert torch.equal(value, weights[name])
