"""F26: the minimum of each agent against the minimum of the scene."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.errors import ConfigError
from motionpred.metrics import evaluate, get_protocol
from motionpred.prediction import Prediction
from motionpred.scene import Role
from motionpred.testing import make_scene, make_tracks


@pytest.fixture
def pair():
    """FDE world 1 (1, 5), world 2 (4, 1)."""
    tracks = make_tracks(np.zeros((2, 2, 2)), roles=[Role.FOCAL | Role.SCORED, Role.SCORED])
    scene = make_scene(tracks, now=0)
    worlds = np.array([[[(1.0, 0)], [(5.0, 0)]], [[(4.0, 0)], [(1.0, 0)]]])
    time, p = np.array([0.1]), np.array([0.5, 0.5])
    return scene, Prediction("scene", tracks.track_id, time, worlds, p, joint=True)


def test_f26_joint_minimum_is_2_5_and_per_agent_1_0_under_different_names(pair):
    report = evaluate(get_protocol("joint")(), [pair])
    assert report.value("minFDE", 6) == 2.5
    assert report.value("marginal minFDE", 6) == 1.0


def test_f26_argoverse2_worlds_take_the_minimum_over_worlds_of_the_mean(pair):
    report = evaluate(get_protocol("argoverse2-multi")(), [pair])
    assert report.value("avgMinFDE", 6) == 2.5


def test_f26_a_forecast_whose_modes_are_not_paired_gets_no_joint_figure(pair):
    scene, forecast = pair
    report = evaluate(get_protocol("joint")(), [(scene, forecast.marginal())])
    assert all(figure.metric.startswith("marginal ") for figure in report.figures)
    assert report.value("marginal minFDE", 6) == 1.0
    with pytest.raises(ConfigError, match="not paired"):
        evaluate(get_protocol("argoverse2-multi")(), [(scene, forecast.marginal())])
