"""A scene on another clock: what is interpolated, what is not, and what stays as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.errors import ConfigError
from motionpred.scene import Scene, Signals, SignalState, resample
from motionpred.testing import (
    crossing_scene,
    differences,
    make_scene,
    make_tracks,
    with_other_future,
    without_future,
)


def half_seconds(x, now: int = 1, *, time=None, **columns) -> Scene:
    """Agents that drive along x, one state every half second."""
    position = np.zeros((*np.shape(x), 2))
    position[..., 0] = x
    return make_scene(make_tracks(position, dt=0.5, **columns), now, dt=0.5, time=time)


def test_positions_and_velocities_are_linear_and_sizes_are_carried():
    scene = half_seconds([[0, 5, 15]], velocity=[[[8, 0], [10, 0], [20, 2]]], size=[[4.0, 2.0]])
    finer = resample(scene, 0.25).validate()
    assert finer.tracks.position[0, :, 0].tolist() == [0, 2.5, 5, 10, 15]
    assert finer.tracks.velocity[0].tolist() == [[8, 0], [9, 0], [10, 0], [15, 1], [20, 2]]
    assert finer.tracks.size[0].tolist() == [[4, 2, 0]] * 5


def test_headings_go_along_the_shorter_arc_and_stay_in_range():
    scene = half_seconds([[0, 1, 2]], heading=[[3.0, -3.0, np.pi]])
    turned = resample(scene, 0.25).validate().tracks.heading[0]
    assert turned[[0, 2, 4]].tolist() == scene.tracks.heading[0].tolist()
    assert abs(turned[1]) == pytest.approx(np.pi, abs=1e-6)
    assert turned[3] == pytest.approx((-3.0 - np.pi) / 2, abs=1e-6)


def test_nothing_is_extrapolated_and_a_gap_stays_a_gap():
    valid = np.array([[False, True, True, False, True, True, False]])
    finer = resample(half_seconds([range(7)], valid=valid), 0.25).validate()
    assert np.flatnonzero(finer.tracks.valid[0]).tolist() == [2, 3, 4, 8, 9, 10]
    assert np.flatnonzero(finer.tracks.measured[0]).tolist() == [2, 4, 8, 10]


def test_a_hole_in_the_stamps_is_a_gap_too():
    scene = half_seconds([range(4)], time=[0.0, 0.5, 2.5, 3.0])
    finer = resample(scene, 0.25).validate()
    assert np.flatnonzero(finer.tracks.valid[0]).tolist() == [0, 1, 2, 10, 11, 12]


def test_a_velocity_and_a_heading_need_one_on_both_sides():
    tracks = half_seconds([range(3)]).tracks  # derived: the first step has neither
    finer = resample(make_scene(tracks, 1, dt=0.5), 0.25).validate().tracks
    assert finer.valid.all()
    assert finer.velocity_valid[0].tolist() == [False, False, True, True, True]
    assert finer.heading_valid[0].tolist() == [False, False, True, True, True]


def test_now_keeps_its_stamp_and_samples_run_from_it_both_ways():
    scene = half_seconds([range(5)], now=2, time=[7.0, 7.5, 8.0, 8.5, 9.0])
    other = resample(scene, 0.3).validate()
    assert other.time[other.now] == 8.0
    np.testing.assert_allclose(other.time, [7.1, 7.4, 7.7, 8.0, 8.3, 8.6, 8.9])
    np.testing.assert_allclose(other.tracks.position[0, :, 0], (other.time - 7.0) * 2)
    assert np.flatnonzero(other.tracks.measured[0]).tolist() == [other.now]


def test_a_stamp_within_a_millisecond_is_the_recorded_state_itself():
    scene = half_seconds([[0, 5, 10]], time=[0.0009, 0.5, 1.0011])
    same = resample(scene, 0.5).validate()
    assert same.tracks.position[0, :, 0].tolist() == [0, 5, pytest.approx(10, abs=0.02)]
    assert same.tracks.position[0, 2, 0] != 10
    assert same.tracks.measured[0].tolist() == [True, True, False]


def test_signals_keep_their_last_state():
    stop, go = SignalState.STOP, SignalState.GO
    signals = Signals(np.array([-1]), np.array([[stop, stop, go]], np.int8), np.zeros((1, 3)))
    finer = resample(replace(half_seconds([[0, 1, 2]]), signals=signals), 0.25).validate()
    assert finer.signals.state[0].tolist() == [stop, stop, stop, stop, go]


def test_coarser_and_back_to_the_recorded_steps_changes_none_of_them():
    scene = crossing_scene()
    fewer = resample(scene, 0.5).validate()
    assert fewer.tracks.measured[fewer.tracks.valid].all()
    kept = slice(scene.now % 5, None, 5)
    for name in ("position", "heading", "velocity", "valid"):
        np.testing.assert_array_equal(
            getattr(fewer.tracks, name), getattr(scene.tracks, name)[:, kept]
        )


@pytest.mark.parametrize("dt", [0.04, 0.1, 0.33])
def test_samples_up_to_now_do_not_depend_on_anything_after_it(dt):
    jitter = np.random.default_rng(0).uniform(-0.02, 0.02, 110)
    scene = crossing_scene()
    scene = replace(scene, time=scene.time + jitter)
    seen = resample(scene, dt).observed()
    for other in (with_other_future(scene), without_future(scene), scene.observed()):
        assert differences(resample(other, dt).observed(), seen) == []


@pytest.mark.parametrize("dt", [0.0, -0.1, np.nan])
def test_a_step_that_is_no_time_is_refused(dt):
    with pytest.raises(ConfigError, match="positive number of seconds"):
        resample(crossing_scene(), dt)
