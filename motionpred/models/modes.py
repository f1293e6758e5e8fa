"""Choosing among the modes of a forecast.

Shapes: B scenes, K modes, A agents, S chosen modes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from motionpred.errors import ConfigError
from motionpred.graph import SceneBatch
from motionpred.models.contract import Forecast
from motionpred.reduction import most_probable_scenes
from motionpred.scene import Role


def top_modes(forecast: Forecast, modes: int) -> Forecast:
    """The ``modes`` most probable modes, sorted (ties keep their order), renormalised.

    Of the scene where the forecast is joint, of each agent where it is marginal.

    Raises:
        ConfigError: ``modes`` is below 1.
    """
    if modes < 1:
        raise ConfigError(f"at least one mode must be asked for, not {modes}", field="modes")
    probability, order = forecast.probability.sort(dim=-1, descending=True, stable=True)
    order = order[..., :modes]
    probability = probability[..., :modes]
    agents = forecast.position.shape[2]
    if forecast.joint:
        choice_BSA = order[..., None].expand(-1, -1, agents)
    else:
        choice_BSA = order.transpose(1, 2)
    return _picked(
        forecast,
        choice_BSA,
        probability / probability.sum(-1, keepdim=True),
        order if forecast.mode is None else forecast.mode.gather(-1, order),
    )


def combined_modes(forecast: Forecast, batch: SceneBatch, top: int) -> Forecast:
    """The ``top`` most probable scenes that a marginal ``forecast`` of ``batch`` allows for.

    See :meth:`motionpred.models.Forecast.combine`.
    """
    scored_BA = batch.predict & ((batch.roles & int(Role.SCORED)) != 0)
    counts_BA = torch.where(scored_BA.any(-1, keepdim=True), scored_BA, batch.predict)
    choice_BSA, score_BS = most_probable_scenes(forecast.probability.log(), counts_BA, top)
    return _picked(forecast, choice_BSA, score_BS.softmax(-1), None)


def _picked(
    forecast: Forecast, choice_BSA: Tensor, probability: Tensor, mode: Tensor | None
) -> Forecast:
    """Scene modes or own modes in which agent a does what its mode ``choice[b, s, a]`` says."""

    def pick(values: Tensor | None) -> Tensor | None:
        if values is None:
            return None
        index = choice_BSA.reshape(*choice_BSA.shape, *[1] * (values.ndim - 3))
        return values.gather(1, index.expand(-1, -1, -1, *values.shape[3:]))

    position = pick(forecast.position)
    assert position is not None
    return Forecast(
        position=position,
        probability=probability,
        heading=pick(forecast.heading),
        scale=pick(forecast.scale),
        mode=mode,
    )
