"""Forecasts of scenes by track, in the world frame, and how far two of them are apart.

Shapes: K modes, n predicted agents, T future steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import linear_sum_assignment

from motionpred.graph import BatchOptions, SceneBatch, collate_scenes
from motionpred.models import Forecast, ForecastModel
from motionpred.scene import Scene

Array = npt.NDArray[Any]
Change = Callable[[SceneBatch], SceneBatch]

MODES = 6
_PROBABILITY = 1e-4  # how far probabilities may be apart; modes this close may change places


@dataclass(frozen=True)
class Run:
    """The forecast of one scene of a batch: predicted agents only, in the order of their ids."""

    track_id: list[str]
    position: Array  # [K, n, T, 2] float64, world frame
    probability: Array  # [K] joint, [n, K] marginal
    heading: Array | None  # [K, n, T]
    scale: Array | None  # [K, n, T, 2]

    @property
    def joint(self) -> bool:
        """Whether a mode is one future of the whole scene."""
        return self.probability.ndim == 1


def run(
    model: ForecastModel,
    scenes: Sequence[Scene],
    *,
    modes: int = MODES,
    seed: int = 0,
    change: Change | None = None,
    options: BatchOptions | None = None,
) -> list[Run]:
    """Forecast ``scenes`` as one batch, ``change``d beforehand."""
    batch = collate_scenes(scenes, model.time, options)
    if change is not None:
        batch = change(batch)
    return runs_of(batch, model.eval().forecast(batch, modes=modes, seed=seed))


def runs_of(batch: SceneBatch, forecast: Forecast) -> list[Run]:
    """The forecast of a batch scene by scene."""
    return [_run_of(batch, forecast, row) for row in range(len(batch))]


def _run_of(batch: SceneBatch, forecast: Forecast, row: int) -> Run:
    names = batch.track_id[row]
    predicted = torch.nonzero(batch.predict[row]).flatten().numpy()
    order = predicted[np.argsort(names[predicted])]

    def pick(values: torch.Tensor | None) -> Array | None:
        return None if values is None else values[row].detach().double().numpy()[:, order]

    position = pick(forecast.position)
    assert position is not None
    probability = forecast.probability[row].detach().double().numpy()
    return Run(
        track_id=names[order].tolist(),
        position=position + batch.origin[row].numpy(),
        probability=probability if forecast.joint else probability[order],
        heading=pick(forecast.heading),
        scale=pick(forecast.scale),
    )


class Tolerance(NamedTuple):
    """Metres that positions may differ by."""

    most: float
    mean: float


def check_same(name: str, a: Run, b: Run, tolerance: Tolerance) -> None:
    """The two forecasts agree: positions within ``tolerance``, everything else alike.

    Modes may change places where their probabilities are as good as equal.

    Raises:
        AssertionError: says how far they are apart.
    """
    assert a.track_id == b.track_id, f"{name}: predicted {b.track_id} instead of {a.track_id}"
    assert a.position.shape == b.position.shape, (
        f"{name}: positions {b.position.shape} instead of {a.position.shape}"
    )
    if not a.track_id:
        return
    b = _in_order_of(a, b)
    apart = np.linalg.norm(a.position - b.position, axis=-1)
    most, mean = tolerance
    assert apart.max() <= most and apart.mean() <= mean, (
        f"{name}: positions differ by up to {apart.max():.3g} m (allowed {most:g}), "
        f"on average {apart.mean():.3g} m (allowed {mean:g})"
    )
    change = np.abs(a.probability - b.probability).max()
    assert change <= _PROBABILITY, f"{name}: a probability differs by {change:.3g}"
    if a.scale is not None and b.scale is not None:
        change = np.abs(a.scale - b.scale).max()
        assert change <= most, f"{name}: a scale differs by {change:.3g} m (allowed {most:g})"
    if a.heading is not None and b.heading is not None:
        change = np.abs(np.sin((a.heading - b.heading) / 2)).max() * 2
        assert change <= max(most, 1e-9), f"{name}: a heading differs by {change:.3g} rad"


def check_identical(name: str, a: Run, b: Run) -> None:
    """The two forecasts agree in every bit.

    Raises:
        AssertionError: says what differs.
    """
    assert a.track_id == b.track_id, f"{name}: predicted {b.track_id} instead of {a.track_id}"
    for field in ("position", "probability", "heading", "scale"):
        first, second = getattr(a, field), getattr(b, field)
        assert (first is None) == (second is None), f"{name}: {field} is there only once"
        if first is not None:
            assert np.array_equal(first, second), (
                f"{name}: {field} differs by up to {np.abs(first - second).max():.3g}"
            )


def _in_order_of(a: Run, b: Run) -> Run:
    """``b`` with its modes in the order of ``a``, by distance of whole modes; only when joint."""
    if not a.joint:
        return b
    cost = np.linalg.norm(a.position[:, None] - b.position[None], axis=-1).mean(axis=(2, 3))
    _, order = linear_sum_assignment(cost)

    def pick(values: Array | None) -> Array | None:
        return None if values is None else values[order]

    return Run(b.track_id, b.position[order], b.probability[order], pick(b.heading), pick(b.scale))
