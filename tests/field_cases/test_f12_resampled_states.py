"""F12: states made between recorded ones say so, and no metric counts them."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.errors import ConfigError
from motionpred.graph import BatchOptions, encode
from motionpred.metrics import evaluate, get_protocol
from motionpred.prediction import Prediction
from motionpred.scene import Scene, TimeSpec, resample
from motionpred.testing import make_scene, make_tracks


def two_a_second(now: int) -> Scene:
    """x = 0, 5, 10 m at 0, 0.5, 1.0 s."""
    return make_scene(make_tracks([[(0, 0), (5, 0), (10, 0)]], dt=0.5), now, dt=0.5)


def test_f12_half_seconds_become_tenths_of_which_few_are_measured():
    scene = resample(two_a_second(now=1), 0.1).validate()
    assert len(scene.time) == 11
    np.testing.assert_allclose(scene.tracks.position[0, :, 0], np.arange(11))
    assert scene.tracks.valid.all()
    assert np.flatnonzero(scene.tracks.measured[0]).tolist() == [0, 5, 10]
    assert scene.time[scene.now] == 0.5


def test_f12_an_error_is_the_mean_over_the_measured_states_of_the_future():
    scene = resample(two_a_second(now=0), 0.1)
    path = scene.tracks.position[:, 1:, :2] + [0.0, 1.0]  # 1 m aside of every step,
    path[0, 4] += [0.0, 1.0]  # 2 m at the measured one after 0.5 s,
    path[0, 6] += [0.0, 90.0]  # and far off at one that nobody measured
    forecast = Prediction(
        scene.scene_id, scene.tracks.track_id, scene.time[1:], path[None], np.ones(1), joint=True
    )
    report = evaluate(get_protocol("joint")(), [(scene, forecast)])
    assert report.value("minADE", 1) == pytest.approx((2 + 1) / 2)


def test_f12_a_batch_takes_another_clock_only_where_it_is_told_to():
    scene, clock = two_a_second(now=1), TimeSpec(0.1, 6, 5)
    with pytest.raises(ConfigError, match=r"0\.5 s.*0\.1 s.*BatchOptions\(resample=True\)"):
        encode(scene, clock)
    row = encode(scene, clock, BatchOptions(resample=True))
    assert row.dropped["scenes_resampled"] == 1
    np.testing.assert_allclose(row.history_state[0, :, 0] + row.origin[0], np.arange(6))
    np.testing.assert_allclose(row.target_state[0, :, 0] + row.origin[0], np.arange(6, 11))
    assert row.history_flags[0, :, 1].tolist() == [True, False, False, False, False, True]
    assert row.target_flags[0, :, 1].tolist() == [False, False, False, False, True]
