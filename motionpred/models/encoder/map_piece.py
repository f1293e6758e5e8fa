"""A map piece, in its own frame, as one token.

Shapes: B scenes, M map pieces, P points, R points that are looked at, C category columns, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, interpolate

from motionpred.graph import SceneBatch
from motionpred.models.layers.frames import to_own
from motionpred.scene import LaneType, MapKind, Marking, SignalState

_CATEGORIES = (len(MapKind), len(LaneType), len(Marking), 2, len(SignalState))
_LENGTH = 10.0  # metres, and metres per second, that count as 1
_POINTS = 10  # R: pieces are resampled, so that a model is not bound to a number of points


class MapPiece(nn.Module):
    """The points of a piece in their order, and what kind of thing it is."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.points = nn.Linear(2 * _POINTS, 2 * width)
        self.categories = nn.ModuleList(nn.Embedding(count, 2 * width) for count in _CATEGORIES)
        for embedding in self.categories:
            nn.init.normal_(embedding.weight, std=0.1)  # type: ignore[arg-type]
        self.attributes = nn.Linear(4, 2 * width)
        self.out = nn.Linear(2 * width, width)

    def forward(self, batch: SceneBatch, pose_BM3: Tensor) -> Tensor:
        """Tokens ``[B, M, D]``; ``pose_BM3`` are the own frames (at the middle of a piece)."""
        points_BMP2 = torch.where(batch.map_mask[..., None, None], batch.map_points, 0.0)
        points_BMP2 = to_own(points_BMP2, pose_BM3[:, :, None]) / _LENGTH
        hidden = self.points(_resampled(points_BMP2).flatten(2))
        for column, embedding in enumerate(self.categories):
            hidden = hidden + embedding(batch.map_category[..., column])
        known_BM2 = batch.map_mask[..., None] & (batch.map_attributes > 0)
        value_BM2 = torch.where(known_BM2, batch.map_attributes, 0.0) / _LENGTH
        attributes_BM4 = torch.cat([value_BM2, known_BM2.to(value_BM2.dtype)], dim=-1)
        return self.out(gelu(hidden + self.attributes(attributes_BM4)))


def _resampled(points_BMP2: Tensor) -> Tensor:
    """``[B, M, R, 2]``, the first and last point among them."""
    flat = points_BMP2.flatten(0, 1).transpose(1, 2)
    sampled = interpolate(flat, _POINTS, mode="linear", align_corners=True)
    return torch.unflatten(sampled.transpose(1, 2), 0, points_BMP2.shape[:2])


def directed(map_points_BMP2: Tensor) -> Tensor:
    """``[B, M]``: the piece has a length, so its direction means something."""
    extent_BM2 = map_points_BMP2.amax(2) - map_points_BMP2.amin(2)
    return extent_BM2.amax(-1) > 0
