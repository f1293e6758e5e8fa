"""What of a scene enters a batch, and in which frame."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from motionpred.errors import ConfigError
from motionpred.graph import BatchOptions, SceneArrays, encode
from motionpred.scene import (
    AgentType,
    EdgeKind,
    MapKind,
    Role,
    Scene,
    Signals,
    SignalState,
    TimeSpec,
)
from motionpred.testing import crossing_scene, make_map, make_scene, make_tracks

CLOCK = TimeSpec(0.1, 5, 4)
NEVER = [0, 0, 0, 0, 0, 0, 0, 0, 0]
ALWAYS = [1, 1, 1, 1, 1, 1, 1, 1, 1]


def line_up(*x: float, steps: int = 9, **columns) -> Scene:
    """Agents that stand on the x axis, now at step 4."""
    position = np.zeros((len(x), steps, 2))
    position[..., 0] = np.array(x)[:, None]
    road = columns.pop("map", None)
    return make_scene(make_tracks(position, **columns), now=4, map=road)


def differing(a: SceneArrays, b: SceneArrays) -> set[str]:
    """Names of the fields that are not equal, bit for bit."""
    return {
        item.name
        for item in fields(a)
        if not np.array_equal(getattr(a, item.name), getattr(b, item.name))
    }


def test_the_origin_is_the_mean_of_the_agents_at_now_and_positions_are_relative_to_it():
    row = encode(line_up(10.0, 30.0), CLOCK)
    assert row.origin.tolist() == [20, 0]
    assert row.origin.dtype == np.float64
    assert row.history_state[:, -1, 0].tolist() == [-10, 10]
    assert row.target_state[:, 0, 0].tolist() == [-10, 10]


def test_an_agent_that_misses_now_does_not_move_the_origin_and_is_context_at_its_last_pose():
    scene = line_up(10.0, 30.0, valid=[ALWAYS, [1, 1, 1, 0, 0, 1, 1, 1, 1]])
    row = encode(scene, CLOCK)
    assert row.origin.tolist() == [10, 0]
    assert row.predict.tolist() == [True, False]
    assert row.pose[1, :2].tolist() == [20, 0]
    assert row.age.tolist() == pytest.approx([0, 0.2])
    assert row.dropped["agents_missing_at_now"] == 1


def test_without_anybody_at_now_the_origin_is_the_last_poses_then_the_map_then_zero():
    gone = line_up(10.0, 30.0, valid=[[1, 1, 0, 0, 0, 0, 0, 0, 0]] * 2)
    assert encode(gone, CLOCK).origin.tolist() == [20, 0]
    road = make_map([(MapKind.LANE, [(100.0, 0), (120, 0)])])
    nobody = line_up(10.0, valid=[NEVER], map=road)
    row = encode(nobody, CLOCK)
    assert row.origin.tolist() == [110, 0]
    assert row.history_state.shape == (0, 5, 8)
    assert len(row.map_pose) == 1
    assert encode(line_up(10.0, valid=[NEVER]), CLOCK).origin.tolist() == [0, 0]


def test_columns_are_where_their_names_say():
    scene = crossing_scene()
    row = encode(scene, TimeSpec(0.1, 50, 60))
    tracks, now = scene.tracks, scene.now
    local = tracks.position[:, : now + 1, :2] - row.origin
    valid = tracks.valid[:, : now + 1]
    np.testing.assert_allclose(row.history_state[..., :2][valid], local[valid], atol=1e-5)
    np.testing.assert_array_equal(row.history_state[..., 2], tracks.heading[:, : now + 1])
    np.testing.assert_array_equal(row.history_state[..., 3:5], tracks.velocity[:, : now + 1])
    np.testing.assert_array_equal(row.history_state[..., 5:], tracks.size[:, : now + 1])
    np.testing.assert_array_equal(row.history_flags[..., 0], valid)
    np.testing.assert_array_equal(row.target_flags[..., 1], tracks.measured[:, now + 1 :])
    np.testing.assert_array_equal(row.target_state[..., 2], tracks.heading[:, now + 1 :])
    np.testing.assert_array_equal(row.roles, tracks.roles)


def test_static_agents_are_context_and_unknown_ones_are_predicted():
    types = [AgentType.STATIC, AgentType.UNKNOWN, AgentType.RIDERLESS_BICYCLE]
    roles = [Role.UNSCORED] * 3
    row = encode(line_up(0.0, 5.0, 9.0, type=types, roles=roles), CLOCK)
    assert row.predict.tolist() == [False, True, True]


def test_the_list_of_a_benchmark_wins_over_the_class():
    types, roles = [AgentType.STATIC] * 2, [Role.SCORED, Role.UNSCORED]
    row = encode(line_up(0.0, 5.0, type=types, roles=roles), CLOCK)
    assert row.predict.tolist() == [True, False]


def test_an_agent_below_the_minimal_history_is_context_and_counted():
    scene = line_up(0.0, 5.0, valid=[ALWAYS, [0, 0, 0, 1, 1, 1, 1, 1, 1]])
    row = encode(scene, CLOCK, BatchOptions(min_history=3))
    assert row.predict.tolist() == [True, False]
    assert row.dropped["agents_below_min_history"] == 1
    assert encode(scene, CLOCK, BatchOptions(min_history=2)).predict.all()


def test_everything_but_the_target_is_the_same_whatever_comes_after_now():
    scene = crossing_scene()
    clock = TimeSpec(0.1, 50, 60)
    tracks, now = scene.tracks, scene.now
    late = make_tracks(
        np.full((1, 110, 2), 3000.0), valid=[[False] * 50 + [True] * 60], track_id=["late"]
    )
    columns = {
        name: np.concatenate([getattr(late, name), getattr(tracks, name)])
        for name in (item.name for item in fields(tracks))
        if isinstance(getattr(tracks, name), np.ndarray)
    }
    appended = replace(scene, tracks=replace(tracks, **columns)).validate()
    position = tracks.position.copy()
    position[:, now + 1 :] += 50 * tracks.valid[:, now + 1 :, None]
    position[..., 2] = 0
    altered = replace(scene, tracks=replace(tracks, position=position)).validate()
    row = encode(scene, clock)
    future = {"target_state", "target_flags"}
    assert differing(row, encode(appended, clock)) == set()
    assert differing(row, encode(altered, clock)) == {"target_state"}
    assert differing(row, encode(scene.observed(), clock)) == future
    shorter = replace(
        scene,
        time=scene.time[:70],
        tracks=tracks.steps(0, 70),
        signals=Signals.empty(70),
    )
    assert differing(row, encode(shorter, clock)) == future


def test_targets_stay_with_their_agents_when_a_track_before_them_only_appears_later():
    scene = line_up(1.0, 2.0, 3.0, valid=[[0, 0, 0, 0, 0, 1, 1, 1, 1], ALWAYS, ALWAYS])
    row = encode(scene, CLOCK)
    assert row.track_id.tolist() == ["1", "2"]
    np.testing.assert_allclose(row.target_state[:, 0, 0] + row.origin[0], [2, 3])


def test_a_scene_of_another_clock_is_refused_and_both_are_named():
    with pytest.raises(ConfigError, match=r"0\.1 s.*0\.5 s.*resample"):
        encode(line_up(0.0), TimeSpec(0.5, 4, 12))
    encode(line_up(0.0), TimeSpec(0.1015, 5, 4))


def test_missing_history_is_invalid_at_the_front_and_counted():
    row = encode(line_up(3.0, 5.0), TimeSpec(0.1, 8, 4))
    assert row.history_flags[0, :, 0].tolist() == [False] * 3 + [True] * 5
    assert (row.history_state[:, :3] == 0).all()
    assert row.time.tolist() == pytest.approx([-0.7, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0])
    assert row.dropped["history_padded"] == 3
    assert row.pose[:, 0].tolist() == [-1, 1]


def test_more_history_loses_its_oldest_steps_and_who_was_only_there_then():
    scene = line_up(3.0, 9.0, valid=[ALWAYS, [1, 1, 0, 0, 0, 1, 1, 1, 1]])
    row = encode(scene, TimeSpec(0.1, 3, 4))
    assert row.history_state.shape == (1, 3, 8)
    assert row.track_id.tolist() == ["0"]
    assert row.dropped["history_cropped"] == 2
    assert row.target_state.shape == (1, 4, 8)


def test_a_longer_future_is_cropped_and_a_shorter_one_is_invalid():
    scene = line_up(3.0)
    cropped = encode(scene, TimeSpec(0.1, 5, 3))
    assert cropped.target_flags[0, :, 0].all()
    assert cropped.dropped["future_cropped"] == 1
    padded = encode(scene, TimeSpec(0.1, 5, 6))
    assert padded.target_flags[0, :, 0].tolist() == [True] * 4 + [False] * 2
    assert "future_cropped" not in padded.dropped


def test_times_are_the_recorded_ones_relative_to_now():
    tracks = make_tracks(np.zeros((1, 4, 2)), valid=[[1, 1, 0, 0]])
    scene = make_scene(tracks, now=3, time=[100.0, 100.11, 100.19, 100.32])
    row = encode(scene, TimeSpec(0.1, 4, 0))
    assert row.time.tolist() == pytest.approx([-0.32, -0.21, -0.13, 0], abs=1e-6)
    assert row.age.tolist() == pytest.approx([0.21], abs=1e-6)


def test_the_cap_keeps_the_nearest_to_the_scored_agents_in_the_order_of_the_scene():
    roles = [Role.NONE, Role.NONE, Role.SCORED, Role.NONE, Role.SCORED]
    scene = line_up(90.0, 14.0, 200.0, 198.0, 10.0, roles=roles)
    row = encode(scene, CLOCK, BatchOptions(max_agents=4))
    assert row.track_id.tolist() == ["1", "2", "3", "4"]
    assert row.dropped["agents"] == 1


def test_scored_agents_are_kept_even_where_they_alone_exceed_the_cap():
    scene = line_up(0.0, 1.0, 2.0, 0.5, roles=[Role.SCORED] * 3 + [Role.NONE])
    row = encode(scene, CLOCK, BatchOptions(max_agents=2))
    assert row.track_id.tolist() == ["0", "1", "2"]
    assert row.dropped["agents"] == 1


def test_ties_at_the_cap_go_by_track_id_and_not_by_the_order_in_the_file():
    roles = [Role.NONE, Role.NONE, Role.SCORED]
    one = line_up(3.0, -3.0, 0.0, roles=roles, track_id=["b", "a", "s"])
    other = line_up(-3.0, 3.0, 0.0, roles=roles, track_id=["a", "b", "s"])
    for scene in (one, other):
        row = encode(scene, CLOCK, BatchOptions(max_agents=2))
        assert sorted(row.track_id) == ["a", "s"]


def test_without_scored_agents_the_cap_keeps_those_near_the_ego():
    scene = line_up(50.0, 0.0, 48.0, roles=[Role.EGO, Role.NONE, Role.NONE])
    row = encode(scene, CLOCK, BatchOptions(max_agents=2))
    assert row.track_id.tolist() == ["0", "2"]


def test_agents_are_the_same_in_any_order_of_the_file():
    scene = crossing_scene()
    clock, order = TimeSpec(0.1, 50, 60), np.array([3, 1, 6, 0, 2, 5, 4])
    row = encode(scene, clock)
    other = encode(replace(scene, tracks=scene.tracks.take(order)), clock)
    np.testing.assert_array_equal(other.track_key, row.track_key[order])
    np.testing.assert_array_equal(other.predict, row.predict[order])
    for name in ("history_state", "target_state", "pose"):
        np.testing.assert_allclose(getattr(other, name), getattr(row, name)[order], atol=1e-5)
    np.testing.assert_allclose(other.map_points, row.map_points, atol=1e-5)


def test_signals_at_now_are_a_category_of_their_lane():
    road = make_map([(MapKind.LANE, [(0.0, 0), (9, 0)]), (MapKind.LANE, [(0.0, 4), (9, 4)])])
    scene = line_up(0.0, map=road)
    state = np.full((2, 9), SignalState.STOP, np.int8)
    state[:, 4], state[:, 5:] = [SignalState.GO, SignalState.STOP], SignalState.CAUTION
    scene = replace(scene, signals=Signals(np.array([1, -1]), state, np.zeros((2, 3)))).validate()
    row = encode(scene, CLOCK)
    assert row.map_category[:, 4].tolist() == [SignalState.UNKNOWN, SignalState.GO]


def test_map_links_follow_the_kept_pieces_and_are_sorted_by_kind():
    lanes = [(MapKind.LANE, [(x, 0.0), (x + 10, 0)]) for x in (900.0, 0.0, 10.0)]
    road = make_map(
        [*lanes, (MapKind.LANE_BOUNDARY, [(0.0, 2), (10, 2)])],
        edges=[
            (2, 1, EdgeKind.LEFT),
            (1, 2, EdgeKind.SUCCESSOR),
            (0, 1, EdgeKind.SUCCESSOR),
            (3, 1, EdgeKind.BOUNDARY_OF),
        ],
        opposite=[True, False, False, False],
    )
    scene = line_up(0.0, map=road)
    row = encode(scene, CLOCK)
    assert row.lane_edges.tolist() == [[0, 1, EdgeKind.SUCCESSOR, 0], [1, 0, EdgeKind.LEFT, 1]]
    assert row.dropped["map_pieces_far"] == 1
    both = encode(scene, CLOCK, BatchOptions(map_kinds=(MapKind.LANE, MapKind.LANE_BOUNDARY)))
    assert [2, 0, EdgeKind.BOUNDARY_OF, 0] in both.lane_edges.tolist()


def test_the_map_reaches_as_far_as_the_radius_around_any_predicted_agent():
    lanes = [(MapKind.LANE, [(0.0, y), (10.0, y)]) for y in (0.0, 49.0, 51.0, 149.0, 151.0)]
    position = np.zeros((3, 9, 2))
    position[1, :, 1], position[2, :, 1] = 100.0, 400.0
    types = [AgentType.VEHICLE, AgentType.VEHICLE, AgentType.STATIC]
    scene = make_scene(make_tracks(position, type=types), now=4, map=make_map(lanes))
    row = encode(scene, CLOCK, BatchOptions(map_radius=50.0))
    np.testing.assert_allclose(row.map_pose[:, 1] + row.origin[1], [0, 49, 51, 149], atol=1e-4)


def test_the_map_cap_keeps_the_nearest_pieces_in_the_order_of_the_map():
    lanes = [(MapKind.LANE, [(-5.0, y), (5.0, y)]) for y in (30.0, 3.0, 20.0, 1.0)]
    row = encode(line_up(0.0, map=make_map(lanes)), CLOCK, BatchOptions(max_map=2))
    np.testing.assert_allclose(row.map_pose[:, 1], [3, 1])
    assert row.dropped["map_pieces"] == 2


def test_a_ring_is_sampled_with_the_side_that_closes_it():
    walk = [(0.0, 0.0), (4, 0), (4, 4), (0, 4)]
    road = make_map([(MapKind.CROSSWALK, walk), (MapKind.LANE, walk)])
    row = encode(line_up(0.0, map=road), CLOCK, BatchOptions(map_points=5))
    np.testing.assert_allclose(row.map_points[0], [*walk, walk[0]], atol=1e-6)
    np.testing.assert_allclose(row.map_points[1][-1], walk[-1], atol=1e-6)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_the_pose_of_a_piece_is_its_middle_and_the_direction_there(count):
    road = make_map([(MapKind.LANE, [(0.0, 0), (0, 8)]), (MapKind.STOP_SIGN, [(3.0, 3)])])
    row = encode(line_up(0.0, map=road), CLOCK, BatchOptions(map_points=count))
    np.testing.assert_allclose(row.map_pose, [[0, 4, np.pi / 2], [3, 3, 0]], atol=1e-6)


def test_areas_boundaries_and_paint_come_only_when_asked_for():
    square = [(0.0, 0.0), (4, 0), (4, 4)]
    kinds = [MapKind.DRIVABLE_AREA, MapKind.LANE_BOUNDARY, MapKind.ROAD_LINE, MapKind.ROAD_EDGE]
    scene = line_up(0.0, map=make_map([(kind, square) for kind in kinds]))
    assert encode(scene, CLOCK).map_category[:, 0].tolist() == [MapKind.ROAD_EDGE]
    every = encode(scene, CLOCK, BatchOptions(map_kinds=tuple(MapKind)))
    assert every.map_category[:, 0].tolist() == kinds


@pytest.mark.parametrize(
    "wrong", [{"max_agents": 0}, {"map_points": 1}, {"map_radius": 0.0}, {"min_history": 0}]
)
def test_an_option_that_makes_no_sense_is_refused_by_name(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        BatchOptions(**wrong)
