"""F17: links that dangle, that lead back to their lane, or that contradict each other."""

from __future__ import annotations

import numpy as np

from motionpred.scene import EdgeKind


def links(road, kind):
    ends = road.edges[:, road.edge_kind == kind]
    return [tuple(road.polyline_id[pair].tolist()) for pair in ends.T]


def test_f17_dangling_links(read_argoverse2, av2_lane):
    lanes = {
        "1": av2_lane(1, successors=[2, 99], left_neighbor_id=3),  # A
        "2": av2_lane(2, successors=[2]),  # B
        "3": av2_lane(3, left_neighbor_id=1),  # C, which runs the same way as A
    }
    road = read_argoverse2(map={"lane_segments": lanes}).validate().map
    assert links(road, EdgeKind.SUCCESSOR) == [("1", "2")]
    assert road.report["dangling_links"] == 1
    assert road.report["self_links"] == 1
    assert road.report["side_conflicts"] == 1


def test_f17_lanes_that_are_left_of_each_other_are_no_conflict_if_they_are_oncoming(
    read_argoverse2, av2_lane
):
    lanes = {
        "1": av2_lane(1, [(0.0, 0.0), (10.0, 0.0)], left_neighbor_id=3),
        "3": av2_lane(3, [(10.0, 3.5), (0.0, 3.5)], left_neighbor_id=1),
    }
    road = read_argoverse2(map={"lane_segments": lanes}).map
    assert links(road, EdgeKind.LEFT) == [("1", "3"), ("3", "1")]
    assert road.edge_opposite[road.edge_kind == EdgeKind.LEFT].all()
    assert road.report["side_conflicts"] == 0


def test_f17_a_link_that_one_end_states_is_the_same_as_one_that_both_state(
    read_argoverse2, av2_lane
):
    both = {"1": av2_lane(1, successors=[2]), "2": av2_lane(2, predecessors=[1])}
    end_only = {"1": av2_lane(1), "2": av2_lane(2, predecessors=[1])}
    full = read_argoverse2(map={"lane_segments": both}).map
    half = read_argoverse2(map={"lane_segments": end_only}).map
    assert links(full, EdgeKind.SUCCESSOR) == links(half, EdgeKind.SUCCESSOR) == [("1", "2")]
    assert (full.report["one_sided_links"], half.report["one_sided_links"]) == (0, 1)


def test_f17_a_lane_on_both_sides_of_another_is_a_conflict(read_argoverse2, av2_lane):
    lanes = {"1": av2_lane(1, left_neighbor_id=2, right_neighbor_id=2), "2": av2_lane(2)}
    road = read_argoverse2(map={"lane_segments": lanes}).map
    assert road.report["side_conflicts"] == 1
    assert np.array_equal(road.edges[:, road.edge_kind == EdgeKind.LEFT], [[0], [1]])
