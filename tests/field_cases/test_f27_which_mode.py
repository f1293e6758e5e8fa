"""F27: which mode, which K, which horizon, which agents."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.metrics import evaluate, get_protocol
from motionpred.metrics.displacement import ade, displacement
from motionpred.prediction import Prediction
from motionpred.scene import Role
from motionpred.testing import make_scene, make_tracks

ADE, FDE = (2.0, 1.0, 1.5), (3.0, 2.5, 0.5)


@pytest.fixture
def pair():
    """Three steps; the errors of the first two are equal and make up the ADE."""
    tracks = make_tracks(
        np.zeros((2, 4, 2)), roles=[Role.FOCAL | Role.SCORED, Role.SCORED], track_id=["f", "s"]
    )
    scene = make_scene(tracks, now=0)
    position = np.zeros((3, 2, 3, 2))
    for k in range(3):
        early = (3 * ADE[k] - FDE[k]) / 2
        position[k, 0, :, 0] = (early, early, FDE[k])
        position[k, 1, :, 0] = 100.0  # not the focal track: must not show
    np.testing.assert_allclose(ade(displacement(position[:, 0], np.zeros((3, 2)))), ADE)
    p = np.array([0.5, 0.3, 0.2])
    return scene, Prediction("scene", tracks.track_id, np.array([0.1, 0.2, 0.3]), position, p, True)


def test_f27_argoverse2_figures_are_those_of_the_mode_of_least_fde(pair):
    report = evaluate(get_protocol("argoverse2-single")(), [pair])
    assert report.value("minFDE", 6) == pytest.approx(0.5)
    assert report.value("minADE", 6) == pytest.approx(1.5)
    assert report.value("brier-minFDE", 6) == pytest.approx(1.14)
    assert report.value("minFDE", 1) == pytest.approx(3.0)


def test_f27_the_other_rule_gives_the_true_minimum_and_its_name_says_so(pair):
    report = evaluate(get_protocol("argoverse2-single")(select="own"), [pair])
    assert report.value("minADE", 6) == pytest.approx(1.0)
    assert report.protocol == "argoverse2-single (select=own)"


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi", "joint"])
def test_f27_every_number_carries_benchmark_k_horizon_agents_and_n(pair, name):
    report = evaluate(get_protocol(name)(), [pair])
    assert report.protocol == name
    for figure in report.figures:
        assert figure.k in (1, 6)
        assert figure.horizon == pytest.approx(0.3)
        assert figure.agents in ("focal", "scored", "focal and scored", "scored vehicles")
        assert figure.over in ("agents", "scenes", "steps", "modes")
        assert figure.n > 0 or np.isnan(figure.value)
