"""Recorded scenes as batches: the promises of the graph room hold on real data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from motionpred.datasets.argoverse2 import Argoverse2
from motionpred.graph import BatchOptions, collate_scenes
from motionpred.scene import Role, Scene


@pytest.fixture(scope="module")
def scenes(argoverse2_root) -> list[Scene]:
    adapter = Argoverse2()
    return [scene for source in adapter.find(argoverse2_root) for scene in adapter.read(source)]


def test_every_number_is_finite_and_the_focal_agent_is_predicted(scenes):
    batch = collate_scenes(scenes, Argoverse2.time)
    for name, tensor in batch.tensors():
        assert torch.isfinite(tensor).all(), name
    focal = (batch.roles & Role.FOCAL) != 0
    assert focal.sum(dim=1).tolist() == [1] * len(scenes)
    assert batch.predict[focal].all()
    assert batch.map_mask.any(dim=1).all()
    assert batch.history.position[batch.history.valid].abs().max() < 1000


def test_coordinates_go_back_to_the_recorded_ones(scenes):
    batch = collate_scenes(scenes, Argoverse2.time, BatchOptions(max_agents=None))
    for index, scene in enumerate(scenes):
        seen = scene.observed().tracks
        assert batch.track_id[index].tolist() == seen.track_id.tolist()
        world = batch.history.position[index, : len(seen)].double() + batch.origin[index]
        np.testing.assert_allclose(world[seen.valid], seen.position[seen.valid, :2], atol=1e-4)


def test_what_comes_after_now_changes_no_bit_of_the_input(scenes):
    whole = collate_scenes(scenes, Argoverse2.time)
    cut = collate_scenes([scene.observed() for scene in scenes], Argoverse2.time)
    for (name, a), (_, b) in zip(whole.tensors(), cut.tensors(), strict=True):
        assert name.startswith("target.") or torch.equal(a, b), name


def test_another_origin_of_the_world_moves_nothing_by_a_millimetre(scenes):
    shift = np.array([500_000.0, 4_649_776.0, 0.0])

    def moved(scene: Scene) -> Scene:
        position = np.where(scene.tracks.valid[..., None], scene.tracks.position + shift, 0.0)
        tracks = replace(scene.tracks, position=position)
        return replace(
            scene, tracks=tracks, map=replace(scene.map, points=scene.map.points + shift)
        )

    here = collate_scenes(scenes, Argoverse2.time)
    there = collate_scenes([moved(scene) for scene in scenes], Argoverse2.time)
    for (name, a), (_, b) in zip(here.tensors(), there.tensors(), strict=True):
        if name != "origin":
            torch.testing.assert_close(a, b, atol=1e-3, rtol=0, msg=name)
