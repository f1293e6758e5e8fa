"""From scene tokens to one token for each mode and predicted agent.

Shapes: B scenes, K modes, Q predicted agents, N = agents + map pieces, D width.
"""

from __future__ import annotations

from torch import Tensor, nn

from motionpred.models.encoder import Size
from motionpred.models.layers.feed_forward import FeedForward
from motionpred.models.layers.places import Places
from motionpred.models.layers.point_rotary import PointRotaryAttention
from motionpred.models.layers.set_attention import SetAttention


class DecoderLayer(nn.Module):
    """Look at the scene, at the other agents of the same mode, at one's own other modes; think."""

    def __init__(self, size: Size, cell: float | None) -> None:
        super().__init__()
        self.scene = PointRotaryAttention(size.width, size.heads, size.points, cell=cell)
        self.agents = PointRotaryAttention(size.width, size.heads, size.points, cell=cell)
        self.modes = SetAttention(size.width, size.heads)
        self.feed_forward = FeedForward(size.width)

    def forward(self, x_BKQD: Tensor, places: Places, scene_BND: Tensor, around: Places) -> Tensor:
        """Mode tokens after one round.

        ``places`` ``[B, K or 1, Q, ...]`` are where the queries stand, ``around`` ``[B, N, ...]``
        where the tokens of the scene are.
        """
        x_BKQD = self.scene(x_BKQD, places, scene_BND, around)
        x_BKQD = self.agents(x_BKQD, places)
        x_BKQD = self.modes(x_BKQD.transpose(1, 2)).transpose(1, 2)
        return self.feed_forward(x_BKQD)


class Decoder(nn.Module):
    """Layers of one stage, normed."""

    def __init__(self, size: Size, cell: float | None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(size, cell) for _ in range(size.decoder_layers))
        self.norm = nn.LayerNorm(size.width)

    def forward(self, x_BKQD: Tensor, places: Places, scene_BND: Tensor, around: Places) -> Tensor:
        """Mode tokens ``[B, K, Q, D]``."""
        for layer in self.layers:
            x_BKQD = layer(x_BKQD, places, scene_BND, around)
        return self.norm(x_BKQD)
