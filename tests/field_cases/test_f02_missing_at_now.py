"""F02: agents that appear after now or miss it, and placeholder coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from motionpred.graph import SceneBatch, collate_scenes
from motionpred.scene import Scene, TimeSpec
from motionpred.testing import make_scene, make_tracks
from motionpred.testing.scenes import crossing_map

CLOCK = TimeSpec(0.1, 5, 5)


@pytest.fixture
def scene() -> Scene:
    """Now is step 4 of 0..9. A is always there, B from step 5 on, C at every step but 4."""
    position = np.zeros((3, 10, 2))
    position[..., 0] = np.arange(10)
    position[..., 1] = [[0.0], [3.5], [7.0]]
    valid = np.ones((3, 10), bool)
    valid[1, :5] = False
    valid[2, 4] = False
    tracks = make_tracks(position, valid=valid, track_id=["A", "B", "C"], size=[[4, 2, 1.5]] * 3)
    return make_scene(tracks, now=4, map=crossing_map())


def assert_identical(a: SceneBatch, b: SceneBatch) -> None:
    for (name, left), (_, right) in zip(a.tensors(), b.tensors(), strict=True):
        assert torch.equal(left, right), name


def test_f02_only_who_is_there_at_now_is_predicted_and_who_comes_later_is_no_input(scene):
    batch = collate_scenes([scene], CLOCK)
    assert batch.track_id[0].tolist() == ["A", "C"]
    assert batch.predict[0].tolist() == [True, False] + [False] * 6


def test_f02_who_misses_now_is_context_at_its_last_pose_and_counted_once(scene):
    batch = collate_scenes([scene], CLOCK)
    assert batch.pose[0, 1].tolist() == pytest.approx([-1, 7, 0], abs=1e-6)
    assert batch.age[0, :2].tolist() == pytest.approx([0, 0.1], abs=1e-6)
    assert batch.dropped["agents_missing_at_now"] == 1


def test_f02_the_origin_does_not_see_who_is_not_there_at_now(scene):
    assert collate_scenes([scene], CLOCK).origin.tolist() == [[4.0, 0.0]]


@pytest.mark.parametrize("placeholder", [1e6, -1.0, np.nan])
def test_f02_placeholders_of_invalid_states_change_no_bit(scene, placeholder):
    """Such values break the contract of a Scene; even so they must not get through."""
    tracks = scene.tracks
    filled = {}
    for name in ("position", "heading", "velocity", "size"):
        values = getattr(tracks, name).copy()
        values[~tracks.valid] = placeholder
        filled[name] = values
    raw = replace(scene, tracks=replace(tracks, **filled))
    assert_identical(collate_scenes([raw], CLOCK), collate_scenes([scene], CLOCK))


def test_f02_velocities_without_two_valid_steps_change_no_bit(scene):
    velocity = scene.tracks.velocity.copy()
    velocity[~scene.tracks.velocity_valid] = 1e6
    raw = replace(scene, tracks=replace(scene.tracks, velocity=velocity))
    assert_identical(collate_scenes([raw], CLOCK), collate_scenes([scene], CLOCK))
