"""F13: no lanes near, or no map at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.graph import BatchOptions, collate_scenes
from motionpred.inference import describe, load
from motionpred.models import model_names
from motionpred.scene import MapKind, RoadMap
from motionpred.testing import crossing_scene, make_map
from motionpred.testing.forecast_runs import Tolerance, check_same, run
from motionpred.testing.models import TIME, smallest_settings, variants

OPTIONS = BatchOptions(map_radius=150.0)
SCENE = replace(crossing_scene(), map=RoadMap.empty())
X, Y = SCENE.tracks.position[0, SCENE.now, :2]
FAR = replace(SCENE, map=make_map([(MapKind.LANE, [(X + 900.0, Y), (X + 990.0, Y)])]))


@pytest.mark.parametrize("name", model_names())
def test_f13_no_map_and_a_map_out_of_radius_give_the_same_forecast(name: str) -> None:
    for model in variants(name, smallest_settings(name), time=TIME):
        (none,), (far,) = run(model, [SCENE], options=OPTIONS), run(model, [FAR], options=OPTIONS)
        assert np.isfinite(none.position).all()
        check_same(name, none, far, Tolerance(most=1e-3, mean=1e-4))


def test_f13_scenes_without_lanes_are_counted() -> None:
    batch = collate_scenes([SCENE, FAR, crossing_scene()], TIME, OPTIONS)
    assert batch.dropped["scenes_without_lanes"] == 2


def test_f13_many_scenes_without_lanes_are_one_warning() -> None:
    predictor = load("constant-velocity")
    list(predictor.predict_many([SCENE, FAR, crossing_scene("with lanes")], batch_size=1))
    lines = [line for line in describe(predictor.dropped) if "lane" in line]
    assert lines == ["2 scenes with no lane in reach (forecast from the agents alone)"]
