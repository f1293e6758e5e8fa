"""Polylines: cleaning, measuring, resampling many at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from shapely.geometry import LineString

from motionpred.geometry.polylines import (
    directions,
    drop_all_repeats,
    drop_repeats,
    open_rings,
    resample,
    take,
)

POINT = st.tuples(st.floats(-100, 100), st.floats(-100, 100))
POLYLINE = st.lists(POINT, min_size=1, max_size=7).map(np.array)
# Corners on a grid: repeated points and zero lengths occur.
GRID = arrays(np.float64, st.tuples(st.integers(1, 6), st.just(2)), elements=st.integers(0, 2))


def flat(polylines: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate(polylines), np.cumsum([0, *map(len, polylines)])


@given(GRID)
def test_without_repeats_no_point_equals_the_one_before(points):
    clean = drop_repeats(points)
    assert (np.abs(np.diff(clean, axis=0)).sum(axis=1) > 0).all()
    assert np.isin(points.view("f8,f8"), clean.view("f8,f8")).all()
    np.testing.assert_array_equal(clean[[0, -1]], points[[0, -1]])


@given(st.lists(GRID, min_size=1, max_size=5))
def test_repeats_are_dropped_from_many_polylines_as_from_each(polylines):
    points, start = drop_all_repeats(*flat(polylines))
    assert len(start) == len(polylines) + 1
    for place, own in enumerate(polylines):
        np.testing.assert_array_equal(points[start[place] : start[place + 1]], drop_repeats(own))


@given(st.lists(GRID, min_size=1, max_size=5), st.data())
def test_rings_do_not_end_where_they_begin_and_lines_stay(polylines, data):
    clean = [drop_repeats(own) for own in polylines]
    count = len(clean)
    ring = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    points, start = open_rings(*flat(clean), ring)
    for place, own in enumerate(clean):
        closes = ring[place] and len(own) > 1 and np.array_equal(own[0], own[-1])
        found = points[start[place] : start[place + 1]]
        np.testing.assert_array_equal(found, own[:-1] if closes else own)


def test_a_set_of_no_polyline_is_clean():
    none = np.zeros((0, 3)), np.zeros(1, np.int64)
    for points, start in (drop_all_repeats(*none), open_rings(*none, np.zeros(0, bool))):
        assert points.shape == (0, 3)
        assert start.tolist() == [0]


def test_directions_are_in_range_even_due_west_over_a_negative_zero():
    assert directions(np.array([[0.0, 0.0], [-1.0, -0.0]])) == pytest.approx([np.pi])
    assert directions(np.zeros((1, 2))).shape == (0,)


@given(st.lists(POLYLINE, min_size=1, max_size=5), st.integers(2, 9))
def test_samples_lie_at_equal_arc_lengths_as_shapely_places_them(polylines, count):
    sampled = resample(*flat(polylines), count)
    assert sampled.shape == (len(polylines), count, 2)
    for points, samples in zip(polylines, sampled, strict=True):
        np.testing.assert_array_equal(samples[[0, -1]], points[[0, -1]])
        line = LineString(np.concatenate([points, points[-1:]]))  # shapely wants two points
        if line.length > 1e-3:
            expected = [
                line.interpolate(part, normalized=True).coords[0]
                for part in np.linspace(0, 1, count)
            ]
            np.testing.assert_allclose(samples, expected, atol=1e-6)


@given(st.lists(GRID, min_size=2, max_size=5), st.integers(1, 6))
def test_a_polyline_is_sampled_the_same_alone_and_among_others(polylines, count):
    together = resample(*flat(polylines), count)
    for points, samples in zip(polylines, together, strict=True):
        np.testing.assert_allclose(samples, resample(*flat([points]), count)[0], atol=1e-9)


def test_a_single_point_is_repeated_and_no_polyline_gives_no_samples():
    points, start = np.array([[3.0, 4.0], [0, 0], [2, 0]]), np.array([0, 1, 3])
    np.testing.assert_allclose(resample(points, start, 3), [[[3, 4]] * 3, [[0, 0], [1, 0], [2, 0]]])
    assert resample(np.zeros((0, 2)), np.zeros(1, int), 5).shape == (0, 5, 2)


def test_heights_are_interpolated_along_the_plane():
    line = np.array([[0.0, 0, 0], [10, 0, 5]])
    np.testing.assert_allclose(resample(*flat([line]), 3)[0, :, 2], [0, 2.5, 5])


def test_a_polyline_without_length_takes_nothing_from_one_that_begins_where_it_stands():
    still = np.array([[1.0, 1, 5], [1, 1, 5]])
    bridge = np.array([[1.0, 1, 9], [2, 1, 9]])
    sampled = resample(*flat([still, bridge]), 3)
    assert sampled[0, :, 2].tolist() == [5, 5, 5]
    assert sampled[1, :, 2].tolist() == [9, 9, 9]


@given(st.lists(GRID, min_size=1, max_size=5), st.data())
def test_taken_polylines_are_the_ones_asked_for_in_that_order(polylines, data):
    index = np.array(data.draw(st.lists(st.integers(0, len(polylines) - 1), max_size=4)), np.int64)
    closed = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(index), max_size=len(index))), bool
    )
    points, start = take(*flat(polylines), index, closed)
    assert len(start) == len(index) + 1
    assert start[-1] == len(points)
    for place, (which, ring) in enumerate(zip(index, closed, strict=True)):
        own = polylines[which]
        expected = np.concatenate([own, own[:1]]) if ring else own
        np.testing.assert_array_equal(points[start[place] : start[place + 1]], expected)
