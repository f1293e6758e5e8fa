"""The Scene contract: validation, the observed part, windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.errors import ConfigError, SceneError
from motionpred.scene import Role, TimeSpec, windows
from motionpred.testing import (
    crossing_scene,
    differences,
    make_scene,
    make_tracks,
    with_other_future,
    without_future,
)


def test_validation_names_the_field_and_the_index_of_the_first_fault():
    scene = crossing_scene()
    position = scene.tracks.position.copy()
    position[2, 7, 1] = np.nan
    broken = replace(scene, tracks=replace(scene.tracks, position=position))
    with pytest.raises(
        SceneError, match=r"not finite \[scene=crossing, field=tracks.position\[2, 7, 1\]"
    ):
        broken.validate()


@pytest.mark.parametrize(
    ("field", "change", "message"),
    [
        ("heading", lambda a: a.astype(np.float64), "must be float32"),
        ("velocity", lambda a: a[:, :-1], "has shape"),
        ("valid", lambda a: np.zeros_like(a), "set where there is no state"),
        ("track_id", lambda a: np.array(["x"] * len(a)), "occurs 7 times"),
        ("roles", lambda a: np.full_like(a, Role.FOCAL), "FOCAL, not SCORED"),
        ("type", lambda a: np.full_like(a, 99), "no AgentType"),
    ],
)
def test_a_broken_track_field_is_refused(field, change, message):
    scene = crossing_scene()
    tracks = replace(scene.tracks, **{field: change(getattr(scene.tracks, field))})
    with pytest.raises(SceneError, match=message):
        replace(scene, tracks=tracks).validate()


def test_a_map_link_outside_the_map_is_refused():
    scene = crossing_scene()
    edges = scene.map.edges.copy()
    edges[1, 3] = 999
    with pytest.raises(SceneError, match=r"map.edges\[3\]"):
        replace(scene, map=replace(scene.map, edges=edges)).validate()


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
