"""F18: one ring however its corners are given, null polygons counted, heights kept apart."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from shapely.geometry import Polygon

from motionpred.graph import collate_scenes
from motionpred.scene import MapKind, TimeSpec

CORNERS = [(0.0, 0.0), (3.0, 0.0), (3.0, 4.0), (0.0, 4.0)]


def points(corners, z=0.0):
    return [{"x": x, "y": y, "z": z} for x, y in corners]


def crossing(first, second):
    """A crossing is two edges that run the same way."""
    return {"id": 7, "edge1": points(first), "edge2": points(second)}


def rings(road, kind):
    return [road.polyline(int(i)) for i in np.flatnonzero(road.kind == kind)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (CORNERS[:2], [CORNERS[3], CORNERS[2]]),  # 4 points
        (CORNERS[:2], [CORNERS[0], CORNERS[3], CORNERS[2]]),  # 5 points: the first again at the end
    ],
)
def test_f18_a_crosswalk_of_four_or_five_points_is_the_same_ring(
    read_argoverse2, av2_lane, first, second
):
    document = {
        "lane_segments": {"1": av2_lane(1)},
        "pedestrian_crossings": {"7": crossing(first, second)},
    }
    (ring,) = rings(read_argoverse2(map=document).validate().map, MapKind.CROSSWALK)
    assert ring[:, :2].tolist() == [list(corner) for corner in CORNERS]
    assert Polygon(ring[:, :2]).area == 12


@pytest.mark.parametrize("corners", [CORNERS, [*CORNERS, CORNERS[0]]])
def test_f18_an_area_with_and_without_the_closing_corner_is_the_same_ring(
    read_argoverse2, av2_lane, corners
):
    document = {
        "lane_segments": {"1": av2_lane(1)},
        "drivable_areas": {"8": {"id": 8, "area_boundary": points(corners)}},
    }
    (ring,) = rings(read_argoverse2(map=document).validate().map, MapKind.DRIVABLE_AREA)
    assert ring[:, :2].tolist() == [list(corner) for corner in CORNERS]


def test_f18_null_polygons_are_left_out_and_counted(read_argoverse2, av2_lane):
    document = {
        "lane_segments": {"1": av2_lane(1)},
        "drivable_areas": {
            "8": {"id": 8, "area_boundary": None},
            "9": {"id": 9, "area_boundary": []},
            "10": {"id": 10, "area_boundary": points([*CORNERS[:2], CORNERS[0]])},
        },
        "pedestrian_crossings": {"7": {"id": 7, "edge1": None, "edge2": points(CORNERS[:2])}},
    }
    road = read_argoverse2(map=document).validate().map
    assert not rings(road, MapKind.DRIVABLE_AREA)
    assert not rings(road, MapKind.CROSSWALK)
    assert road.report["null_polygons"] == 3
    assert road.report["degenerate_polygons"] == 1


def test_f18_altitude_changes_nothing_in_the_plane(read_argoverse2, av2_lane):
    def document(z):
        lane = av2_lane(1)
        raised = {
            name: [{**point, "z": point["z"] + z} for point in value]
            for name, value in lane.items()
            if name.endswith("boundary") or name == "centerline"
        }
        areas = {"8": {"id": 8, "area_boundary": points(CORNERS, z)}}
        return {"lane_segments": {"1": {**lane, **raised}}, "drivable_areas": areas}

    scenes = [read_argoverse2(map=document(z)).validate() for z in (5.0, 125.0)]
    inputs = [collate_scenes([scene], TimeSpec(0.1, 50, 60)) for scene in scenes]
    for (name, a), (_, b) in zip(*(batch.tensors() for batch in inputs), strict=True):
        assert torch.equal(a, b), name
    low, high = (scene.map for scene in scenes)
    np.testing.assert_array_equal(low.points[:, :2], high.points[:, :2])
    np.testing.assert_allclose(high.points[:, 2] - low.points[:, 2], 120.0)
    assert low.has_z.all()
    assert high.has_z.all()


def test_f18_a_height_that_nobody_recorded_is_marked_absent(read_argoverse2, av2_lane):
    lane = av2_lane(1, left_lane_boundary=[{"x": 0.0, "y": 1.0}, {"x": 9.0, "y": 1.0}])
    lane["right_lane_boundary"] = points([(0.0, -1.0), (9.0, -1.0)], z=20.0)
    road = read_argoverse2(map={"lane_segments": {"1": lane}}).validate().map
    heights = dict(zip(road.polyline_id.tolist(), road.has_z.tolist(), strict=True))
    assert heights == {"1": False, "1:left": False, "1:right": True}
