"""How honest a forecast is about what it does not know: likelihood and calibration.

Shapes: A agents, K modes, N future steps. Metres, radians, float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.geometry.frames import rotate

Array = npt.NDArray[Any]

BINS = 10


def laplace_nll(
    position: Array, scale: Array, probability: Array, truth: Array, heading: Array
) -> Array:
    """Negative log density of the truth at each step ``[A, N]``, in nats.

    The density of a step is the mixture over modes of independent Laplace distributions along
    the axes of the agent's own frame at now,
    ``-log sum_k p_k prod_d exp(-|r_kd| / b_kd) / (2 b_kd)``.
    It is that of each agent and step by itself, so that joint and marginal forecasts compare.

    ``position`` and ``scale`` ``[K, A, N, 2]`` (scale: Laplace b along and across, positive),
    ``probability`` ``[A, K]``, ``truth`` ``[A, N, 2]``, ``heading`` ``[A]`` at now.
    """
    residual = np.abs(rotate(truth - position, -heading[:, None]))
    log_density = -(residual / scale + np.log(2 * scale)).sum(axis=-1)  # [K, A, N]
    with np.errstate(divide="ignore"):  # a mode of probability 0 adds nothing
        log_weight = np.log(probability).T[..., None]
    return np.asarray(-np.logaddexp.reduce(log_weight + log_density, axis=0))


def calibration_bins(probability: Array, hit: Array) -> list[list[float]]:
    """Count, summed probability and hits in each of ten bins of equal width; sums over scenes.

    ``probability`` and ``hit`` (the mode was the closest one) have the same shape. A bin holds its
    lower edge; 1 belongs to the last.
    """
    index = np.minimum((probability * BINS).astype(int), BINS - 1).reshape(-1)
    columns = (np.ones(index.size), probability.reshape(-1), hit.reshape(-1))
    sums = [np.bincount(index, column, BINS).tolist() for column in columns]
    return [list(row) for row in zip(*sums, strict=True)]


def calibration_error(bins: Iterable[Sequence[float]]) -> tuple[float, float]:
    """Expected calibration error times the count, and the count.

    The error is the mean over entries of ``|share of hits - mean probability|`` of their bin.
    """
    listed = list(bins)
    gap = sum(abs(hits - confidence) for _, confidence, hits in listed)
    return gap, sum(count for count, _, _ in listed)
