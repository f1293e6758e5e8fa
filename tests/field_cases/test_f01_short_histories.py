"""F01: an agent with one to three past samples is kept, and nothing is made up for it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from motionpred.graph import BatchOptions, SceneBatch, collate_scenes
from motionpred.scene import Scene, TimeSpec
from motionpred.testing import make_scene, make_tracks

CLOCK = TimeSpec(0.1, 5, 0)


@pytest.fixture
def scene() -> Scene:
    """Five steps at 10 Hz; the agent is there at steps 3 and 4, at x = 1.0 and 1.5."""
    position = np.zeros((1, 5, 2))
    position[0, 3:, 0] = [1.0, 1.5]
    return make_scene(make_tracks(position, valid=[[0, 0, 0, 1, 1]]), now=4)


def all_finite(batch: SceneBatch) -> bool:
    return all(bool(torch.isfinite(tensor).all()) for _, tensor in batch.tensors())


def test_f01_velocity_comes_from_two_valid_steps_and_the_first_has_none(scene):
    batch = collate_scenes([scene], CLOCK)
    assert batch.history.velocity[0, 0, 4].tolist() == pytest.approx([5.0, 0.0])
    assert batch.history.velocity_valid[0, 0].tolist() == [False, False, False, False, True]
    assert batch.history.velocity[0, 0, :4].abs().max() == 0
    assert all_finite(batch)


def test_f01_the_agent_is_kept_and_predicted(scene):
    batch = collate_scenes([scene], CLOCK)
    assert batch.history.valid[0, 0].tolist() == [False, False, False, True, True]
    assert batch.predict[0].tolist() == [True] + [False] * 7


def test_f01_one_rule_for_a_minimal_history_and_a_count_of_what_it_removed(scene):
    batch = collate_scenes([scene, scene], CLOCK, BatchOptions(min_history=3))
    assert not batch.predict.any()
    assert batch.agent_mask.sum() == 2
    assert batch.dropped["agents_below_min_history"] == 2


def test_f01_a_single_sample_at_now_is_enough_and_has_no_velocity():
    tracks = make_tracks(np.full((1, 5, 2), 7.0), valid=[[0, 0, 0, 0, 1]])
    batch = collate_scenes([make_scene(tracks, now=4)], CLOCK)
    assert batch.predict[0, 0]
    assert not batch.history.velocity_valid.any()
    assert all_finite(batch)
