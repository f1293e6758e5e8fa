"""Own frames in torch (x forward, y left): the twin of ``motionpred.geometry.frames``."""

from __future__ import annotations

import torch
from torch import Tensor


def rotate(points: Tensor, angle: Tensor) -> Tensor:
    """Points ``[..., 2]`` turned counter-clockwise about the origin by ``angle`` ``[...]``."""
    cos, sin = torch.cos(angle), torch.sin(angle)
    x, y = points[..., 0], points[..., 1]
    return torch.stack([cos * x - sin * y, sin * x + cos * y], dim=-1)


def to_own(points: Tensor, pose: Tensor) -> Tensor:
    """Points ``[..., 2]`` as seen from ``pose`` ``[..., 3]`` (x, y, heading)."""
    return rotate(points - pose[..., :2], -pose[..., 2])


def from_own(points: Tensor, pose: Tensor) -> Tensor:
    """The inverse of :func:`to_own`."""
    return rotate(points, pose[..., 2]) + pose[..., :2]


def full_precision(tensor: Tensor) -> Tensor:
    """At least float32: geometry in a half-precision type would lose metres."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor
