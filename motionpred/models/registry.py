"""Models by name: in-tree families and plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from motionpred.models.contract import ForecastModel
from motionpred.registry import Registry
from motionpred.scene import TimeSpec
from motionpred.settings import from_mapping

registry: Registry[type[ForecastModel]] = Registry(
    "model", package="motionpred.models", attribute="MODELS", group="motionpred.models"
)


def model_names() -> list[str]:
    """Names of every model, in tree and plugged in."""
    return registry.names()


def get_model(name: str) -> type[ForecastModel]:
    """The model class called ``name``; a ConfigError names the nearest one."""
    return registry.get(name)


def build_model(name: str, settings: Mapping[str, Any], time: TimeSpec) -> ForecastModel:
    """The model called ``name`` with fresh weights from torch's global generator.

    Args:
        name: a name of :func:`model_names`.
        settings: plain values for the model's ``Config``; what is left out has its default.
        time: the clock it reads and forecasts in.

    Raises:
        ConfigError: no such model, an unknown setting (names the nearest), a value of a wrong type.
    """
    kind = get_model(name)
    return kind(from_mapping(kind.Config, settings, at=f"model.{name}"), time)
