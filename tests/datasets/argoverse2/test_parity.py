"""Every real scenario reads as the publisher's own package reads it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from motionpred.datasets.argoverse2 import Argoverse2, write_scene
from motionpred.datasets.argoverse2.layout import map_file
from motionpred.scene import EdgeKind, LaneType, MapKind, Marking, Role

CATEGORY = {0: Role.FRAGMENT, 1: Role.UNSCORED, 2: Role.SCORED, 3: Role.FOCAL | Role.SCORED}


@pytest.fixture(scope="module")
def serialization():
    return pytest.importorskip("av2.datasets.motion_forecasting.scenario_serialization")


@pytest.fixture(scope="module")
def pairs(argoverse2_root):
    """Our scene and the file it came from, for every scenario."""
    adapter = Argoverse2()
    return [(next(adapter.read(source)), source.path) for source in adapter.find(argoverse2_root)]


def check_tracks(scene, scenario):
    tracks = scene.tracks
    assert scene.scene_id == scenario.scenario_id
    assert scene.info["city"] == scenario.city_name
    assert scene.info["focal_track_id"] == scenario.focal_track_id
    assert tracks.track_id.tolist() == [track.track_id for track in scenario.tracks]
    assert tracks.raw_type.tolist() == [track.object_type.value for track in scenario.tracks]
    for place, track in enumerate(scenario.tracks):
        states = track.object_states
        steps = [state.timestep for state in states]
        assert np.flatnonzero(tracks.valid[place]).tolist() == steps
        assert [state.observed for state in states] == [step <= scene.now for step in steps]
        at = tracks.position[place, steps]
        assert at[:, :2].tolist() == [list(state.position) for state in states]
        heading = np.array([state.heading for state in states], np.float32)
        # -pi is not in (-pi, pi]: the same direction is pi there.
        heading = np.where(heading == -np.float32(np.pi), np.float32(np.pi), heading)
        np.testing.assert_array_equal(tracks.heading[place, steps], heading)
        velocity = np.array([state.velocity for state in states], np.float32)
        np.testing.assert_array_equal(tracks.velocity[place, steps], velocity)
        role = Role(int(tracks.roles[place]))
        assert role & ~Role.EGO == CATEGORY[track.category.value]
        assert bool(role & Role.EGO) == (track.track_id == "AV")
    stamps = np.asarray(scenario.timestamps_ns)
    np.testing.assert_allclose(
        scene.time, (stamps - stamps[0])[: len(scene.time)] * 1e-9, rtol=0, atol=1e-7
    )


def test_tracks_equal_those_of_the_publishers_package(pairs, serialization):
    for scene, path in pairs:
        check_tracks(scene, serialization.load_argoverse_scenario_parquet(path))


def test_the_publishers_package_reads_what_we_write(pairs, serialization, tmp_path):
    for scene, _ in pairs:
        folder = write_scene(scene, tmp_path)
        (path,) = folder.glob("*.parquet")
        check_tracks(scene, serialization.load_argoverse_scenario_parquet(path))
        check_map(scene.map, json.loads(map_file(path).read_text()))


def test_maps_equal_those_of_the_publishers_package(pairs):
    for scene, path in pairs:
        check_map(scene.map, json.loads(map_file(path).read_text()))


def check_map(road, document):
    lane_segment = pytest.importorskip("av2.map.lane_segment")
    crossing = pytest.importorskip("av2.map.pedestrian_crossing")
    area = pytest.importorskip("av2.map.drivable_area")
    primitives = pytest.importorskip("av2.map.map_primitives")
    place = {
        (int(k), str(n)): i
        for i, (k, n) in enumerate(zip(road.kind, road.polyline_id, strict=True))
    }
    edges = {
        kind: set(map(tuple, road.edges[:, road.edge_kind == kind].T.tolist())) for kind in EdgeKind
    }
    wanted = {kind: set() for kind in EdgeKind}
    lanes = document["lane_segments"].values()
    assert len(lanes) == (road.kind == MapKind.LANE).sum()
    for item in lanes:
        lane = lane_segment.LaneSegment.from_dict(item)
        here = place[MapKind.LANE, str(lane.id)]
        center = primitives.Polyline.from_json_data(item["centerline"])
        np.testing.assert_array_equal(road.polyline(here), center.xyz)
        assert LaneType(road.lane_type[here]).name == lane.lane_type.value
        assert road.intersection[here] == lane.is_intersection
        for side in (lane.left_lane_marking, lane.right_lane_marking):
            boundary = place[MapKind.LANE_BOUNDARY, f"{lane.id}:{side.bound_side}"]
            np.testing.assert_array_equal(road.polyline(boundary), side.polyline)
            assert Marking(road.marking[boundary]).name == side.mark_type.value
            wanted[EdgeKind.BOUNDARY_OF].add((boundary, here))

        def present(names):
            ends = [place.get((MapKind.LANE, str(name))) for name in names]
            return [end for end in ends if end is not None]

        wanted[EdgeKind.SUCCESSOR] |= {(here, end) for end in present(lane.successors)}
        wanted[EdgeKind.SUCCESSOR] |= {(end, here) for end in present(lane.predecessors)}
        wanted[EdgeKind.LEFT] |= {(here, end) for end in present([lane.left_neighbor_id])}
        wanted[EdgeKind.RIGHT] |= {(here, end) for end in present([lane.right_neighbor_id])}
    assert edges == wanted
    assert len(document["pedestrian_crossings"]) == (road.kind == MapKind.CROSSWALK).sum()
    for item in document["pedestrian_crossings"].values():
        ring = crossing.PedestrianCrossing.from_dict(item).polygon
        here = place[MapKind.CROSSWALK, str(item["id"])]
        np.testing.assert_array_equal(road.polyline(here), ring[:-1])
    assert len(document["drivable_areas"]) == (road.kind == MapKind.DRIVABLE_AREA).sum()
    for item in document["drivable_areas"].values():
        ring = area.DrivableArea.from_dict(item).xyz
        here = place[MapKind.DRIVABLE_AREA, str(item["id"])]
        np.testing.assert_array_equal(road.polyline(here), ring[:-1])


def test_a_computed_centreline_is_the_publishers_midpoint_line(pairs, tmp_path):
    interpolate = pytest.importorskip("av2.geometry.interpolate")
    from motionpred.datasets.argoverse2.road_map import read_map

    for scene, path in pairs:
        document = json.loads(map_file(path).read_text())
        for lane in document["lane_segments"].values():
            del lane["centerline"]
        bare = tmp_path / "map.json"
        bare.write_text(json.dumps(document))
        road = read_map(bare, scene.scene_id)
        lanes = np.flatnonzero(road.kind == MapKind.LANE)
        assert road.report["computed_centerlines"] == len(lanes)
        place = {str(name): i for i, name in enumerate(road.polyline_id)}
        for lane in lanes:
            name = road.polyline_id[lane]
            middle = road.polyline(lane)
            sides = [road.polyline(place[f"{name}:{side}"])[:, :2] for side in ("left", "right")]
            theirs, _ = interpolate.compute_midpoint_line(*sides, num_interp_pts=len(middle))
            np.testing.assert_allclose(middle[:, :2], theirs, atol=1e-9)
