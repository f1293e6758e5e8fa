"""F03: a scene with one agent is a scene."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.inference import load
from motionpred.metrics import evaluate, get_protocol
from motionpred.models import model_names
from motionpred.scene import MapKind, Scene, TimeSpec
from motionpred.testing import make_map, make_scene, make_tracks
from motionpred.testing.forecast_runs import Run, run
from motionpred.testing.models import smallest_settings, variants

TIME = TimeSpec(0.1, 10, 10)


def scene() -> Scene:
    """One vehicle, 20 steps at 10 m/s along +x, one straight lane."""
    position = np.stack([np.arange(20.0), np.zeros(20)], -1)[None]
    lane = make_map([(MapKind.LANE, [(-20.0, 0.0), (60.0, 0.0)])])
    return make_scene(make_tracks(position, track_id=["ego"]), now=9, map=lane)


def errors(one: Run) -> np.ndarray:
    """Final displacement error ``[K]``."""
    return np.asarray(np.linalg.norm(one.position[:, 0, -1] - [19.0, 0.0], axis=-1))


def test_f03_constant_velocity_is_exact() -> None:
    (model,) = variants("constant-velocity", time=TIME)
    assert errors(run(model, [scene()])[0])[0] == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("name", model_names())
def test_f03_the_forecast_has_the_rank_of_any_scene(name: str) -> None:
    for model in variants(name, smallest_settings(name), time=TIME):
        (one,) = run(model, [scene()])
        assert one.position.shape[1:] == (1, 10, 2)
        assert np.isfinite(one.position).all()
        assert one.probability.sum(axis=-1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", ["constant-velocity", "fan"])
def test_f03_joint_and_per_agent_figures_of_the_lone_agent_are_equal(name: str) -> None:
    forecast = load(name, time=TIME).predict(scene())
    report = evaluate(get_protocol("joint")(), [(scene(), forecast)])
    figures = {(figure.metric, figure.k): figure.value for figure in report.figures}
    for k in (1, 6):
        for metric in ("minADE", "minFDE", "MR"):
            assert figures[metric, k] == pytest.approx(figures[f"marginal {metric}", k], abs=1e-12)
    if name == "fan":  # and the two sets are numbers that could differ
        assert figures["minADE", 1] == pytest.approx(0.0, abs=1e-5)
        assert figures["minADE", 6] == figures["minADE", 1]
