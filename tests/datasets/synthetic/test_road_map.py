"""The map of a synthetic scene: lanes join, neighbours lie beside, traffic is on the lanes."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.geometry.angles import difference
from motionpred.geometry.polylines import directions
from motionpred.scene import AgentType, EdgeKind, MapKind


def edges(road, kind):
    chosen = road.edge_kind == kind
    return list(zip(*road.edges[:, chosen].tolist(), road.edge_opposite[chosen], strict=True))


def ends(road, lane):
    points = road.polyline(lane)[:, :2]
    return points[0], points[-1]


def test_a_successor_begins_where_its_lane_ends(made):
    for scene in made:
        for lane, after, _ in edges(scene.map, EdgeKind.SUCCESSOR):
            gap = ends(scene.map, lane)[1] - ends(scene.map, after)[0]
            assert np.hypot(*gap) < 0.01


def test_successors_turn_no_corner(made):
    for scene in made:
        for lane, after, _ in edges(scene.map, EdgeKind.SUCCESSOR):
            leave = directions(scene.map.polyline(lane))[-1]
            arrive = directions(scene.map.polyline(after))[0]
            assert abs(difference(leave, arrive)) < 0.6


def test_some_lanes_have_a_choice_of_successors(made):
    for scene in made:
        if scene.info["layout"] in ("signalised", "unsignalised", "roundabout"):
            first = [lane for lane, _, _ in edges(scene.map, EdgeKind.SUCCESSOR)]
            assert len(first) > len(set(first))


@pytest.mark.parametrize(("kind", "side"), [(EdgeKind.LEFT, 1.0), (EdgeKind.RIGHT, -1.0)])
def test_neighbours_lie_on_their_side_and_opposite_ones_run_against(made, kind, side):
    for scene in made:
        for lane, other, opposite in edges(scene.map, kind):
            start, stop = ends(scene.map, lane)
            along = (stop - start) / np.hypot(*(stop - start))
            own, beside = ends(scene.map, other)
            middle = (own + beside) / 2 - (start + stop) / 2
            assert side * (along[0] * middle[1] - along[1] * middle[0]) > 2.0
            assert (((beside - own) @ along) < 0) == opposite


def test_every_lane_has_a_boundary_on_each_side(made):
    for scene in made:
        road = scene.map
        for boundary, lane, _ in edges(road, EdgeKind.BOUNDARY_OF):
            name, side = str(road.polyline_id[boundary]).split(":")
            assert name == road.polyline_id[lane]
            assert side in ("left", "right")
        bounded = [lane for _, lane, _ in edges(road, EdgeKind.BOUNDARY_OF)]
        lanes = np.flatnonzero(road.kind == MapKind.LANE).tolist()
        assert sorted(bounded) == sorted(lanes * 2)


def test_signals_control_lanes_inside_the_junction(made):
    lit = [scene for scene in made if len(scene.signals)]
    assert lit
    for scene in lit:
        lane = scene.signals.lane
        assert (scene.map.kind[lane] == MapKind.LANE).all()
        assert scene.map.intersection[lane].all()
        first = scene.map.points[scene.map.start[lane], :2]
        np.testing.assert_allclose(scene.signals.stop_point[:, :2], first, atol=0.01)
        controlled = {b for _, b, _ in edges(scene.map, EdgeKind.CONTROLS)}
        before = {a for a, b, _ in edges(scene.map, EdgeKind.SUCCESSOR) if b in set(lane.tolist())}
        assert before <= controlled


def test_moving_vehicles_keep_to_the_lanes(made):
    far = counted = 0
    for scene in made:
        tracks, road = scene.tracks, scene.map
        lanes = np.flatnonzero(road.kind == MapKind.LANE)
        points = np.concatenate([road.polyline(lane)[:, :2] for lane in lanes])
        speed = np.hypot(*tracks.velocity[:, scene.now].T)
        moving = tracks.valid[:, scene.now] & (speed > 1.0) & (tracks.type == AgentType.VEHICLE)
        for place in tracks.position[moving, scene.now, :2]:
            # Map points lie up to 4 m apart.
            far += np.hypot(*(points - place).T).min() > 3.0
            counted += 1
    assert counted > 30
    assert far / counted < 0.05
