"""HeteroData for PyG users: the same arrays, there and back, whatever is missing in a scene."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import torch
from torch_geometric.data import Batch
from torch_geometric.utils import to_dense_batch

from motionpred.graph import BatchOptions, build_graph, collate_scenes, encode, from_graph
from motionpred.scene import EdgeKind, MapKind, TimeSpec
from motionpred.testing import crossing_scene, make_scene, make_tracks

CLOCK = TimeSpec(0.1, 50, 60)


def bare_scene(scene_id: str = "bare", agents: int = 1):
    tracks = make_tracks(np.zeros((agents, 110, 2)))
    return make_scene(tracks, now=49, scene_id=scene_id)


def test_there_and_back_is_the_same_scene_bit_for_bit():
    options = BatchOptions(map_kinds=tuple(MapKind), max_agents=5)
    for scene in (crossing_scene(), bare_scene(), bare_scene(agents=0)):
        row = encode(scene, CLOCK, options)
        back = from_graph(build_graph(scene, CLOCK, options))
        for item in fields(row):
            a, b = getattr(row, item.name), getattr(back, item.name)
            np.testing.assert_array_equal(a, b, err_msg=item.name)
            if isinstance(a, np.ndarray) and a.dtype.kind != "U":
                assert a.dtype == b.dtype, item.name


def test_every_scene_has_every_type_of_node_and_edge():
    for scene in (crossing_scene(), bare_scene(), bare_scene(agents=0)):
        data = build_graph(scene, CLOCK)
        assert data.node_types == ["agent", "map"]
        assert data.edge_types == [("map", kind.name.lower(), "map") for kind in EdgeKind]


def test_links_are_those_of_the_map_by_kind():
    scene = crossing_scene()
    data = build_graph(scene, CLOCK)
    successors = scene.map.edges[:, scene.map.edge_kind == EdgeKind.SUCCESSOR]
    assert data["map", "successor", "map"].edge_index.tolist() == successors.tolist()
    assert data["map", "left", "map"].opposite.tolist() == [True] * 4
    assert data["map", "controls", "map"].edge_index.shape == (2, 0)


def test_a_batch_that_begins_with_a_scene_without_map_keeps_the_lanes_of_the_others():
    scenes = [bare_scene("empty"), crossing_scene("a"), bare_scene("nobody", agents=0)]
    batch = Batch.from_data_list([build_graph(scene, CLOCK) for scene in scenes])
    assert batch.num_graphs == 3
    assert batch["map", "successor", "map"].edge_index.shape == (2, 24)
    assert batch["map"].points.shape == (21, 20, 2)
    assert batch["agent"].ptr.tolist() == [0, 1, 8, 8]
    assert batch.scene_id == ["empty", "a", "nobody"]
    alone = build_graph(scenes[1], CLOCK)
    assert torch.equal(batch[1]["map"].pose, alone["map"].pose)
    edges = batch[1]["map", "successor", "map"].edge_index
    assert torch.equal(edges, alone["map", "successor", "map"].edge_index)


def test_a_dense_pyg_batch_holds_the_numbers_of_a_scene_batch():
    scenes = [crossing_scene("a"), crossing_scene("b", seed=1), bare_scene()]
    batch = Batch.from_data_list([build_graph(scene, CLOCK) for scene in scenes])
    ours = collate_scenes(scenes, CLOCK)
    agents = batch["agent"]
    dense, mask = to_dense_batch(agents.history_state, agents.batch, max_num_nodes=8, batch_size=3)
    assert torch.equal(dense, ours.history.state)
    assert torch.equal(mask, ours.agent_mask)
    assert torch.equal(batch.origin, ours.origin)
    assert torch.equal(batch.scene_key, ours.scene_key)
