"""Which steps of a scene a forecast means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.errors import SceneError
from motionpred.metrics.matching import cut, future_steps, match
from motionpred.prediction import Prediction
from motionpred.testing import make_scene, make_tracks


def _scene(steps=7, now=2, time=None):
    position = np.cumsum(np.ones((1, steps, 2)), axis=1)
    return make_scene(make_tracks(position, track_id=["a"]), now, scene_id="s", time=time)


def _forecast(time):
    time = np.asarray(time, float)
    return Prediction(
        "s", np.array(["a"]), time, np.zeros((1, 1, len(time), 2)), np.ones(1), joint=True
    )


def test_steps_are_found_by_time():
    assert future_steps(_scene(), _forecast([0.1, 0.2, 0.3, 0.4])).tolist() == [3, 4, 5, 6]
    assert future_steps(_scene(), _forecast([0.2, 0.4])).tolist() == [4, 6]


def test_a_recorded_clock_may_jitter_or_run_two_percent_slow():
    jitter = 0.1 * np.arange(7) + [0, 0.01, -0.01, 0.02, -0.02, 0.01, 0]
    assert future_steps(_scene(time=jitter), _forecast([0.1, 0.2, 0.3, 0.4])).tolist() == [
        3,
        4,
        5,
        6,
    ]
    slow = _scene(steps=83, time=0.102 * np.arange(83))
    nominal = 0.1 * np.arange(1, 81)
    assert future_steps(slow, _forecast(nominal)).tolist() == list(range(3, 83))
    assert future_steps(slow, _forecast(1.02 * nominal)).tolist() == list(range(3, 83))


@pytest.mark.parametrize("time", [[0.0, 0.1, 0.2], [0.05, 0.15], [0.1, 0.1, 0.2], [0.2, 0.1]])
def test_times_off_the_recorded_steps_are_refused(time):
    with pytest.raises(SceneError, match=r"do not lie on the scene's steps.*scene=s"):
        future_steps(_scene(), _forecast(time))


def test_a_forecast_without_any_step_is_refused():
    with pytest.raises(SceneError, match="has no step"):
        future_steps(_scene(), _forecast([]))


def test_truth_follows_the_order_of_the_targets_not_of_the_forecast():
    tracks = make_tracks([[(0, 0), (1, 0)], [(0, 0), (2, 0)]], track_id=["a", "b"])
    scene = make_scene(tracks, 0, scene_id="s")
    forecast = replace(
        _forecast([0.1]),
        track_id=np.array(["b", "a"]),
        position=np.array([[[(20.0, 0)], [(10.0, 0)]]]),
    )
    matched = match(scene, forecast, np.array([0, 1]))
    assert matched.truth[:, 0, 0].tolist() == [1.0, 2.0]
    assert matched.forecast.position[0, :, 0, 0].tolist() == [10.0, 20.0]


def test_a_cut_keeps_every_field_in_step():
    whole = replace(
        _forecast([0.5, 1.0, 1.5]),
        heading=np.arange(3.0).reshape(1, 1, 3),
        scale=np.ones((1, 1, 3, 2)),
    )
    kept = cut(whole, 1.0).validate()
    assert kept.time.tolist() == [0.5, 1.0]
    assert kept.heading.tolist() == [[[0.0, 1.0]]]
