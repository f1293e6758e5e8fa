"""The counts that tell at a glance what is in a scene."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from motionpred.scene import AgentType, EdgeKind, MapKind, RoadMap, Role
from motionpred.testing import make_map, make_scene, make_tracks

LANE, CROSSWALK = MapKind.LANE, MapKind.CROSSWALK


def scene():
    """A car all the time, a bus that comes after now and a walker that is gone at now."""
    position = np.zeros((3, 4, 2))
    valid = [[1, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 0]]
    tracks = make_tracks(
        position,
        valid=valid,
        type=[AgentType.VEHICLE, AgentType.BUS, AgentType.PEDESTRIAN],
        roles=[Role.FOCAL | Role.SCORED, Role.SCORED, Role.EGO],
    )
    line = [(0.0, 0.0), (1.0, 0.0)]
    return make_scene(tracks, now=1, map=make_map([(LANE, line), (CROSSWALK, line), (LANE, line)]))


def test_agents_are_counted_by_type_and_role_and_those_at_now():
    summary = scene().summary()
    assert (summary["steps"], summary["now"]) == (4, 1)
    assert (summary["agents"], summary["at_now"]) == (3, 1)
    assert summary["types"] == {"vehicle": 1, "pedestrian": 1, "bus": 1}
    assert (summary["ego"], summary["focal"], summary["scored"]) == (1, 1, 2)


def test_the_map_is_counted_by_kind_of_piece_and_of_link():
    road = replace(
        scene().map,
        edges=np.array([[0, 2, 0], [2, 0, 2]]),
        edge_kind=np.array([EdgeKind.SUCCESSOR, EdgeKind.LEFT, EdgeKind.SUCCESSOR], np.int8),
    )
    summary = replace(scene(), map=road).summary()
    assert summary["polylines"] == 3
    assert summary["kinds"] == {"lane": 2, "crosswalk": 1}
    assert summary["links"] == {"successor": 2, "left": 1}


def test_of_what_reading_the_map_found_only_what_happened_is_told():
    road = replace(scene().map, report={"dangling_links": 3, "self_links": 0})
    assert replace(scene(), map=road).summary()["map_report"] == {"dangling_links": 3}


def test_a_scene_of_no_split_without_map_and_agents_is_summed_up_too():
    empty = make_tracks(np.zeros((0, 4, 2)))
    bare = replace(make_scene(empty, now=1), split="", map=RoadMap.empty()).summary()
    assert bare["split"] == "-"
    assert (bare["agents"], bare["polylines"], bare["signals"]) == (0, 0, 0)
    assert (bare["types"], bare["kinds"], bare["links"]) == ({}, {}, {})
