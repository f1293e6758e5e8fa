"""F14: headings on both sides of pi are close together."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.geometry import angles
from motionpred.testing import make_tracks

WEST = np.array([3.13, -3.13])


def test_f14_the_difference_goes_over_pi_and_not_over_zero():
    assert angles.difference(3.13, -3.13) == pytest.approx(-0.0232, abs=1e-4)
    assert angles.difference(-3.13, 3.13) == pytest.approx(0.0232, abs=1e-4)


def test_f14_the_mean_of_two_westbound_headings_is_west():
    assert abs(angles.mean(WEST)) == pytest.approx(np.pi)
    assert angles.mean(WEST) <= np.pi
    assert np.degrees(angles.mean(np.radians([350.0, 10.0]))) == pytest.approx(0, abs=1e-9)


def test_f14_halfway_between_two_westbound_headings_is_west():
    halfway = angles.interpolate(*WEST, 0.5)
    assert halfway == pytest.approx(np.pi)
    quarter = angles.interpolate(*WEST, 0.25)
    assert quarter == pytest.approx(3.13 + 0.0232 / 4, abs=1e-4)


def test_f14_headings_given_beyond_pi_enter_a_scene_in_range():
    position = np.zeros((1, 4, 2))
    tracks = make_tracks(position, heading=[[np.pi, -np.pi, 3.2, -7.0]])
    assert (tracks.heading > -np.float32(np.pi)).all()
    assert (tracks.heading <= np.float32(np.pi)).all()
    assert np.cos(tracks.heading[0, 2] - 3.2) == pytest.approx(1)
