"""Smooth paths from few numbers: a rate at knots in time, linear between them, summed up.

Shapes: T steps, C knots.
"""

from __future__ import annotations

import torch
from torch import Tensor

from motionpred.scene import TimeSpec

_SPACING = 0.5  # seconds


def knot_count(time: TimeSpec) -> int:
    """How many knots there are in the future of ``time``: about two a second."""
    return min(max(round(time.future * time.dt / _SPACING), 1), time.future)


def knot_integral(time: TimeSpec) -> Tensor:
    """``[T, C]`` seconds: the integral up to each step of a rate of 1 at each knot, 0 at others.

    Knots sit in the middle of equal spans. The rate is constant before the first and after the
    last, and taken at the middle of steps.
    """
    count, steps = knot_count(time), time.future
    middle_T1 = ((torch.arange(steps, dtype=torch.float64) + 0.5) * count / steps - 0.5)[:, None]
    place_T1 = middle_T1.clamp(0, count - 1)
    weight_TC = (1 - (place_T1 - torch.arange(count, dtype=torch.float64)).abs()).clamp(min=0)
    return (weight_TC.cumsum(0) * time.dt).float()


def knot_steps(time: TimeSpec) -> Tensor:
    """When the knots are, ``[C]`` in steps after ``now``."""
    count = knot_count(time)
    return (torch.arange(count) + 0.5) * (time.future / count)
