"""Oriented boxes: corners and overlap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import Polygon

from motionpred.geometry.boxes import corners, overlap

COORDINATE = st.floats(-6, 6)
BOX = st.tuples(COORDINATE, COORDINATE, st.floats(-3, 3), st.floats(0.2, 8), st.floats(0.2, 4))


def box(x: float, y: float, heading: float, length: float, width: float) -> np.ndarray:
    return corners([x, y], heading, [length, width])


def test_the_front_left_corner_comes_first_and_the_rest_counter_clockwise():
    expected = [[12.0, 21.0], [8.0, 21.0], [8.0, 19.0], [12.0, 19.0]]
    np.testing.assert_allclose(box(10, 20, 0.0, 4, 2), expected)


def test_a_box_that_faces_north_is_as_long_as_it_was_towards_the_north():
    turned = box(0, 0, np.pi / 2, 4, 2)
    np.testing.assert_allclose(turned[0], [-1, 2], atol=1e-12)
    assert np.ptp(turned[:, 1]) == pytest.approx(4)


@given(BOX, BOX)
def test_overlap_agrees_with_shapely(a, b):
    first, second = box(*a), box(*b)
    shared = Polygon(first).intersection(Polygon(second)).area
    if 0 < shared < 1e-9:
        return  # a touch within rounding: either answer is right
    assert overlap(first, second) == (shared > 0)


@given(BOX, BOX)
def test_overlap_is_symmetric(a, b):
    assert overlap(box(*a), box(*b)) == overlap(box(*b), box(*a))


def test_touching_sides_are_no_overlap():
    assert not overlap(box(0, 0, 0, 4, 2), box(4, 0, 0, 4, 2))
    assert overlap(box(0, 0, 0, 4, 2), box(3.99, 0, 0, 4, 2))


def test_a_small_box_inside_a_large_one_overlaps_it():
    assert overlap(box(0, 0, 0.3, 1, 1), box(0, 0, 0, 10, 10))


def test_a_box_without_area_overlaps_nothing():
    assert not overlap(box(0, 0, 0, 0, 0), box(0, 0, 0, 4, 2))


def test_pairs_broadcast():
    boxes = corners(
        np.array([[0.0, 0.0], [1.0, 0.0], [50.0, 0.0]]), np.zeros(3), np.full((3, 2), 2.0)
    )
    table = overlap(boxes[:, None], boxes[None])
    np.testing.assert_array_equal(table, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
