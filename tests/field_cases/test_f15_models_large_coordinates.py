"""F15, seen by models: a scene far from the origin of its world has the same forecast, there."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.graph import collate_scenes
from motionpred.models import model_names
from motionpred.testing import crossing_scene, moved
from motionpred.testing.forecast_runs import MODES, run
from motionpred.testing.models import TIME, smallest_settings, variants

SHIFT = np.array([500_000.0, 4_649_776.0])


@pytest.mark.parametrize("name", model_names())
def test_f15_a_shift_of_the_world_shifts_the_forecast(name: str) -> None:
    near = crossing_scene(center=(0.0, 0.0))
    far = moved(near, 0.0, *SHIFT)
    for model in variants(name, smallest_settings(name), time=TIME):
        local = [
            model.eval().forecast(collate_scenes([scene], TIME), modes=MODES, seed=0).position
            for scene in (near, far)
        ]
        assert (local[0] - local[1]).abs().max() < 1e-3
        (here,), (there,) = run(model, [near]), run(model, [far])
        assert np.abs(there.position - SHIFT - here.position).max() < 0.01
