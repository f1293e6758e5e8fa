"""The observed part of a scene, and windows over a recording."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.errors import ConfigError
from motionpred.scene import TimeSpec, windows
from motionpred.testing import (
    crossing_scene,
    differences,
    make_scene,
    make_tracks,
    with_other_future,
    without_future,
)


def test_observed_ends_at_now_and_forgets_tracks_that_only_appear_later():
    position = np.zeros((2, 10, 2))
    position[:, :, 0] = np.arange(10)
    valid = np.array([[True] * 10, [False] * 5 + [True] * 5])
    seen = make_scene(make_tracks(position, valid=valid), now=4).observed().validate()
    assert seen.tracks.track_id.tolist() == ["0"]
    assert len(seen.time) == 5
    assert not seen.has_future


def test_observed_does_not_depend_on_anything_after_now():
    scene = crossing_scene()
    cut = scene.observed()
    for other in (with_other_future(scene), without_future(scene), cut):
        assert differences(other.observed(), cut) == []


def test_windows_are_named_by_their_now_step_and_keep_the_clock():
    recording = crossing_scene("rec")
    cut = list(windows(recording, TimeSpec(0.1, 20, 30), stride=30))
    assert [scene.scene_id for scene in cut] == ["rec@19", "rec@49", "rec@79"]
    for scene in cut:
        scene.validate()
        assert len(scene.time) == 50
        assert scene.tracks.valid.any(axis=1).all()
    np.testing.assert_array_equal(cut[1].time, recording.time[30:80])


def test_windows_refuse_another_clock_and_name_both():
    with pytest.raises(ConfigError, match=r"0\.5 s.*0\.1 s"):
        list(windows(crossing_scene(), TimeSpec(0.5, 5, 12)))


def test_a_tenth_of_a_second_and_almost_a_tenth_are_the_same_clock():
    assert list(windows(crossing_scene(), TimeSpec(0.101, 20, 30), stride=50))


@pytest.mark.parametrize(
    ("clock", "field"),
    [((0.1, 0, 60), "history"), ((0.1, 50, -1), "future"), ((0.0, 50, 60), "dt")],
)
def test_a_clock_that_cannot_be_is_refused(clock, field):
    with pytest.raises(ConfigError, match=f"field={field}"):
        TimeSpec(*clock)
