"""The Laplace distribution of positions, per axis."""

from __future__ import annotations

import torch
from torch import Tensor


def laplace_nll(position: Tensor, scale: Tensor, target: Tensor, *, axis: int = -1) -> Tensor:
    """Negative log likelihood of points: sum of ``log 2b + |x - μ| / b`` over x and y.

    ``axis`` is the one that holds x and y, the others stay.
    """
    return (torch.log(2 * scale) + (target - position).abs() / scale).sum(axis)
