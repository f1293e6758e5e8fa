"""A part has at most so many agents and map pieces, and parts change no result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from motionpred.graph import BatchOptions
from motionpred.models import load_bundle
from motionpred.scene import Scene, TimeSpec
from motionpred.testing import crossing_scene, make_scene, make_tracks
from motionpred.training import TrainConfig, train
from motionpred.training.parts import bounded_batches, tokens

Small = Callable[..., TrainConfig]
CLOCK = TimeSpec(0.1, 2, 1)


def crowd(name: str, agents: int) -> Scene:
    return make_scene(make_tracks(np.zeros((agents, 3, 2))), now=1, scene_id=name)


def test_parts_are_bounded_by_padded_agents_and_map_pieces() -> None:
    # Padded: 8, 8, 40 and 16 agents, and 32 map pieces each.
    scenes = [crowd("a", 5), crowd("b", 7), crowd("c", 33), crowd("d", 9)]

    parts = bounded_batches(scenes, CLOCK, BatchOptions(), 100)

    assert [part.scene_id for part in parts] == [["c"], ["d", "a"], ["b"]]
    assert [tokens(part) for part in parts] == [72, 96, 40]


def test_without_need_there_is_one_part_in_the_given_order() -> None:
    scenes = [crowd("a", 5), crowd("c", 33)]

    for bound in (None, 144):
        (part,) = bounded_batches(scenes, CLOCK, BatchOptions(), bound)
        assert part.scene_id == ["a", "c"]


def test_a_scene_that_alone_is_too_large_is_a_part_of_its_own() -> None:
    parts = bounded_batches([crowd("a", 5), crowd("c", 33)], CLOCK, BatchOptions(), 10)

    assert [part.scene_id for part in parts] == [["c"], ["a"]]


def test_bounded_parts_give_the_weights_of_one_batch(
    small: Small, make_store: Callable[..., Path], tmp_path: Path
) -> None:
    scenes = [crossing_scene("whole", seed=1), crossing_scene("short", seed=3, steps=70)]
    store = make_store(tmp_path, scenes)
    settings = {"batch_size": 2, "max_steps": 2, "precision": "64-true"}

    whole = train(small(store, tmp_path / "one", **settings))
    parts = train(small(store, tmp_path / "parts", part_tokens=50, **settings))

    expected = load_bundle(whole.bundle).model.state_dict()
    for name, value in load_bundle(parts.bundle).model.state_dict().items():
        torch.testing.assert_close(value, expected[name], atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("bound", [0, -5])
def test_a_bound_is_at_least_one(bound: int) -> None:
    from motionpred.errors import ConfigError
    from motionpred.training import TrainerConfig

    with pytest.raises(ConfigError, match=r"trainer\.part_tokens"):
        TrainerConfig(part_tokens=bound)
