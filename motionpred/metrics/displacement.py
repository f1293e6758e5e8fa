"""Displacement errors of modes against the truth, with masks; choosing modes by probability.

Shapes: K modes, N future steps; leading axes are free. Metres, float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.errors import SceneError

Array = npt.NDArray[Any]

MISS_THRESHOLD = 2.0  # metres; Argoverse: a miss is strictly farther


def displacement(position: npt.ArrayLike, truth: npt.ArrayLike) -> Array:
    """Distance ``[..., N]`` between ``position`` and ``truth`` ``[..., N, 2]``, broadcast.

    The coordinates are subtracted in float64: float32 city coordinates lose up to a millimetre.
    """
    offset = np.asarray(position, np.float64) - np.asarray(truth, np.float64)
    return np.asarray(np.linalg.norm(offset, axis=-1))


def ade(error: Array, valid: Array | None = None) -> Array:
    """Mean of ``error`` ``[..., N]`` over the valid steps; NaN where there is none.

    ``valid`` broadcasts against ``error``; values at invalid steps are never read, NaN included.
    """
    if valid is None:
        return np.asarray(error.mean(axis=-1))
    mask = np.broadcast_to(valid, error.shape)
    count = mask.sum(axis=-1)
    total = np.where(mask, error, 0.0).sum(axis=-1)
    mean = np.full(count.shape, np.nan)
    return np.asarray(np.divide(total, count, out=mean, where=count > 0))


def fde(error: Array, valid: Array | None = None) -> Array:
    """``error`` ``[..., N]`` at the last step; NaN where that step is invalid."""
    last = error[..., -1]
    return last if valid is None else np.where(np.asarray(valid)[..., -1], last, np.nan)


def missed(fde: Array, threshold: float = MISS_THRESHOLD) -> Array:
    """Whether the end point is more than ``threshold`` metres off (exactly that is a hit)."""
    return np.asarray(fde > threshold)


def brier_penalty(probability: npt.ArrayLike) -> Array:
    """``(1 - p)**2``: what a Brier metric adds to the error of the best mode.

    Raises:
        SceneError: a probability is not a number in 0..1 (logits and counts are caught so).
    """
    probability = np.asarray(probability, np.float64)
    if not ((probability >= 0) & (probability <= 1)).all():
        raise SceneError(
            f"a probability is outside 0..1: {probability.tolist()}",
            field="probability",
            remedy="Give probabilities, not logits or counts",
        )
    return np.square(1.0 - probability)


def most_probable(probability: Array, k: int) -> Array:
    """Indices of the ``k`` most probable modes along the last axis, best first.

    Equal probabilities keep their order; fewer modes than ``k`` are all of them.
    """
    return np.argsort(-probability, axis=-1, kind="stable")[..., :k]
