"""Where the traffic is between recorded steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.scene import Role
from motionpred.testing import make_scene, make_tracks
from motionpred.viz.contents import contents_of
from motionpred.viz.moments import Course, moment_at


def two_cars(**options):
    """One car drives 1 m a step along x, one stands; 6 steps of 0.5 s, now is step 2."""
    position = np.zeros((2, 6, 2))
    position[0, :, 0] = np.arange(6)
    position[1] = (0.0, 5.0)
    tracks = make_tracks(position, dt=0.5, roles=[Role.SCORED] * 2, **options)
    return make_scene(tracks, 2, dt=0.5)


def test_at_a_recorded_time_everything_is_where_the_record_says():
    moment = moment_at(two_cars(), 0.5, last=5)
    assert moment.step == 3
    assert moment.position[0].tolist() == [3.0, 0.0]


def test_between_two_steps_an_agent_moves_evenly():
    assert moment_at(two_cars(), -0.4, last=5).position[0, 0] == pytest.approx(1.2)


def test_a_heading_turns_along_the_shorter_arc():
    heading = np.zeros((2, 6))
    heading[0] = [3.0, 3.0, 3.1, -3.1, -3.0, -3.0]
    moment = moment_at(two_cars(heading=heading), 0.25, last=5)
    assert abs(moment.heading[0]) == pytest.approx(np.pi, abs=1e-6)


def test_an_agent_recorded_at_one_of_two_steps_is_there_while_that_step_is_nearer():
    valid = np.ones((2, 6), bool)
    valid[0, 4:] = False
    scene = two_cars(valid=valid)
    assert moment_at(scene, 0.6, last=5).shown.tolist() == [True, True]
    assert moment_at(scene, 0.6, last=5).position[0].tolist() == [3.0, 0.0]
    assert moment_at(scene, 0.9, last=5).shown.tolist() == [False, True]


def test_after_the_end_of_the_record_the_last_step_is_held():
    scene = two_cars()
    moment = moment_at(scene, 1.0, last=scene.now)
    assert moment.held
    assert moment.position[0].tolist() == [2.0, 0.0]
    assert not moment_at(scene, 1.5, last=5).held


def course(scene, prediction, agents="scored"):
    contents = contents_of(scene, [("f", prediction)], agents, None)
    return Course.of(contents, contents.forecasts[0])


def test_a_future_starts_at_its_agent_and_stays_at_its_end(fan):
    scene = two_cars()
    prediction = fan(scene, steps=4)  # 0.5 s apart
    position, _ = course(scene, prediction).at(0.0)
    assert position[0, 0].tolist() == [2.0, 0.0]
    position, _ = course(scene, prediction).at(0.25)
    assert position[0, 0] == pytest.approx([2.5, 0.0])
    position, _ = course(scene, prediction).at(99.0)
    assert position[0, 0] == pytest.approx(prediction.position[0, 0, -1])


def test_a_forecast_without_headings_points_along_its_path_and_keeps_them_while_it_stands(fan):
    heading = np.zeros((2, 6))
    heading[1] = 2.0
    scene = two_cars(heading=heading)
    _, angle = course(scene, fan(scene, steps=4)).at(1.0)
    assert angle[0].tolist() == pytest.approx([0.0, 2.0])  # one drives along x, one stands
    assert angle[3, 0] == pytest.approx(0.15)  # turns left by 0.15 rad/s


def test_an_agent_without_a_state_at_now_starts_where_its_future_does(fan):
    scene = two_cars()
    prediction = fan(scene, steps=4)
    valid = scene.tracks.valid.copy()
    valid[0, scene.now] = False
    position = scene.tracks.position.copy()
    position[0, scene.now] = 0
    absent = replace(scene, tracks=replace(scene.tracks, valid=valid, position=position))
    at, _ = course(absent, prediction).at(0.0)
    assert at[0, 0] == pytest.approx(prediction.position[0, 0, 0])
