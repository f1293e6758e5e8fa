"""Angles stay in (-pi, pi] and take the shorter arc."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motionpred.geometry import angles

ANGLE = st.floats(-1e3, 1e3)
INSIDE = st.floats(-np.pi, np.pi, exclude_min=True)
FRACTION = st.floats(0, 1)


@given(ANGLE)
def test_wrapping_keeps_the_direction_and_stays_in_range(angle):
    wrapped = angles.wrap(angle)
    assert -np.pi < wrapped <= np.pi
    assert np.cos(wrapped - angle) == pytest.approx(1.0, abs=1e-12)


@given(st.floats(-3.14159, np.pi))
def test_an_angle_in_range_is_left_as_it_is(angle):
    assert angles.wrap(angle) == pytest.approx(angle, abs=1e-15)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_both_ends_wrap_to_plus_pi_in_every_precision(kind):
    ends = np.array([-np.pi, np.pi, 3 * np.pi, -3 * np.pi], kind)
    wrapped = angles.wrap(ends)
    assert wrapped.dtype == kind
    assert (np.abs(wrapped) <= kind(np.pi)).all()
    assert wrapped[0] == wrapped[1] == kind(np.pi)


@given(st.floats(-1e3, 1e3, width=32))
def test_wrapped_float32_is_a_legal_heading_of_a_scene(angle):
    wrapped = angles.wrap(np.float32(angle))
    assert -np.float32(np.pi) < wrapped <= np.float32(np.pi)


@given(ANGLE, ANGLE)
def test_a_difference_undoes_an_addition(a, turn):
    assert np.cos(angles.difference(a + turn, a) - turn) == pytest.approx(1.0, abs=1e-9)


@given(INSIDE, INSIDE, FRACTION)
def test_interpolation_never_goes_the_long_way_round(a, b, fraction):
    between = angles.interpolate(a, b, fraction)
    whole = abs(angles.difference(b, a))
    assert abs(angles.difference(between, a)) == pytest.approx(fraction * whole, abs=1e-9)
    assert -np.pi < between <= np.pi


@given(INSIDE, st.floats(-1.5, 1.5))
def test_the_mean_of_two_headings_lies_halfway_on_the_shorter_arc(a, turn):
    average = angles.mean([a, a + turn])
    assert angles.difference(average, a + turn / 2) == pytest.approx(0, abs=1e-9)


def test_opposite_headings_have_mean_zero_and_not_the_direction_of_rounding():
    assert angles.mean([0.0, np.pi]) == 0
    assert angles.mean([np.pi / 2, -np.pi / 2]) == 0
    assert angles.mean(np.array([0.3, 0.3 - np.pi], np.float32)) == 0


def test_an_angle_of_weight_zero_is_left_out():
    assert angles.mean([0.2, 2.0, 0.4], weight=[1, 0, 1]) == pytest.approx(0.3)
    rows = np.array([[0.2, 2.0], [1.0, 3.0]])
    np.testing.assert_allclose(angles.mean(rows, weight=[1, 0]), [0.2, 1.0])


def test_the_mean_runs_along_the_axis_asked_for_and_keeps_the_precision():
    headings = np.array([[0.1, 0.2, 0.3], [0.3, 0.4, 0.5]], np.float32)
    average = angles.mean(headings, axis=0)
    assert average.dtype == np.float32
    np.testing.assert_allclose(average, [0.2, 0.3, 0.4], atol=1e-6)
