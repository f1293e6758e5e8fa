"""The largest batch is tried before the first step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from motionpred.errors import TrainingError
from motionpred.graph import BatchOptions, SceneBatch
from motionpred.models import load_bundle
from motionpred.models.regression import Regression
from motionpred.scene import Scene, TimeSpec
from motionpred.testing import make_scene, make_tracks
from motionpred.training import TrainConfig, TrainerConfig, train
from motionpred.training.largest_batch import BatchSize, largest_batch
from motionpred.training.module import ForecastTraining
from motionpred.training.order import SceneOrder
from motionpred.training.steps import TrainScenes, TrainSteps

Small = Callable[..., TrainConfig]
CLOCK = TimeSpec(0.1, 2, 1)


def crowd(name: str, agents: int) -> Scene:
    return make_scene(make_tracks(np.zeros((agents, 3, 2))), now=1, scene_id=name)


def size(scenes: list[Scene], options: BatchOptions | None = None, **trainer: Any) -> BatchSize:
    config = TrainerConfig(**{"batch_size": 4, **trainer})
    order = SceneOrder((len(scenes),), config.batch_size, config.seed)
    source = TrainScenes(scenes, CLOCK, options or BatchOptions(), order)
    return BatchSize.of(largest_batch(TrainSteps(source, config)))


def test_it_is_as_wide_as_the_widest_scene_and_has_as_many_as_a_part() -> None:
    scenes = [*[crowd(f"s{i}", 5) for i in range(9)], crowd("large", 60)]

    assert size(scenes) == BatchSize(4, 64, 32)
    assert size(scenes, accumulate=2) == BatchSize(2, 64, 32)
    assert size(scenes, part_tokens=300) == BatchSize(3, 64, 32)
    assert size(scenes, part_tokens=10) == BatchSize(1, 64, 32)
    assert size(scenes[:2] + scenes[-1:]) == BatchSize(3, 64, 32)  # there are not more scenes


def test_caps_bound_it() -> None:
    # Every agent of these scenes is SCORED and stays; so the cap is tried on UNSCORED ones.
    from motionpred.scene import Role

    tracks = make_tracks(np.zeros((60, 3, 2)), roles=[Role.UNSCORED] * 60)
    scene = make_scene(tracks, now=1, scene_id="large")

    assert size([crowd("small", 3), scene], BatchOptions(max_agents=16)) == BatchSize(2, 16, 32)


def test_a_lack_of_memory_is_told_at_the_start_with_what_to_lower(
    small: Small, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loss(self: Any, batch: SceneBatch, *, seed: int, epoch: int) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")

    monkeypatch.setattr(Regression, "loss", loss)
    with pytest.raises(TrainingError) as caught:
        train(small(store, tmp_path))

    assert "does not fit into memory: 2 scenes of 8 agents and 32 map pieces" in str(caught.value)
    assert "trainer.part_tokens" in str(caught.value)


def test_trying_it_changes_nothing_and_its_size_is_written_down(
    small: Small, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free: list[bool] = []

    def start(self: ForecastTraining, batch: Any, batch_idx: int) -> None:
        free.append(all(parameter.grad is None for parameter in self.parameters()))

    monkeypatch.setattr(ForecastTraining, "on_train_batch_start", start)
    tried = train(small(store, tmp_path / "tried"))
    assert free[0]  # its memory is free again
    not_tried = train(small(store, tmp_path / "not", check_largest=False))

    expected = load_bundle(not_tried.bundle).model.state_dict()
    for name, value in load_bundle(tried.bundle).model.state_dict().items():
        assert torch.equal(value, expected[name])
    summary = json.loads((tried.run / "run.json").read_text())
    assert summary["largest_batch"] == {"scenes": 2, "agents": 8, "map_pieces": 32}
