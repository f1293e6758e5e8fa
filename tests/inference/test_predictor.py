"""Forecasts of scenes: what is asked for, in the world frame, whatever else is in the batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from motionpred.errors import ConfigError, TrainingError
from motionpred.graph import BatchOptions, SceneBatch
from motionpred.inference import Predictor, load
from motionpred.models import Forecast, ForecastModel, build_model
from motionpred.scene import AgentType, Role, Scene, TimeSpec
from motionpred.testing import crossing_scene, make_scene, make_tracks

ARGOVERSE2 = TimeSpec(0.1, 50, 60)


def scenes(count: int) -> list[Scene]:
    return [crossing_scene(f"s{i}", seed=i, center=(3000.0 + 40 * i, 1500.0)) for i in range(count)]


def regression(*, double: bool = False) -> Predictor:
    torch.manual_seed(0)
    model = build_model("regression", {"size": "nano"}, ARGOVERSE2)
    return Predictor(model.double() if double else model, name="regression")


def line(dataset: str = "", **changes: object) -> Scene:
    """Two cars at 10 m/s along x, one from (100, 50); 5 steps at 2 Hz."""
    x = np.arange(5) * 5.0
    position = np.stack([np.stack([x + 100, x * 0 + 50], -1), np.stack([x, x * 0], -1)])
    options: dict[str, object] = {"dt": 0.5, "roles": [Role.SCORED, Role.NONE], **changes}
    return make_scene(make_tracks(position, **options), 4, dt=0.5, dataset=dataset)  # type: ignore[arg-type]


def test_a_forecast_is_in_the_world_frame_in_double_precision() -> None:
    predictor = load("constant-velocity", time=TimeSpec(0.5, 5, 4))
    near = line()
    moved = near.tracks.position + np.array([7e6 + 0.375, 4e6, 0])
    far = replace(near, tracks=replace(near.tracks, position=moved))

    prediction = predictor.predict(far)

    expected = np.array([[7e6 + 125.375 + 5 * i, 4e6 + 50] for i in range(4)])
    np.testing.assert_allclose(prediction.position[0, 0], expected, atol=1e-4, rtol=0)
    assert prediction.position.dtype == np.float64
    np.testing.assert_allclose(prediction.time, [0.5, 1.0, 1.5, 2.0])


def test_scored_agents_by_default_and_everyone_on_request() -> None:
    predictor = load("constant-velocity", time=TimeSpec(0.5, 5, 4))

    assert predictor.predict(line()).track_id.tolist() == ["0"]
    assert predictor.predict(line(), agents="all").track_id.tolist() == ["0", "1"]


def test_modes_are_sorted_and_probabilities_sum_to_one() -> None:
    prediction = load("fan").predict(crossing_scene(), modes=3)

    assert prediction.modes == 3
    assert prediction.joint
    assert (np.diff(prediction.probability) <= 0).all()
    assert prediction.probability.sum() == pytest.approx(1.0, abs=1e-12)
    assert prediction.source == "fan"
    assert prediction.dataset == "argoverse2"


def test_scored_agents_that_are_absent_at_now_are_counted() -> None:
    valid = np.ones((2, 5), bool)
    valid[1, 4] = False
    scene = make_scene(make_tracks(np.zeros((2, 5, 2)), dt=0.5, valid=valid), 4, dt=0.5)
    predictor = load("constant-velocity", time=TimeSpec(0.5, 5, 4))

    assert predictor.predict(scene).track_id.tolist() == ["0"]
    assert predictor.skipped == {"scored_absent_at_now": 1}


def test_a_static_agent_is_forecast_only_where_a_benchmark_asks_for_it() -> None:
    static = [AgentType.STATIC, AgentType.STATIC]
    scene = line(type=static)  # only the first is SCORED
    predictor = load("constant-velocity", time=TimeSpec(0.5, 5, 4))

    prediction = predictor.predict(scene, agents="all")

    assert prediction.track_id.tolist() == ["0"]
    np.testing.assert_allclose(prediction.position[0, 0, 0], [125.0, 50.0])
    assert scene.tracks.type.tolist() == static


def test_an_agent_that_the_options_exclude_is_counted_too() -> None:
    model = build_model("constant-velocity", {}, TimeSpec(0.5, 5, 4))
    predictor = Predictor(model, name="cv", options=BatchOptions(min_history=6))

    assert predictor.predict(line()).track_id.tolist() == []
    assert predictor.skipped == {"scored_not_eligible": 1}


def test_the_future_is_never_looked_at() -> None:
    scene = crossing_scene(seed=1)
    tracks = scene.tracks
    altered = {}
    for name in ("position", "heading", "velocity"):
        values = getattr(tracks, name).copy()
        values[:, scene.now + 1 :] = 1e6
        altered[name] = values
    predictor = regression()

    first = predictor.predict(scene, agents="all")
    for other in (replace(scene, tracks=replace(tracks, **altered)), scene.observed()):
        again = predictor.predict(other, agents="all")
        np.testing.assert_array_equal(again.position, first.position)
        np.testing.assert_array_equal(again.probability, first.probability)


def test_a_forecast_does_not_depend_on_what_else_is_in_the_batch() -> None:
    several = scenes(4)
    no_map = make_scene(
        make_tracks(np.zeros((30, 50, 2)) + np.arange(30)[:, None, None]), 49, scene_id="no map"
    )
    predictor = regression(double=True)
    alone = predictor.predict(several[0], agents="all")

    for batch in ([several[0], *several[1:]], [no_map, several[0]], [several[3], several[0]]):
        found = list(predictor.predict_many(batch, agents="all"))
        row = [p.scene_id for p in found].index("s0")
        np.testing.assert_allclose(found[row].position, alone.position, atol=1e-9, rtol=0)
        np.testing.assert_allclose(found[row].probability, alone.probability, atol=1e-9)


def test_a_stream_of_scenes_keeps_its_order_and_is_read_as_it_is_needed() -> None:
    read: list[str] = []

    def stream() -> Iterator[Scene]:
        for scene in scenes(7):
            read.append(scene.scene_id)
            yield scene

    predictions = load("constant-velocity").predict_many(stream(), batch_size=2)

    assert next(predictions).scene_id == "s0"
    assert len(read) <= 3
    assert [p.scene_id for p in predictions] == [f"s{i}" for i in range(1, 7)]


def test_scenes_of_several_clocks_go_through_a_model_without_one() -> None:
    predictor = load("constant-velocity", time=TimeSpec(0.5, 5, 4))
    known = load("constant-velocity")

    assert predictor.predict(line()).position.shape == (1, 1, 4, 2)
    assert known.predict(crossing_scene()).position.shape[2] == 60
    with pytest.raises(ConfigError, match=r"no clock of its own.*time=TimeSpec"):
        known.predict(line())


def test_another_clock_is_an_error_and_another_length_is_counted() -> None:
    model = build_model("constant-velocity", {}, TimeSpec(0.1, 20, 30))
    predictor = Predictor(model, name="cv")

    assert predictor.predict(crossing_scene()).position.shape[2] == 30
    assert predictor.dropped["history_cropped"] == 30
    with pytest.raises(ConfigError, match=r"0\.5 s.*0\.1 s"):
        predictor.predict(line())
    willing = Predictor(model, name="cv", options=BatchOptions(resample=True))
    assert willing.predict(line()).position.shape[2] == 30
    assert willing.dropped["scenes_resampled"] == 1


class _Broken(ForecastModel):
    """Forecasts NaN for the scene called s1."""

    name = "broken"

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, object]:  # type: ignore[override]
        raise NotImplementedError

    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        position = torch.zeros(len(batch), 1, batch.predict.shape[1], self.time.future, 2)
        position[batch.scene_id.index("s1")] = torch.nan
        return Forecast(position, torch.ones(len(batch), 1))


def test_a_forecast_that_is_not_finite_names_its_scene() -> None:
    predictor = Predictor(_Broken(None, ARGOVERSE2), name="broken")

    with pytest.raises(TrainingError, match=r"not finite \[scene=s1\]"):
        list(predictor.predict_many(scenes(2)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"modes": 0}, "modes"), ({"batch_size": 0}, "batch_size"), ({"agents": "focal"}, "agents")],
)
def test_bad_arguments_are_refused_at_once(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load("constant-velocity").predict_many([], **arguments)  # type: ignore[arg-type]
