"""F02, seen by models: who is absent at ``now``, and what stands where nothing is valid."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.models import model_names
from motionpred.scene import Scene, TimeSpec
from motionpred.testing import make_scene, make_tracks
from motionpred.testing.forecast_runs import check_identical, run
from motionpred.testing.models import smallest_settings, variants
from motionpred.testing.scene_changes import with_placeholders

TIME = TimeSpec(0.1, 5, 5)


def scene() -> Scene:
    """Now = step 4 of 0..9. A valid 0..9; B valid 5..9; C valid all but 4."""
    x = np.arange(10.0)
    position = np.stack([np.stack([x, np.full(10, y)], -1) for y in (0.0, 4.0, 8.0)])
    valid = np.ones((3, 10), bool)
    valid[1, :5] = False
    valid[2, 4] = False
    return make_scene(make_tracks(position, valid=valid, track_id=["A", "B", "C"]), now=4)


@pytest.mark.parametrize("name", model_names())
def test_f02_only_who_is_there_at_now_is_forecast(name: str) -> None:
    for model in variants(name, smallest_settings(name), time=TIME):
        assert run(model, [scene()])[0].track_id == ["A"]


@pytest.mark.parametrize("name", model_names())
def test_f02_what_stands_in_invalid_states_changes_no_bit(name: str) -> None:
    for model in variants(name, smallest_settings(name), time=TIME):
        (zeros,), (large,) = run(model, [scene()]), run(model, [with_placeholders(scene(), 1e6)])
        check_identical(name, zeros, large)
