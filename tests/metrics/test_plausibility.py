"""Boxes that overlap, vehicles off the road, motion that is too hard."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.metrics.plausibility import (
    drivable_area,
    first_direction,
    hard_steps,
    on_area,
    overlapping_pairs,
    travel_heading,
)
from motionpred.scene import MapKind
from motionpred.testing import make_map

CAR = np.array([4.0, 2.0])


def _boxes(*agents, heading=None):
    position = np.array(agents, float)
    angle = np.zeros(position.shape[:2]) if heading is None else np.array(heading, float)
    return overlapping_pairs(position, angle, np.tile(CAR, (len(position), 1)))


def test_cars_side_by_side_two_metres_apart_touch_and_do_not_overlap():
    assert not _boxes([(0, 0)], [(0, 2.0)]).any()
    assert _boxes([(0, 0)], [(0, 1.99)]).tolist() == [[False, True], [True, False]]


def test_cars_meet_when_one_of_them_is_turned():
    across = _boxes([(0, 0)], [(0, 2.9)], heading=[[0], [np.pi / 2]])
    assert across[0, 1]
    assert not _boxes([(0, 0)], [(0, 2.9)])[0, 1]


def test_one_common_step_is_enough_and_different_steps_are_not():
    assert _boxes([(0, 0), (10, 0)], [(50, 0), (11, 0)])[0, 1]
    assert not _boxes([(0, 0), (10, 0)], [(10, 0), (0, 0)])[0, 1]


def test_boxes_where_one_of_them_has_no_state_do_not_meet():
    position, heading = np.zeros((2, 2, 2)), np.zeros((2, 2))
    valid = np.array([[True, False], [False, True]])
    assert not overlapping_pairs(position, heading, np.tile(CAR, (2, 1)), valid).any()


@pytest.mark.parametrize("seed", range(10))
def test_pairs_are_symmetric_and_follow_the_agents_order(seed):
    rng = np.random.default_rng(seed)
    position, heading = rng.uniform(-12, 12, (7, 5, 2)), rng.uniform(-3, 3, (7, 5))
    size, order = rng.uniform(1, 5, (7, 2)), rng.permutation(7)
    met = overlapping_pairs(position, heading, size)
    assert met.any() and not met.diagonal().any()
    np.testing.assert_array_equal(met, met.T)
    again = overlapping_pairs(position[order], heading[order], size[order])
    np.testing.assert_array_equal(again, met[order][:, order])


def test_heading_follows_the_path_and_is_kept_while_standing():
    path = np.array([[(0, 0), (0, 1), (0, 1.01), (-1, 1.01)], [(5, 5)] * 4], float)
    heading = travel_heading(path, np.array([(-1.0, 0), (5, 5)]), np.array([2.0, -1.0]))
    np.testing.assert_allclose(heading[0], [0, np.pi / 2, np.pi / 2, np.pi])
    np.testing.assert_allclose(heading[1], -1.0)


def _square(low, high):
    return [(low, low), (high, low), (high, high), (low, high)]


def test_a_hole_is_not_part_of_the_area_and_the_edge_is():
    road = make_map(
        [(MapKind.DRIVABLE_AREA, _square(0, 10)), (MapKind.DRIVABLE_AREA, _square(4, 6))],
        attributes={"hole_of": [-1, 0]},
    )
    points = np.array([[(1, 1), (5, 5), (11, 5), (10, 5)]], float)
    np.testing.assert_array_equal(
        on_area(points, drivable_area(road)), [[True, False, False, True]]
    )


def test_two_areas_side_by_side_have_no_gap_between_them():
    road = make_map(
        [
            (MapKind.DRIVABLE_AREA, [(0, 0), (5, 0), (5, 5), (0, 5)]),
            (MapKind.DRIVABLE_AREA, [(5, 0), (9, 0), (9, 5), (5, 5)]),
            (MapKind.CROSSWALK, _square(20, 30)),
        ]
    )
    points = np.array([(4.9, 1), (5, 1), (5.1, 1), (25, 25)])
    np.testing.assert_array_equal(on_area(points, drivable_area(road)), [True, True, True, False])


def test_a_map_without_areas_has_none():
    assert drivable_area(make_map([(MapKind.LANE, [(0, 0), (1, 0)])])) == []


TIME = 0.1 * np.arange(1, 31)


def _along(x):
    return np.stack([x, np.zeros_like(x)], -1)[None]


def test_constant_speed_is_never_hard():
    steps = hard_steps(_along(15 * TIME), TIME, np.zeros((1, 2)))
    assert steps.shape == (1, 21)
    assert not steps.any()


@pytest.mark.parametrize(("braking", "hard"), [(7.9, False), (8.1, True)])
def test_acceleration_is_hard_over_eight_metres_per_second_squared(braking, hard):
    path = _along(30 * TIME - braking / 2 * TIME**2)
    assert hard_steps(path, TIME, np.zeros((1, 2))).all() == hard


@pytest.mark.parametrize(("rate", "hard"), [(1.45, False), (1.55, True)])
def test_turning_is_hard_over_one_and_a_half_radians_per_second(rate, hard):
    path = 2 * np.stack([np.sin(rate * TIME), 1 - np.cos(rate * TIME)], -1)[None] / rate
    assert hard_steps(path, TIME, np.zeros((1, 2))).all() == hard
    given = hard_steps(_along(TIME), TIME, np.zeros((1, 2)), heading=rate * TIME[None])
    assert given.all() == hard


def test_a_jump_at_now_is_hard_though_the_rest_is_smooth():
    steps = hard_steps(_along(20 + 1.0 * TIME), TIME, np.zeros((1, 2)))
    assert steps[0, 0] and not steps[0, 10:].any()


def test_jitter_of_a_standing_agent_is_no_turn():
    jitter = 0.02 * np.where(np.arange(30) % 2, 1, -1)
    assert not hard_steps(_along(jitter), TIME, np.zeros((1, 2))).any()


def test_a_forecast_too_short_for_the_differences_has_no_step():
    assert hard_steps(_along(TIME[:9]), TIME[:9], np.zeros((1, 2))).shape == (1, 0)
    assert hard_steps(_along(TIME[:3]), TIME[:3], np.zeros((1, 2))).shape == (1, 0)


def test_half_second_steps_are_compared_one_by_one():
    time = 0.5 * np.arange(1, 7)
    path = _along(30 * time - 4.5 * time**2)
    assert hard_steps(path, time, np.zeros((1, 2))).tolist() == [[True] * 5]


def test_the_first_direction_is_that_of_the_first_valid_state_away_from_the_first():
    path = np.array([[[9.0, 9], [0, 0], [0.01, 0], [0, 3], [5, 3]]] * 2)
    valid = np.array([[False, True, True, True, True], [False, True, True, False, False]])
    assert first_direction(path, valid) == pytest.approx([np.pi / 2, 0.0])
    assert first_direction(np.zeros((2, 1, 2))).tolist() == [0, 0]
