"""F25: a scored track without its last step (or others)."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.metrics import evaluate, get_protocol
from motionpred.prediction import Prediction
from motionpred.scene import Role
from motionpred.testing import make_scene, make_tracks


@pytest.fixture
def pair():
    """Six future steps of which the sixth is invalid; the forecast is 1 m off at the others."""
    valid = np.array([[True] * 6 + [False]])
    tracks = make_tracks(np.zeros((1, 7, 2)), valid=valid, roles=[Role.FOCAL | Role.SCORED])
    scene = make_scene(tracks, now=0)
    position = np.full((1, 1, 6, 2), (1.0, 0.0))
    position[..., 5, :] = (999.0, 999.0)  # against no truth: must not show anywhere
    time = 0.1 * np.arange(1, 7)
    return scene, Prediction("scene", tracks.track_id, time, position, np.ones(1), joint=True)


def _figures(report, metric):
    return [(f.value, f.n) for f in report.figures if f.metric == metric and f.k == 6]


@pytest.mark.parametrize("prefix", ["", "marginal "])
def test_f25_ade_runs_over_valid_steps_and_there_is_no_fde_at_the_invalid_one(pair, prefix):
    report = evaluate(get_protocol("joint")(), [pair])
    assert _figures(report, prefix + "minADE") == [(1.0, 1)]
    for metric in ("minFDE", "MR"):
        ((value, n),) = _figures(report, prefix + metric)
        assert n == 0
        assert np.isnan(value)
    assert report.notes["targets_without_last_step"] == 1


@pytest.mark.parametrize("prefix", ["", "marginal "])
def test_f25_fde_at_step_five_is_one_metre(pair, prefix):
    report = evaluate(get_protocol("joint")(horizon=0.5), [pair])
    assert _figures(report, prefix + "minFDE") == [(1.0, 1)]


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi"])
def test_f25_argoverse2_leaves_incomplete_targets_out_and_reports_them(pair, name):
    report = evaluate(get_protocol(name)(), [pair])
    assert report.notes["incomplete_targets"] == 1
    assert all(figure.n == 0 for figure in report.figures)
