"""F15: maps with origins half a country away, in float32."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from motionpred.graph import collate_scenes
from motionpred.scene import Scene, TimeSpec
from motionpred.testing import crossing_scene

CLOCK = TimeSpec(0.1, 50, 60)
SHIFT = np.array([500_000.0, 4_649_776.0])


def shifted(scene: Scene) -> Scene:
    position = scene.tracks.position.copy()
    position[scene.tracks.valid] += np.append(SHIFT, 0.0)
    return replace(
        scene,
        tracks=replace(scene.tracks, position=position),
        map=replace(scene.map, points=scene.map.points + np.append(SHIFT, 0.0)),
    ).validate()


@pytest.mark.parametrize("seed", range(3))
def test_f15_local_coordinates_do_not_see_where_the_world_begins(seed):
    scene = crossing_scene(seed=seed)
    here, there = collate_scenes([scene], CLOCK), collate_scenes([shifted(scene)], CLOCK)
    for (name, a), (_, b) in zip(here.tensors(), there.tensors(), strict=True):
        if name != "origin":
            assert a.dtype != torch.float64
            torch.testing.assert_close(a, b, atol=1e-4, rtol=0, msg=name)
    np.testing.assert_allclose(there.origin - here.origin, [SHIFT], atol=1e-6)


def test_f15_world_coordinates_come_back_in_float64():
    scene = shifted(crossing_scene())
    batch = collate_scenes([scene], CLOCK)
    world = batch.target.position[0, :7].double() + batch.origin[0]
    valid = scene.tracks.valid[:, 50:]
    error = world.numpy()[valid] - scene.tracks.position[:, 50:, :2][valid]
    assert np.abs(error).max() < 1e-4


def test_f15_a_slow_walk_far_from_the_world_origin_is_not_jagged():
    scene = shifted(crossing_scene())
    batch = collate_scenes([scene], CLOCK)
    walker = batch.history.position[0, 3]
    steps = torch.diff(walker, dim=0).norm(dim=-1)
    assert (steps - steps.mean()).abs().max() < 1e-4


def test_f15_the_origin_is_not_pulled_by_states_that_are_not_there():
    scene = shifted(crossing_scene())
    origin = collate_scenes([scene], CLOCK).origin[0].numpy()
    at_now = scene.tracks.position[scene.tracks.valid[:, 49], 49, :2]
    np.testing.assert_allclose(origin, at_now.mean(axis=0))
