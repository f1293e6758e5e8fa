"""Real Argoverse 2 scenarios: constant velocity gives the known figures, and the package's."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.datasets import get_adapter
from motionpred.metrics import evaluate, get_protocol
from motionpred.metrics.argoverse import (
    world_ade,
    world_brier_fde,
    world_collisions,
    world_fde,
    world_misses,
)
from motionpred.prediction import Prediction
from motionpred.scene import Scene

STEPS = 60


def constant_velocity(scene: Scene, modes: int = 1) -> Prediction:
    """The displacement over the last ten recorded steps ÷ 10, per step; more modes are slower."""
    tracks, now = scene.tracks, scene.now
    here = np.flatnonzero(tracks.valid[:, now])
    velocity = np.zeros((len(here), 2))
    for row, track in enumerate(here):
        recorded = np.flatnonzero(tracks.valid[track, : now + 1])[-11:]
        if len(recorded) > 1:
            path = tracks.position[track, recorded, :2]
            velocity[row] = (path[-1] - path[0]) / (len(recorded) - 1)
    factor = np.linspace(1.0, 0.5, modes)[:, None, None, None]
    along = velocity[:, None] * np.arange(1, STEPS + 1)[:, None]
    p = np.arange(modes, 0, -1.0)
    return Prediction(
        scene_id=scene.scene_id,
        track_id=tracks.track_id[here],
        time=0.1 * np.arange(1, STEPS + 1),
        position=tracks.position[here, now, :2][:, None] + factor * along,
        probability=p / p.sum(),
        joint=True,
    )


@pytest.fixture(scope="module")
def scenes(argoverse2_root):
    adapter = get_adapter("argoverse2")
    found = [item for source in adapter.find(argoverse2_root) for item in adapter.read(source)]
    assert all(isinstance(item, Scene) for item in found)
    return found


def test_constant_velocity_has_the_known_figures_on_the_focal_tracks(scenes):
    report = evaluate(
        get_protocol("argoverse2-single")(), ((s, constant_velocity(s)) for s in scenes)
    )
    assert (report.scenes, report.without_truth) == (5, 1)
    assert round(report.value("minADE", 1), 3) == 3.301
    assert round(report.value("minFDE", 1), 3) == 8.209


def test_constant_velocity_has_the_known_figures_on_all_scored_tracks(scenes):
    report = evaluate(
        get_protocol("argoverse2-multi")(), ((s, constant_velocity(s)) for s in scenes)
    )
    assert round(report.value("avgMinADE", 1), 3) == 2.056
    assert round(report.value("avgMinFDE", 1), 3) == 4.715


def test_every_world_function_equals_the_package_on_real_scenes(scenes):
    official = pytest.importorskip("av2.datasets.motion_forecasting.eval.metrics")
    protocol = get_protocol("argoverse2-multi")()
    for scene in scenes:
        if not scene.has_future:
            continue
        targets = protocol.targets(scene)
        forecast = constant_velocity(scene, modes=6).select(scene.tracks.track_id[targets])
        position = forecast.position.swapaxes(0, 1)
        truth = scene.tracks.position[targets][:, scene.now + 1 :, :2]
        p = forecast.probability
        for ours, theirs in (
            (world_fde(position, truth), official.compute_world_fde(position, truth)),
            (world_ade(position, truth), official.compute_world_ade(position, truth)),
            (world_misses(position, truth), official.compute_world_misses(position, truth)),
            (world_collisions(position), official.compute_world_collisions(position)),
            (
                world_brier_fde(position, truth, p),
                official.compute_world_brier_fde(position, truth, p),
            ),
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=0)


def test_the_recorded_future_itself_is_a_good_forecast(scenes):
    def recorded(scene):
        whole = scene.tracks.valid[:, scene.now :].all(axis=1)
        return Prediction(
            scene_id=scene.scene_id,
            track_id=scene.tracks.track_id[whole],
            time=0.1 * np.arange(1, STEPS + 1),
            position=scene.tracks.position[None, whole, scene.now + 1 :, :2],
            probability=np.ones(1),
            joint=True,
        )

    with_truth = [scene for scene in scenes if scene.has_future]
    report = evaluate(get_protocol("joint")(), ((s, recorded(s)) for s in with_truth))
    for metric in ("minADE", "minFDE", "MR", "overlap", "marginal minFDE", "ECE"):
        k = 1 if metric == "overlap" else 6
        assert report.value(metric, k) == 0.0
    assert report.value("kinematic", 1) < 0.01
    assert report.value("off-road", 1) < 0.1
