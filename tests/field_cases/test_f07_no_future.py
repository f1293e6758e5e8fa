"""F07: a test split ends at now; forecasting it must work all the same."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.inference import load
from motionpred.scene import Scene
from motionpred.testing import crossing_scene


def observed_only() -> Scene:
    """50 observed steps and no row after them."""
    scene = crossing_scene(split="test", steps=50, now=49)
    assert not scene.has_future
    return scene


@pytest.mark.parametrize("model", ["constant-velocity", "fan"])
def test_f07_fifty_observed_steps_give_sixty_points_per_mode(model: str) -> None:
    prediction = load(model).predict(observed_only())

    assert prediction.position.shape[1:] == (4, 60, 2)
    np.testing.assert_allclose(prediction.time, 0.1 * np.arange(1, 61))


def test_f07_the_forecast_is_that_of_the_same_scene_with_its_future() -> None:
    whole = crossing_scene(split="test")
    predictor = load("constant-velocity")

    cut = predictor.predict(whole.observed())

    np.testing.assert_array_equal(cut.position, predictor.predict(whole).position)
    assert predictor.skipped == {}
