"""A map piece, in its own frame, as one token.

Shapes: B scenes, M map pieces, P points, C category columns, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from motionpred.graph import SceneBatch
from motionpred.models.layers.feed_forward import FeedForward, mlp
from motionpred.models.layers.frames import to_own
from motionpred.scene import LaneType, MapKind, Marking, SignalState

_CATEGORIES = (len(MapKind), len(LaneType), len(Marking), 2, len(SignalState))
_LENGTH = 10.0  # metres, and metres per second, that count as 1


class MapPiece(nn.Module):
    """PointNet over the points (Qi et al., CVPR 2017), plus what kind of thing it is."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.points = mlp(4, width, width)
        self.categories = nn.ModuleList(nn.Embedding(count, width) for count in _CATEGORIES)
        for embedding in self.categories:
            nn.init.normal_(embedding.weight, std=0.1)  # type: ignore[arg-type]
        self.attributes = nn.Linear(4, width)
        self.mix = FeedForward(width)

    def forward(self, batch: SceneBatch, pose_BM3: Tensor) -> Tensor:
        """Tokens ``[B, M, D]``; ``pose_BM3`` are the own frames (at the middle of a piece)."""
        points_BMP2 = torch.where(batch.map_mask[..., None, None], batch.map_points, 0.0)
        points_BMP2 = to_own(points_BMP2, pose_BM3[:, :, None]) / _LENGTH
        step_BMP2 = torch.diff(points_BMP2, dim=2, append=points_BMP2[:, :, -1:])
        point_BMPD = self.points(torch.cat([points_BMP2, step_BMP2 * 10], dim=-1))
        x_BMD = point_BMPD.amax(dim=2)
        for column, embedding in enumerate(self.categories):
            x_BMD = x_BMD + embedding(batch.map_category[..., column])
        known_BM2 = batch.map_mask[..., None] & (batch.map_attributes > 0)
        value_BM2 = torch.where(known_BM2, batch.map_attributes, 0.0) / _LENGTH
        attributes_BM4 = torch.cat([value_BM2, known_BM2.to(value_BM2.dtype)], dim=-1)
        return self.mix(x_BMD + self.attributes(attributes_BM4))


def directed(map_points_BMP2: Tensor) -> Tensor:
    """``[B, M]``: the piece has a length, so its direction means something."""
    extent_BM2 = map_points_BMP2.amax(2) - map_points_BMP2.amin(2)
    return extent_BM2.amax(-1) > 0
