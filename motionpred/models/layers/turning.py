"""Paths of constant turn rate, in closed form, safe where the turn rate is zero."""

from __future__ import annotations

import torch
from torch import Tensor


def half_sinc(angle: Tensor) -> Tensor:
    """``sin(angle / 2) / (angle / 2)``: chord over arc length of an arc that turns by ``angle``."""
    return torch.sinc(angle / (2 * torch.pi))


def lever(angle: Tensor) -> Tensor:
    """``2 sin(a / 2) / a² - cos(a / 2) / a``: the integral of ``s sin(a s)`` over -1/2 .. 1/2.

    Below half a radian the difference cancels in float32 and the series takes over.
    """
    small = angle.abs() < 0.5
    safe = torch.where(small, 1.0, angle)
    exact = 2 * torch.sin(safe / 2) / safe**2 - torch.cos(safe / 2) / safe
    square = angle**2
    # The next factor would be 1 - a² / 520: less than 1e-13 of the first term here.
    series = (
        angle
        / 12
        * (1 - square / 40 * (1 - square / 112 * (1 - square / 216 * (1 - square / 352))))
    )
    return torch.where(small, series, exact)


def turned(vector: Tensor, angle: Tensor, forward: Tensor, left: Tensor) -> Tensor:
    """``forward`` times ``vector`` plus ``left`` times its left normal, turned by ``angle``.

    ``vector`` ``[..., 2]``; the others ``[...]`` and broadcast against it.
    """
    cos, sin = torch.cos(angle), torch.sin(angle)
    along, across = forward * cos - left * sin, forward * sin + left * cos
    x, y = vector[..., 0], vector[..., 1]
    return torch.stack([along * x - across * y, across * x + along * y], dim=-1)
