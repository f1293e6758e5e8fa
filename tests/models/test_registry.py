from __future__ import annotations

import pytest

from motionpred.errors import ConfigError
from motionpred.models import build_model, get_model, model_names
from motionpred.scene import TimeSpec

TIME = TimeSpec(0.1, 50, 60)


def test_the_zoo_is_found_by_scanning():
    assert {"constant-velocity", "ctra", "ctrv", "fan", "kalman", "regression"} <= {*model_names()}


def test_a_registered_name_is_the_name_of_its_class():
    assert all(get_model(name).name == name for name in model_names())


def test_an_unknown_model_names_the_nearest_one():
    with pytest.raises(ConfigError, match="Did you mean 'kalman'"):
        get_model("kalmann")


def test_an_unknown_setting_names_the_nearest_one():
    with pytest.raises(ConfigError, match=r"field=model\.fan\.turnrate.*Did you mean 'turn_rate'"):
        build_model("fan", {"turnrate": 0.2}, TIME)


def test_a_size_that_does_not_exist_is_named_with_those_that_do():
    with pytest.raises(ConfigError, match="nano, small"):
        build_model("regression", {"size": "tiny"}, TIME)


def test_settings_become_typed():
    model = build_model("kalman", {"position_std": 1}, TIME)
    assert model.config.position_std == 1.0
    assert isinstance(model.config.position_std, float)
