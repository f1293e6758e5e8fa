"""Padded batches: what a scene looks like in one does not depend on what else is there."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from motionpred.errors import ConfigError
from motionpred.graph import BatchOptions, SceneBatch, collate, collate_scenes, encode, stable_key
from motionpred.scene import MapKind, RoadMap, Role, Scene, TimeSpec
from motionpred.testing import crossing_scene, make_map, make_scene, make_tracks

CLOCK = TimeSpec(0.1, 50, 60)
SMALL = TimeSpec(0.1, 5, 4)


def crowd(agents: int, scene_id: str = "crowd", pieces: int = 0) -> Scene:
    position = np.zeros((agents, 9, 2))
    position[..., 0] = 3.0 * np.arange(agents)[:, None]
    lanes = [(MapKind.LANE, [(float(i), 0), (i + 1.0, 2)]) for i in range(pieces)]
    road = make_map(lanes) if pieces else RoadMap.empty()
    return make_scene(make_tracks(position), now=4, map=road, scene_id=scene_id)


def rows(batch: SceneBatch, index: int) -> dict[str, torch.Tensor]:
    """The tensors of one scene without padding."""
    agents, pieces = len(batch.track_id[index]), int(batch.map_mask[index].sum())
    links = int((batch.lane_edges[index, :, 0] >= 0).sum())
    result = {}
    for name, tensor in batch.tensors():
        value = tensor[index]
        if name == "lane_edges":
            value = value[:links]
        elif name.startswith("map_"):
            value = value[:pieces]
        elif name not in ("origin", "time", "scene_key"):
            value = value[:agents]
        result[name] = value
    return result


def assert_same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> None:
    for name in a:
        assert torch.equal(a[name], b[name]), name


def test_shapes_and_types_are_those_of_the_contract():
    batch = collate_scenes([crossing_scene("one"), crossing_scene("two", seed=1)], CLOCK)
    shapes = {name: (tensor.dtype, tuple(tensor.shape)) for name, tensor in batch.tensors()}
    assert shapes == {
        "origin": (torch.float64, (2, 2)),
        "time": (torch.float32, (2, 50)),
        "history.state": (torch.float32, (2, 8, 50, 8)),
        "history.flags": (torch.bool, (2, 8, 50, 4)),
        "pose": (torch.float32, (2, 8, 3)),
        "age": (torch.float32, (2, 8)),
        "type": (torch.int64, (2, 8)),
        "roles": (torch.int64, (2, 8)),
        "predict": (torch.bool, (2, 8)),
        "map_points": (torch.float32, (2, 32, 20, 2)),
        "map_mask": (torch.bool, (2, 32)),
        "map_pose": (torch.float32, (2, 32, 3)),
        "map_category": (torch.int64, (2, 32, 5)),
        "map_attributes": (torch.float32, (2, 32, 2)),
        "lane_edges": (torch.int64, (2, 32, 4)),
        "target.state": (torch.float32, (2, 8, 60, 8)),
        "target.flags": (torch.bool, (2, 8, 60, 4)),
        "scene_key": (torch.int64, (2,)),
        "track_key": (torch.int64, (2, 8)),
    }
    assert len(batch) == 2
    assert batch.scene_id == ["one", "two"]


@pytest.mark.parametrize(
    ("agents", "pieces", "padded"), [(1, 0, (8, 32)), (8, 32, (8, 32)), (9, 33, (16, 64))]
)
def test_agents_are_padded_to_eights_and_pieces_to_thirty_twos(agents, pieces, padded):
    batch = collate_scenes([crowd(agents, pieces=pieces)], SMALL)
    assert (batch.predict.shape[1], batch.map_mask.shape[1]) == padded
    assert batch.map_mask.sum() == pieces
    assert batch.agent_mask.sum() == batch.predict.sum() == agents


def test_padding_is_zero_and_minus_one_for_links():
    batch = collate_scenes([crowd(1), crossing_scene(now=4, steps=9)], SMALL)
    for name, tensor in batch.tensors():
        if name == "lane_edges":
            assert (tensor[0] == -1).all()
        elif name.startswith("map_"):
            assert not tensor[0].any(), name
        elif tensor.shape[:2] == (2, 8):
            assert not tensor[0, 1:].any(), name
    assert (batch.track_key[0, 1:] == 0).all()


def test_memory_of_an_earlier_batch_never_shines_through_the_padding():
    full = collate_scenes([crossing_scene(str(i)) for i in range(12)], CLOCK)
    for _, tensor in full.tensors():
        tensor.fill_(1)
    del full
    batch = collate_scenes(
        [crossing_scene("a")] + [crossing_scene(str(i)) for i in range(11)], CLOCK
    )
    assert not batch.history.state[:, 7].any()
    assert not batch.map_points[~batch.map_mask].any()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from([0, 3, 40])), min_size=1, max_size=4),
    st.integers(0, 4),
)
def test_a_scene_is_the_same_alone_and_at_any_place_of_any_batch(mates, place):
    scene = crossing_scene("s", steps=9, now=4)
    others = [crowd(a, f"m{i}", pieces=p) for i, (a, p) in enumerate(mates)]
    place = min(place, len(others))
    batch = collate_scenes([*others[:place], scene, *others[place:]], SMALL)
    alone = collate_scenes([scene], SMALL)
    assert batch.scene_id[place] == "s"
    assert_same(rows(batch, place), rows(alone, 0))


def test_encoding_scenes_one_by_one_or_together_gives_the_same_batch():
    scenes = [crowd(3, "a", pieces=40), crossing_scene("b", steps=9, now=4), crowd(0, "c")]
    together = collate_scenes(iter(scenes), SMALL)
    apart = collate([encode(scene, SMALL) for scene in scenes])
    assert_same(dict(together.tensors()), dict(apart.tensors()))
    assert together.dropped == apart.dropped


def test_tensors_are_contiguous_and_history_shares_nothing_with_the_target():
    batch = collate_scenes([crossing_scene()], CLOCK)
    assert all(tensor.is_contiguous() for _, tensor in batch.tensors())
    batch.target.state.fill_(7)
    assert not (batch.history.state == 7).any()


def test_a_scene_without_agents_and_map_is_legal():
    batch = collate_scenes([crowd(0)], SMALL)
    assert not batch.agent_mask.any()
    assert not batch.map_mask.any()
    assert all(torch.isfinite(tensor).all() for _, tensor in batch.tensors())


def test_counts_of_what_was_cut_are_added_up():
    batch = collate_scenes([crowd(5, "a"), crowd(6, "b")], TimeSpec(0.1, 3, 4))
    assert batch.dropped["history_cropped"] == 4
    assert batch.dropped["scenes_without_lanes"] == 2


def test_scenes_of_different_layouts_and_no_scenes_are_refused():
    for make in (lambda: collate([]), lambda: collate_scenes([], SMALL)):
        with pytest.raises(ConfigError, match="at least one"):
            make()
    with pytest.raises(ConfigError, match=r"\(5, 4, 20\) and \(5, 3, 20\)"):
        collate([encode(crowd(1, "a"), TimeSpec(0.1, 5, 3)), encode(crowd(1, "b"), SMALL)])


def test_keys_are_stable_positive_and_do_not_know_the_dataset():
    assert stable_key("101") == 2479188383885715476
    batch = collate_scenes([crossing_scene("a"), crossing_scene("b")], CLOCK)
    other = replace(crossing_scene("a"), dataset="elsewhere")
    assert collate_scenes([other], CLOCK).scene_key[0] == batch.scene_key[0] == stable_key("a")
    assert (batch.track_key[:, :7] > 0).all()
    assert torch.equal(batch.track_key[0], batch.track_key[1])
    assert batch.scene_key[0] != batch.scene_key[1]


def test_a_batch_moves_between_devices_and_processes_whole():
    batch = collate_scenes([crossing_scene("a"), crossing_scene("b", seed=2)], CLOCK)
    for copy in (batch.to("cpu"), pickle.loads(pickle.dumps(batch))):  # noqa: S301
        assert_same(rows(copy, 1), rows(batch, 1))
        assert copy.scene_id == batch.scene_id
        assert copy.dropped == batch.dropped
    assert batch.to("meta").history.state.device.type == "meta"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_pinned_memory_holds_the_same_batch():
    batch = collate_scenes([crossing_scene("a")], CLOCK)
    pinned = batch.pin_memory()
    assert pinned.history.state.is_pinned()
    assert_same(rows(pinned, 0), rows(batch, 0))


def test_pinning_touches_every_tensor(monkeypatch):
    seen = []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: seen.append(self) or self)
    batch = collate_scenes([crowd(1)], SMALL).pin_memory()
    assert len(seen) == len(list(batch.tensors())) == 19


def test_an_empty_map_and_a_far_one_give_the_same_batch():
    near = crowd(3)
    far = replace(near, map=make_map([(MapKind.LANE, [(900.0, 0), (950, 0)])]))
    a, b = collate_scenes([near], SMALL), collate_scenes([far], SMALL)
    assert_same(dict(a.tensors()), dict(b.tensors()))
    assert a.dropped["scenes_without_lanes"] == b.dropped["scenes_without_lanes"] == 1
    assert b.dropped["map_pieces_far"] == 1


def test_of_260_agents_all_8_scored_and_the_nearest_stay_whatever_the_order_of_the_file():
    rng = np.random.default_rng(0)
    position = np.zeros((260, 9, 2))
    position[:, :, 0] = np.concatenate([np.linspace(0, 400, 8), rng.uniform(-500, 900, 252)])[
        :, None
    ]
    position[8:, :, 1] = rng.uniform(-300, 300, 252)[:, None]
    roles = [Role.SCORED] * 8 + [Role.NONE] * 252
    scene = make_scene(make_tracks(position, roles=roles), now=4)
    shuffled = replace(scene, tracks=scene.tracks.take(rng.permutation(260)))
    small = [crowd(5, str(i)) for i in range(9)]
    options = BatchOptions(max_agents=128)
    kept = []
    for big in (scene, shuffled):
        batch = collate_scenes([*small, big], SMALL, options)
        assert batch.dropped["agents"] == 132
        assert ((batch.roles[-1] & Role.SCORED) != 0).sum() == 8
        assert batch.predict.shape == (10, 128)
        kept.append(set(batch.track_id[-1]))
    assert kept[0] == kept[1]


def test_the_ego_can_be_left_out_and_the_scored_agents_do_not_change():
    position = np.zeros((3, 9, 2))
    position[:, :, 0] = [[0.0], [5], [9]]
    roles = [Role.EGO, Role.SCORED, Role.SCORED]
    scene = make_scene(make_tracks(position, roles=roles, track_id=["AV", "2", "3"]), now=4)
    for include, expected in ((True, ["AV", "2", "3"]), (False, ["2", "3"])):
        batch = collate_scenes([scene], SMALL, BatchOptions(include_ego=include))
        assert batch.track_id[0].tolist() == expected
        scored = (batch.roles[0] & Role.SCORED) != 0
        assert batch.track_key[0][scored].tolist() == [stable_key("2"), stable_key("3")]


def test_an_ego_that_the_benchmark_scores_is_never_left_out():
    tracks = make_tracks(np.zeros((1, 9, 2)), roles=[Role.EGO | Role.SCORED], track_id=["sdc"])
    batch = collate_scenes([make_scene(tracks, now=4)], SMALL, BatchOptions(include_ego=False))
    assert batch.track_id[0].tolist() == ["sdc"]
