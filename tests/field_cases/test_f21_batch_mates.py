"""F21: the forecast of a scene does not depend on what else is in the batch."""

from __future__ import annotations

import copy

import pytest

from motionpred.models import model_names
from motionpred.testing import crossing_scene, traffic_scene, without_map
from motionpred.testing.batch_changes import doubled
from motionpred.testing.forecast_runs import Tolerance, check_same, run
from motionpred.testing.models import TIME, smallest_settings, variants

S = crossing_scene("S")
BIG = traffic_scene(TIME, "big", seed=1, cars=40)
NO_MAP = without_map(crossing_scene("no map", seed=2))


@pytest.mark.parametrize("name", model_names())
def test_f21_alone_beside_a_big_scene_and_behind_one_without_a_map(name: str) -> None:
    for model in variants(name, smallest_settings(name), time=TIME):
        exact = copy.deepcopy(model).double()
        for one, change, tolerance in (
            (model, None, Tolerance(most=1e-3, mean=1e-4)),
            (exact, doubled, Tolerance(most=1e-9, mean=1e-9)),
        ):
            (alone,) = run(one, [S], change=change)
            beside, _ = run(one, [S, BIG], change=change)
            _, behind = run(one, [NO_MAP, S], change=change)
            check_same("[S, big]", alone, beside, tolerance)
            check_same("[no map, S]", alone, behind, tolerance)
