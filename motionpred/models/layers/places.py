"""Where tokens are: tables that all point-rotary layers of a scene share.

Shapes: ``...`` scenes (and modes), N tokens, G heads, R = C + P rotated pairs of a head: C of
features, P of points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

LENGTH = 20.0  # metres that count as 1
# Rows far from all their keys reach scores of -1e4 (400 m at the sharpest focus); this is below.
_MASKED = -1e6


@dataclass(frozen=True)
class HeadShape:
    """What a head is made of."""

    heads: int
    width: int  # plain channels d: half as they are, half in pairs that turn with the heading
    points: int  # P

    @property
    def feature_pairs(self) -> int:
        """C: a quarter of the plain channels."""
        return self.width // 4

    @property
    def pairs(self) -> int:
        """R."""
        return self.feature_pairs + self.points

    @property
    def padded(self) -> int:
        """Channels of a head in the attention product: ``d + 3 P + 1``, padded to eights."""
        return -(-(self.width + 3 * self.points + 1) // 8) * 8


@dataclass
class Places:
    """Rotation and translation of every pair of channels, once for each head of keys and values.

    A token without a heading has no rotation (cos and sin are 0): its points lie on itself and its
    turning features are 0, so nothing of it depends on the axes of the scene.
    """

    cos: Tensor  # [..., N, 2 G R]
    sin: Tensor  # [..., N, 2 G R]
    x: Tensor  # [..., N, 2 G R] units of LENGTH from the centre; 0 for pairs of features
    y: Tensor  # [..., N, 2 G R]
    rest: Tensor  # [..., N, W - d - 3 P] added to scores: 0 for tokens, far below for padding; 0 …

    def map(self, function: Callable[[Tensor], Tensor]) -> Places:
        """The tables with ``function`` applied to each."""
        tables = (self.cos, self.sin, self.x, self.y, self.rest)
        return Places(*map(function, tables))


def centre_of(pose: Tensor, mask: Tensor) -> Tensor:
    """Mean position ``[..., 2]`` of the valid tokens in float64.

    Any centre gives the same attention; a near one keeps the rounding small.
    """
    weight = mask.to(torch.float64)[..., None]
    total = (pose[..., :2].to(torch.float64) * weight).sum(-2)
    return total / weight.sum(-2).clamp(min=1)


def locate(
    pose: Tensor, centre: Tensor, shape: HeadShape, *, mask: Tensor, directed: Tensor | None = None
) -> Places:
    """Tables of poses ``[..., N, 3]`` (x, y, heading), ``centre`` ``[..., 2]`` taken off.

    ``mask`` ``[..., N]``: which are real; ``directed`` ``[..., N]``: which have a heading, by
    default all.
    """
    offset = pose[..., :2].to(torch.float64) - centre[..., None, :]
    position = (torch.where(mask[..., None], offset, 0.0) / LENGTH).to(pose.dtype)
    cos, sin = torch.cos(pose[..., 2]), torch.sin(pose[..., 2])
    if directed is not None:
        cos, sin = torch.where(directed, cos, 0.0), torch.where(directed, sin, 0.0)
    # Whole harmonics only, 1 and 2: a heading and the same plus a full turn are one.
    nothing = torch.zeros_like(cos)
    columns = [cos, cos * cos - sin * sin, sin, 2 * cos * sin, *position.unbind(-1), nothing]
    tables = torch.stack(columns, dim=-1).index_select(-1, _columns(shape, pose.device))
    cos, sin, x, y = tables.chunk(4, dim=-1)
    rest = torch.where(mask, 0.0, _MASKED).to(pose.dtype)[..., None]
    spare = shape.padded - shape.width - 3 * shape.points - 1
    return Places(cos, sin, x, y, pad(rest, (0, spare)))


def _columns(shape: HeadShape, device: torch.device) -> Tensor:
    """Which of (cos, cos 2, sin, sin 2, x, y, 0) stands in each column of the four tables."""
    result: list[int] = []
    for feature, point in (((0, 1), 0), ((2, 3), 2), ((6, 6), 4), ((6, 6), 5)):
        pairs = [feature[n % 2] for n in range(shape.feature_pairs)] + [point] * shape.points
        result += pairs * (2 * shape.heads)
    return torch.tensor(result, device=device)
