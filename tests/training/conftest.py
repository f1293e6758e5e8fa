"""Small stores and settings: a training of seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from motionpred.datasets import get_adapter
from motionpred.datasets.argoverse2 import write_scene
from motionpred.scene import Scene
from motionpred.store import prepare
from motionpred.testing import crossing_scene
from motionpred.training import ModelChoice, TrainConfig, TrainerConfig, train
from motionpred.training.module import ForecastTraining


def _make_store(folder: Path, scenes: list[Scene]) -> Path:
    for scene in scenes:
        write_scene(scene, folder / "raw")
    prepare(get_adapter("argoverse2"), folder / "raw", folder / "store")
    return folder / "store"


def _small(store: Path, out: Path, val_store: Path | None = None, **trainer: Any) -> TrainConfig:
    settings = {
        "max_steps": 4,
        "batch_size": 2,
        "warmup_steps": 1,
        "val_every": 2,
        "log_every": 1,
        "accelerator": "cpu",
        **trainer,
    }
    return TrainConfig(
        store=str(store),
        val_store=None if val_store is None else str(val_store),
        model=ModelChoice("regression", {"size": "nano"}),
        trainer=TrainerConfig(**settings),
        out=str(out),
    )


@pytest.fixture(scope="session")
def make_store() -> Callable[..., Path]:
    """Writes scenes into a store: ``make_store(folder, scenes)``."""
    return _make_store


@pytest.fixture(scope="session")
def small() -> Callable[..., TrainConfig]:
    """Settings of a short training: ``small(store, out, val_store, **trainer)``."""
    return _small


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five training scenes."""
    scenes = [crossing_scene(f"s{i}", seed=i) for i in range(5)]
    return _make_store(tmp_path_factory.mktemp("train"), scenes)


@pytest.fixture(scope="session")
def val_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three validation scenes."""
    scenes = [crossing_scene(f"v{i}", seed=10 + i, split="val") for i in range(3)]
    return _make_store(tmp_path_factory.mktemp("val"), scenes)


class _PowerCut(Exception):
    """The training ended without any notice."""


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Callable[[TrainConfig, int], Path]:
    """``stopped(config, n)``: the folder of a run that ended without notice in step n (from 0)."""

    def run(config: TrainConfig, step: int) -> Path:
        whole_step = ForecastTraining.training_step

        def training_step(self: ForecastTraining, batch: Any, batch_idx: int) -> Any:
            if self.trainer.global_step == step:
                raise _PowerCut
            return whole_step(self, batch, batch_idx)

        with monkeypatch.context() as patch, pytest.raises(_PowerCut):
            patch.setattr(ForecastTraining, "training_step", training_step)
            train(config)
        (folder,) = Path(config.out).iterdir()
        return folder

    return run
