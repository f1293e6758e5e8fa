"""Likelihood of the truth, and calibration of mode probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.metrics.uncertainty import calibration_bins, calibration_error, laplace_nll


def _nll(position, scale, probability, truth, heading=0.0):
    return laplace_nll(
        np.asarray(position, float)[:, None, None],
        np.asarray(scale, float)[:, None, None],
        np.asarray([probability], float),
        np.asarray(truth, float)[None, None],
        np.array([heading]),
    ).item()


def test_one_mode_is_the_sum_of_two_laplace_densities():
    expected = 3.0 / 2.0 + np.log(2 * 2.0) + 1.0 / 0.5 + np.log(2 * 0.5)
    assert _nll([(0, 0)], [(2.0, 0.5)], [1.0], (3.0, -1.0)) == pytest.approx(expected)


def test_scale_is_along_and_across_the_agent_s_heading_at_now():
    ahead = _nll([(0, 0)], [(2.0, 0.5)], [1.0], (0.0, 3.0), heading=np.pi / 2)
    assert ahead == pytest.approx(_nll([(0, 0)], [(2.0, 0.5)], [1.0], (3.0, 0.0)))


def test_a_mode_of_probability_zero_adds_nothing():
    one = _nll([(1, 0)], [(1, 1)], [1.0], (0, 0))
    assert _nll([(1, 0), (0, 0)], [(1, 1)] * 2, [1.0, 0.0], (0, 0)) == pytest.approx(one)


def test_far_from_every_mode_the_likelihood_stays_finite():
    assert _nll([(0, 0), (1, 0)], [(0.1, 0.1)] * 2, [0.5, 0.5], (1e4, 0)) == pytest.approx(
        (1e4 - 1) / 0.1 + np.log(2) + 2 * np.log(0.2)
    )


def test_density_integrates_to_one():
    x = np.arange(-12, 12, 0.05) + 0.025
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), -1).reshape(1, -1, 2)
    shape = (2, 1, grid.shape[1], 2)
    position = np.broadcast_to(np.array([(0.0, 0), (2, 1)])[:, None, None], shape)
    scale = np.broadcast_to(np.array([(1.0, 0.5), (0.7, 1)])[:, None, None], shape)
    nll = laplace_nll(position, scale, np.array([[0.3, 0.7]]), grid, np.array([0.4]))
    assert np.exp(-nll).sum() * 0.05**2 == pytest.approx(1.0, abs=2e-3)


def test_modes_that_win_as_often_as_they_say_have_no_error():
    probability = np.array([[0.75, 0.25]] * 4)
    hit = np.array([[True, False]] * 3 + [[False, True]])
    assert calibration_error(calibration_bins(probability, hit)) == (0.0, 8.0)


def test_an_over_confident_mode_shows_the_gap():
    bins = calibration_bins(np.array([0.95, 0.95]), np.array([True, False]))
    gap, count = calibration_error(bins)
    assert gap / count == pytest.approx(0.45)


def test_bins_hold_their_lower_edge_and_one_is_in_the_last():
    bins = calibration_bins(np.array([0.0, 0.5, 1.0]), np.array([False, True, True]))
    assert [row[0] for row in bins] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert bins[5] == [1, 0.5, 1]


def test_gaps_are_taken_after_the_bins_of_all_scenes_are_summed():
    hit, miss = (calibration_bins(np.array([0.55]), np.array([h])) for h in (True, False))
    together = np.add(hit, miss).tolist()
    gap, count = calibration_error(together)
    assert gap / count == pytest.approx(0.05)
