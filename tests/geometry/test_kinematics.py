"""Velocity and heading from the past, and the last valid step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from motionpred.geometry.kinematics import backward_heading, backward_velocity, last_valid

MASK = arrays(bool, (3, 8))


@given(MASK)
def test_the_last_valid_step_is_valid_and_nothing_after_it_is(valid):
    for row, last in zip(valid, last_valid(valid), strict=True):
        assert last == -1 or row[last]
        assert not row[last + 1 :].any()


def test_no_steps_at_all_is_no_last_step():
    assert last_valid(np.zeros((2, 0), bool)).tolist() == [-1, -1]


@given(MASK, st.floats(-30, 30), st.floats(0.05, 0.5))
def test_constant_motion_gives_its_velocity_wherever_two_steps_in_a_row_are_valid(valid, speed, dt):
    time = 100.0 + np.arange(8) * dt
    position = np.zeros((3, 8, 2))
    position[..., 1] = speed * (time - 100.0)
    velocity, known = backward_velocity(position, time, valid)
    np.testing.assert_array_equal(known[:, 1:], valid[:, 1:] & valid[:, :-1])
    assert not known[:, 0].any()
    np.testing.assert_allclose(velocity[known], np.tile([0, speed], (known.sum(), 1)), atol=1e-9)
    assert (velocity[~known] == 0).all()


def test_recorded_intervals_count_and_not_the_nominal_one():
    position = np.array([[[0.0, 0], [1, 0], [2, 0]]])
    velocity, _ = backward_velocity(position, np.array([0.0, 0.1, 0.3]), np.ones((1, 3), bool))
    assert velocity[0, :, 0] == pytest.approx([0, 10, 5])


@given(MASK, arrays(np.float64, (3, 8, 2), elements=st.floats(-50, 50)))
def test_nothing_after_a_step_changes_the_velocity_at_it(valid, position):
    time = np.arange(8) * 0.1
    whole, known = backward_velocity(position, time, valid)
    cut, cut_known = backward_velocity(position[:, :5], time[:5], valid[:, :5])
    np.testing.assert_array_equal(whole[:, :5], cut)
    np.testing.assert_array_equal(known[:, :5], cut_known)


def test_placeholders_at_invalid_steps_do_not_count_and_warn_of_nothing(recwarn):
    position = np.array([[[0.0, 0], [np.inf, np.nan], [2, 0], [3, 0]]])
    valid = np.array([[True, False, True, True]])
    velocity, known = backward_velocity(position, np.array([0.0, 0.1, 0.2, 0.3]), valid)
    assert known.tolist() == [[False, False, False, True]]
    np.testing.assert_allclose(velocity[0], [[0, 0], [0, 0], [0, 0], [10, 0]])
    assert not len(recwarn)


def test_a_heading_is_the_direction_of_the_latest_motion_and_lasts_over_a_stop_and_a_gap():
    time = np.array([0.0, 0.1, 0.3, 0.4, 0.5, 0.6, 0.7])
    x = np.array([0.0, 0, 0, 1, 1, 9, 9])
    y = np.array([0.0, 0, 1, 1, 1, 9, 9])
    valid = np.array([[True, True, True, True, True, False, True]])
    velocity, known = backward_velocity(np.stack([x, y], -1)[None], time, valid)
    heading, directed = backward_heading(velocity, known, valid)
    assert directed.tolist() == [[False, False, True, True, True, False, True]]
    np.testing.assert_allclose(heading[0], [0, 0, np.pi / 2, 0, 0, 0, 0])


def test_recorded_time_tells_motion_from_noise():
    position = np.array([[[0.0, 0], [0, -0.03], [0, -0.06]]])
    valid = np.ones((1, 3), bool)
    for dt, moves in ((0.1, True), (0.5, False)):  # 0.3 and 0.06 m/s
        velocity, known = backward_velocity(position, np.arange(3) * dt, valid)
        heading, directed = backward_heading(velocity, known, valid)
        assert directed.tolist() == [[False, moves, moves]]
        assert heading[0, 2] == pytest.approx(-np.pi / 2 if moves else 0)


@given(MASK, arrays(np.float64, (3, 8, 2), elements=st.floats(-50, 50)))
def test_nothing_after_a_step_changes_the_heading_at_it(valid, position):
    def headings(steps):
        velocity, known = backward_velocity(
            position[:, :steps], np.arange(steps) * 0.1, valid[:, :steps]
        )
        return backward_heading(velocity, known, valid[:, :steps])

    for whole, cut in zip(headings(8), headings(5), strict=True):
        np.testing.assert_array_equal(whole[:, :5], cut)
