"""Displacement errors, masks, and the order of modes."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.errors import SceneError
from motionpred.metrics.displacement import (
    ade,
    brier_penalty,
    displacement,
    fde,
    missed,
    most_probable,
)

NAN = float("nan")


def test_displacement_is_the_distance_at_each_step():
    error = displacement([[(3, 4), (0, 0)], [(1, 1), (0, 2)]], [(0, 0), (0, 0)])
    np.testing.assert_allclose(error, [[5, 0], [np.sqrt(2), 2]])


def test_displacement_of_float32_coordinates_is_taken_in_float64():
    position = np.array([[[4000.0, 1.0]]], np.float32)
    assert displacement(position, np.array([[4000.0, 1.0]]) + 1e-5).item() == pytest.approx(
        1e-5 * np.sqrt(2), rel=1e-6
    )


def test_ade_divides_by_the_number_of_valid_steps_and_never_reads_the_others():
    error = np.array([[1.0, NAN, 3.0], [2.0, NAN, 4.0]])
    valid = np.array([True, False, True])
    np.testing.assert_array_equal(ade(error, valid), [2.0, 3.0])


def test_ade_without_any_valid_step_is_not_a_number_rather_than_zero():
    assert np.isnan(ade(np.zeros(3), np.zeros(3, bool)))


def test_fde_needs_the_last_step():
    error = np.array([[1.0, 2.0], [1.0, 5.0]])
    valid = np.array([[False, True], [True, False]])
    np.testing.assert_array_equal(fde(error, valid), [2.0, NAN])
    np.testing.assert_array_equal(fde(error), [2.0, 5.0])


def test_a_miss_is_strictly_farther_than_two_metres():
    np.testing.assert_array_equal(
        missed(np.array([2.0, np.nextafter(2.0, 3), NAN])), [False, True, False]
    )


@pytest.mark.parametrize("bad", [[-0.1, 1.1], [3.0, 2.0], [NAN, 1.0]])
def test_brier_refuses_what_is_no_probability(bad):
    with pytest.raises(SceneError, match=r"outside 0\.\.1"):
        brier_penalty(bad)


def test_brier_penalty_is_the_square_of_the_missing_probability():
    np.testing.assert_allclose(brier_penalty([0.2, 1.0]), [0.64, 0.0])


def test_equally_probable_modes_keep_their_order():
    many = np.r_[np.full(20, 0.02), 0.5, np.full(20, 0.005)]
    np.testing.assert_array_equal(most_probable(many, 4), [20, 0, 1, 2])
    np.testing.assert_array_equal(most_probable(np.array([0.5, 0.5]), 6), [0, 1])
    per_agent = np.array([[0.2, 0.4, 0.4], [0.4, 0.2, 0.4]])
    np.testing.assert_array_equal(most_probable(per_agent, 2), [[1, 2], [0, 2]])
