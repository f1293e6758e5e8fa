"""Averaged weights: what is validated and saved where they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from motionpred.errors import ConfigError
from motionpred.inference import load
from motionpred.metrics import evaluate, get_protocol
from motionpred.models import load_bundle
from motionpred.models.checkpoint import read_checkpoint
from motionpred.store import Store
from motionpred.training import TrainConfig, TrainerConfig, train

Small = Callable[..., TrainConfig]


def test_the_bundle_holds_the_average_and_its_figures_are_those_of_the_validation(
    small: Small, store: Path, val_store: Path, tmp_path: Path
) -> None:
    result = train(small(store, tmp_path, val_store, ema_decay=0.9, learning_rate=1e-2))

    saved = load_bundle(result.run / "last").model.state_dict()
    checkpoint = read_checkpoint(result.run / "checkpoints" / "last.ckpt")
    now = checkpoint["current_model_state"]
    assert any(not torch.equal(value, now[f"model.{name}"]) for name, value in saved.items())
    scenes = [Store(val_store)[i] for i in range(3)]
    forecasts = load(result.run / "last").predict_many(scenes)
    report = evaluate(get_protocol("argoverse2-multi")(), zip(scenes, forecasts, strict=True))
    assert result.metrics["avgMinFDE@6"] == pytest.approx(report.value("avgMinFDE", 6), rel=1e-6)


def test_the_best_bundle_holds_the_average_of_its_step(
    small: Small, store: Path, val_store: Path, tmp_path: Path
) -> None:
    result = train(small(store, tmp_path, val_store, ema_decay=0.9, learning_rate=1e-2))

    rows = [row.split(",") for row in (result.run / "metrics.csv").read_text().splitlines()]
    best = min(float(value) for _, name, value in rows if name == "val/avgMinFDE@6")
    scenes = [Store(val_store)[i] for i in range(3)]
    forecasts = load(result.run / "best").predict_many(scenes)
    report = evaluate(get_protocol("argoverse2-multi")(), zip(scenes, forecasts, strict=True))
    assert report.value("avgMinFDE", 6) == pytest.approx(best, rel=1e-6)


def test_training_goes_on_with_the_weights_themselves(
    small: Small, store: Path, val_store: Path, tmp_path: Path
) -> None:
    plain = train(small(store, tmp_path / "plain", val_store))
    averaged = train(small(store, tmp_path / "averaged", val_store, ema_decay=0.99))

    checkpoint = read_checkpoint(averaged.run / "checkpoints" / "last.ckpt")
    for name, value in load_bundle(plain.run / "last").model.state_dict().items():
        assert torch.equal(value, checkpoint["current_model_state"][f"model.{name}"])


def test_the_average_of_a_short_run_is_not_its_first_weights() -> None:
    from motionpred.training.averaging import AveragedWeights

    average = AveragedWeights(0.999)._kwargs["avg_fn"]
    value = torch.zeros(())
    for step in range(1, 101):
        value = average(value, torch.ones(()), torch.tensor(step))

    assert value > 0.99


def test_a_decay_of_one_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"trainer\.ema_decay"):
        TrainerConfig(ema_decay=1.0)
