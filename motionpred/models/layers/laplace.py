"""The Laplace distribution of positions, per axis."""

from __future__ import annotations

import torch
from torch import Tensor


def laplace_nll(position: Tensor, scale: Tensor, target: Tensor) -> Tensor:
    """Negative log likelihood ``[...]`` of points ``[..., 2]``: sum of ``log 2b + |x - μ| / b``."""
    return (torch.log(2 * scale) + (target - position).abs() / scale).sum(-1)
