"""The conformance suite for models: passed by every registered one, public for plug-ins."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import torch

from motionpred.models import ForecastModel, build_model, get_model
from motionpred.scene import TimeSpec
from motionpred.testing.model_forecasts import FORECAST_CHECKS
from motionpred.testing.model_losses import LOSS_CHECKS

TIME = TimeSpec(dt=0.1, history=20, future=30)

Check = Callable[[ForecastModel], None]


def check_model(
    model: str | ForecastModel,
    settings: Mapping[str, Any] | None = None,
    *,
    time: TimeSpec = TIME,
) -> None:
    """Whether a model keeps the contract of :class:`motionpred.models.ForecastModel`.

    Scenes made by hand are forecast alone, in company, turned, moved, permuted, padded, without a
    map, with another future; a loss is added up, starved and differentiated. A model that learns is
    looked at with fresh weights and with stirred ones, since fresh heads hide much.

    Args:
        model: a registry name, built with ``settings``; or a model, looked at as it is.
        settings: plain values for its ``Config``.
        time: the clock of the scenes; at least three steps of history.

    Raises:
        AssertionError: names the check, and says what differs and by how much.
    """
    for one in variants(model, settings, time=time):
        for check in model_checks(one):
            try:
                check(one)
            except AssertionError as error:
                raise AssertionError(f"{one.name}: {check.__name__}: {error}") from error


def model_checks(model: ForecastModel | type[ForecastModel]) -> tuple[Check, ...]:
    """The checks that ``model`` has to pass; those of the loss only where it learns."""
    return (*FORECAST_CHECKS, *LOSS_CHECKS) if model.trainable else FORECAST_CHECKS


def variants(
    model: str | ForecastModel,
    settings: Mapping[str, Any] | None = None,
    *,
    time: TimeSpec = TIME,
) -> list[ForecastModel]:
    """The models that :func:`check_model` looks at: a given one, or fresh and stirred weights."""
    if isinstance(model, ForecastModel):
        return [model]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        fresh = build_model(model, settings or {}, time)
        return [fresh, stirred(fresh)] if fresh.trainable else [fresh]


def smallest_settings(name: str) -> dict[str, Any]:
    """Settings of the smallest size of the model called ``name``; none where it has no sizes."""
    sizes = {field.name for field in dataclasses.fields(get_model(name).Config)} & {"size"}
    return dict.fromkeys(sizes, "nano")


def stirred(model: ForecastModel) -> ForecastModel:
    """A copy whose weights are as large as trained ones, so that nothing is hidden by a zero."""
    result = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in result.parameters():
            inputs = parameter.shape[-1] if parameter.ndim > 1 else 100
            parameter.add_(torch.randn_like(parameter), alpha=inputs**-0.5)
    return result
