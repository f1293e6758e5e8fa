"""Map documents that lack something, or hold what they should not (F16 to F18 are apart)."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.errors import SceneError
from motionpred.scene import EdgeKind, LaneType, MapKind, Marking


def line(*points):
    return [{"x": x, "y": y, "z": z} for x, y, z in points]


LANE = {
    "id": 5,
    "is_intersection": True,
    "lane_type": "BIKE",
    "centerline": line((0, 0, 0), (10, 0, 0)),
    "left_lane_boundary": line((0, 2, 7), (10, 2, 8)),
    "right_lane_boundary": line((0, -2, 7), (5, -2, 7.5), (10, -2, 8)),
    "left_lane_mark_type": "SOLID_WHITE",
    "right_lane_mark_type": "DASHED_YELLOW",
    "left_neighbor_id": None,
    "right_neighbor_id": None,
    "predecessors": [],
    "successors": [],
}


def only(lane):
    return lambda document: {"lane_segments": {"5": lane}}


def without(*names):
    return {name: value for name, value in LANE.items() if name not in names}


def test_a_lane_comes_with_its_boundaries_marks_and_the_edges_between_them(folder, read, edit_map):
    edit_map(folder, only(LANE))
    road = read(folder).validate().map
    assert road.polyline_id.tolist() == ["5", "5:left", "5:right"]
    assert road.kind.tolist() == [MapKind.LANE, MapKind.LANE_BOUNDARY, MapKind.LANE_BOUNDARY]
    assert road.marking.tolist() == [0, Marking.SOLID_WHITE, Marking.DASHED_YELLOW]
    assert road.lane_type.tolist() == [LaneType.BIKE, 0, 0]
    assert road.intersection.tolist() == [True, False, False]
    assert road.edges.tolist() == [[1, 2], [0, 0]]
    assert (road.edge_kind == EdgeKind.BOUNDARY_OF).all()
    assert not any(road.report.values())


def test_the_height_of_a_centreline_is_a_placeholder_and_that_of_a_boundary_is_real(
    folder, read, edit_map
):
    edit_map(folder, only(LANE))
    road = read(folder).map
    assert road.has_z.tolist() == [False, True, True]
    assert road.polyline(1)[:, 2].tolist() == [7.0, 8.0]


@pytest.mark.parametrize("lane", [without("centerline"), {**LANE, "centerline": None}])
def test_a_lane_without_a_centreline_gets_the_middle_of_its_boundaries(
    folder, read, edit_map, lane
):
    edit_map(folder, only(lane))
    road = read(folder).validate().map
    middle = road.polyline(0)
    np.testing.assert_allclose(middle[:, 1], 0.0)
    np.testing.assert_allclose(middle[:, 0], np.linspace(0, 10, 10))
    np.testing.assert_allclose(middle[:, 2], np.linspace(7, 8, 10))
    assert road.has_z[0]
    assert road.report["computed_centerlines"] == 1


def test_a_lane_without_any_geometry_is_left_out_and_links_to_it_dangle(folder, read, edit_map):
    empty = {**without("centerline", "left_lane_boundary"), "id": 6}
    lanes = {"5": {**LANE, "successors": [6]}, "6": empty}
    edit_map(folder, lambda document: {"lane_segments": lanes})
    road = read(folder).validate().map
    assert road.report["null_lanes"] == 1
    assert road.report["dangling_successors"] == 1
    assert "6" not in road.polyline_id


def test_a_lane_without_boundaries_is_kept_and_what_is_missing_counted(folder, read, edit_map):
    edit_map(folder, only({**LANE, "left_lane_boundary": [], "right_lane_boundary": None}))
    road = read(folder).validate().map
    assert road.polyline_id.tolist() == ["5"]
    assert road.report["null_boundaries"] == 2


def test_words_that_the_publisher_does_not_list_are_unknown_and_counted(folder, read, edit_map):
    edit_map(folder, only({**LANE, "lane_type": "TRAM", "left_lane_mark_type": "PINK"}))
    road = read(folder).validate().map
    assert road.lane_type[0] == LaneType.UNKNOWN
    assert road.marking[1] == Marking.UNKNOWN
    assert road.report["unlisted_words"] == 2


def test_a_map_without_anything_is_an_empty_map(folder, read, edit_map):
    edit_map(folder, lambda document: {"lane_segments": {}, "drivable_areas": {}})
    scene = read(folder).validate()
    assert len(scene.map) == 0
    assert scene.map.edges.shape == (2, 0)


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (lambda document: [], "lane_segments", "is no Argoverse 2 map"),
        (lambda document: {"lanes": {}}, "lane_segments", "is no Argoverse 2 map"),
        (lambda document: {"lane_segments": [1]}, "lane_segments", "must be objects by id"),
        (
            only({**LANE, "centerline": [{"x": 1.0}, {"x": 2.0, "y": 0.0}]}),
            "lane_segments.5.centerline",
            "has a point without x, y",
        ),
        (
            only({**LANE, "left_lane_boundary": line((0, 0, 0), (float("nan"), 0, 0))}),
            "lane_segments.5.left_lane_boundary",
            "point 1 is not finite",
        ),
        (only({**LANE, "successors": 6}), "lane_segments.5.successors", "must be a list"),
        (
            lambda document: {"lane_segments": {"5": LANE, "6": LANE}},
            "lane_segments.6.id",
            "has the id of another lane",
        ),
    ],
)
def test_a_map_that_cannot_be_read_is_refused_by_file_scene_and_field(
    folder, read, edit_map, change, field, message
):
    edit_map(folder, change)
    with pytest.raises(SceneError, match=message) as caught:
        raise read(folder)
    assert caught.value.field == field
    assert caught.value.scene == "crossing"
    assert caught.value.file.endswith("log_map_archive_crossing.json")


def test_a_missing_map_file_is_refused(folder, read):
    (folder / "log_map_archive_crossing.json").unlink()
    with pytest.raises(SceneError, match=r"map file is missing \[file=.*log_map_archive_crossing"):
        raise read(folder)


def test_broken_json_is_refused(folder, read):
    path = folder / "log_map_archive_crossing.json"
    path.write_text(path.read_text()[:-5])
    with pytest.raises(SceneError, match="cannot be read"):
        raise read(folder)
