"""Counts that were taken of the real scenarios by other means come out of the reader too."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.datasets.argoverse2 import Argoverse2
from motionpred.scene import AgentType, EdgeKind, LaneType, MapKind, Marking, Role

# city, split, tracks, rows, fragment / unscored / scored / focal, at step 49, lanes
SCENARIOS = {
    "00a0ec58": ("washington-dc", 110, 73, 3210, (69, 3, 0, 1), 28, 63),
    "0a0af725": ("austin", 50, 19, 569, (14, 4, 0, 1), 12, 134),
    "0a0ef009": ("miami", 110, 103, 4084, (94, 4, 4, 1), 30, 98),
    "0a1e6f0a": ("austin", 110, 58, 2434, (51, 5, 1, 1), 25, 71),
    "24520ce8": ("miami", 110, 100, 5864, (79, 10, 10, 1), 59, 55),
    "624a047f": ("austin", 110, 70, 3327, (60, 6, 3, 1), 37, 48),
}
# absent predecessors, successors, left and right neighbours
DANGLING = {
    "00a0ec58": (11, 10, 0, 0),
    "0a0af725": (17, 14, 2, 1),
    "0a0ef009": (10, 10, 1, 0),
    "0a1e6f0a": (9, 8, 0, 0),
    "24520ce8": (5, 4, 0, 0),
    "624a047f": (6, 6, 0, 0),
}
MARKS = {
    Marking.NONE: 471,
    Marking.SOLID_WHITE: 160,
    Marking.DASHED_WHITE: 100,
    Marking.DOUBLE_SOLID_YELLOW: 88,
    Marking.DASHED_YELLOW: 56,
    Marking.DASH_SOLID_YELLOW: 42,
    Marking.SOLID_DASH_YELLOW: 21,
}


@pytest.fixture(scope="module")
def scenes(argoverse2_root):
    adapter = Argoverse2()
    found = [next(adapter.read(source)) for source in adapter.find(argoverse2_root)]
    return {scene.scene_id[:8]: scene.validate() for scene in found}


def share(scene, role):
    return int(((scene.tracks.roles & role) != 0).sum())


def test_tracks_rows_roles_and_lanes_of_each_scenario(scenes):
    counted = {
        name: (
            scene.info["city"],
            len(scene.time),
            len(scene.tracks),
            int(scene.tracks.valid.sum()),
            (
                share(scene, Role.FRAGMENT),
                share(scene, Role.UNSCORED),
                share(scene, Role.SCORED) - share(scene, Role.FOCAL),
                share(scene, Role.FOCAL),
            ),
            int(scene.tracks.valid[:, 49].sum()),
            int((scene.map.kind == MapKind.LANE).sum()),
        )
        for name, scene in scenes.items()
    }
    assert counted == SCENARIOS


def test_links_that_leave_each_map(scenes):
    names = ("predecessors", "successors", "left_neighbours", "right_neighbours")
    counted = {
        key: tuple(scene.map.report[f"dangling_{name}"] for name in names)
        for key, scene in scenes.items()
    }
    assert counted == DANGLING
    for key, scene in scenes.items():
        assert scene.map.report["dangling_links"] == sum(DANGLING[key])
        others = {k: v for k, v in scene.map.report.items() if not k.startswith("dangling")}
        assert not any(others.values())


def test_neighbours_that_are_oncoming(scenes):
    def total(kind):
        of_kind = [
            scene.map.edge_opposite[scene.map.edge_kind == kind] for scene in scenes.values()
        ]
        return int(np.concatenate(of_kind).sum()), sum(map(len, of_kind))

    assert total(EdgeKind.LEFT) == (202, 306)
    assert total(EdgeKind.RIGHT) == (0, 104)


def test_marks_and_lane_types(scenes):
    boundaries = np.concatenate(
        [scene.map.marking[scene.map.kind == MapKind.LANE_BOUNDARY] for scene in scenes.values()]
    )
    assert {mark: int((boundaries == mark).sum()) for mark in np.unique(boundaries)} == MARKS
    lanes = np.concatenate(
        [scene.map.lane_type[scene.map.kind == MapKind.LANE] for scene in scenes.values()]
    )
    assert (lanes == LaneType.VEHICLE).sum() == 315
    assert (lanes == LaneType.BIKE).sum() == 154


def test_object_types(scenes):
    words = np.concatenate([scene.tracks.raw_type for scene in scenes.values()])
    types = np.concatenate([scene.tracks.type for scene in scenes.values()])
    names, counts = np.unique(words, return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {
        "background": 22,
        "cyclist": 1,
        "motorcyclist": 1,
        "pedestrian": 60,
        "riderless_bicycle": 8,
        "static": 42,
        "unknown": 1,
        "vehicle": 288,
    }
    assert (types == AgentType.STATIC).sum() == 64


def test_only_the_scenario_without_a_future_is_of_the_test_split(scenes):
    assert {name for name, scene in scenes.items() if scene.split == "test"} == {"0a0af725"}
    for scene in scenes.values():
        assert scene.now == 49
        assert scene.has_future == (scene.split != "test")
