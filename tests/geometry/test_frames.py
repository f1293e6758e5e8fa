"""Local frames: x forward, y left, and back to the world."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from motionpred.geometry.frames import rotate, to_local, to_world

HEADING = st.floats(-np.pi, np.pi)
ORIGIN = arrays(np.float64, 2, elements=st.floats(-1e4, 1e4))
POINTS = arrays(np.float64, (5, 2), elements=st.floats(-1e4, 1e4))


@given(POINTS, ORIGIN, HEADING)
def test_there_and_back_is_the_same_point(points, origin, heading):
    there = to_local(points, origin, heading)
    np.testing.assert_allclose(to_world(there, origin, heading), points, atol=1e-9)


@given(POINTS, ORIGIN, HEADING)
def test_distances_do_not_change(points, origin, heading):
    local = to_local(points, origin, heading)
    np.testing.assert_allclose(
        np.linalg.norm(local - local[:1], axis=1),
        np.linalg.norm(points - points[:1], axis=1),
        atol=1e-9,
    )


def test_a_point_to_the_north_lies_left_of_who_drives_east_and_ahead_of_who_drives_north():
    np.testing.assert_allclose(to_local([10.0, 12.0], [10.0, 10.0], 0.0), [0, 2], atol=1e-12)
    np.testing.assert_allclose(to_local([10.0, 12.0], [10.0, 10.0], np.pi / 2), [2, 0], atol=1e-12)


def test_a_quarter_turn_is_counter_clockwise():
    np.testing.assert_allclose(rotate([1.0, 0.0], np.pi / 2), [0, 1], atol=1e-12)


def test_every_point_may_have_a_frame_of_its_own():
    points = np.array([[1.0, 0.0], [0.0, 1.0]])
    local = to_local(points, np.zeros((2, 2)), np.array([0.0, np.pi / 2]))
    np.testing.assert_allclose(local, [[1, 0], [1, 0]], atol=1e-12)


@given(HEADING, HEADING)
def test_two_turns_are_one_turn_by_their_sum(a, b):
    point = np.array([3.0, -2.0])
    assert rotate(rotate(point, a), b) == pytest.approx(rotate(point, a + b), abs=1e-9)
