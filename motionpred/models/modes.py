"""Choosing among the modes of a joint forecast."""

from __future__ import annotations

from torch import Tensor

from motionpred.errors import ConfigError
from motionpred.models.contract import Forecast


def top_modes(forecast: Forecast, modes: int) -> Forecast:
    """The ``modes`` most probable scene modes, sorted (ties keep their order), renormalised.

    Raises:
        ConfigError: ``modes`` is below 1.
    """
    if modes < 1:
        raise ConfigError(f"at least one mode must be asked for, not {modes}", field="modes")
    probability_BK, order_BK = forecast.probability.sort(dim=-1, descending=True, stable=True)
    order_BK = order_BK[:, :modes]
    probability_BK = probability_BK[:, :modes]

    def pick(values: Tensor | None) -> Tensor | None:
        if values is None:
            return None
        index = order_BK.reshape(*order_BK.shape, *[1] * (values.ndim - 2))
        return values.gather(1, index.expand(-1, -1, *values.shape[2:]))

    position = pick(forecast.position)
    assert position is not None
    return Forecast(
        position=position,
        probability=probability_BK / probability_BK.sum(-1, keepdim=True),
        heading=pick(forecast.heading),
        scale=pick(forecast.scale),
    )
