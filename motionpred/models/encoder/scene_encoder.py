"""Scene encoder: every agent looks at all agents and map pieces, in its own frame.

The one interface between the input and all heads: ``encoder(batch) -> SceneTokens``. Features hold
only what a token's own frame sees; poses travel beside them and enter through relative poses, so
the tokens do not depend on the frame of the world.

Shapes: B scenes, A agents, M map pieces, N = A + M keys, D width.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from motionpred.graph import SceneBatch
from motionpred.models.encoder.agent_history import AgentHistory
from motionpred.models.encoder.map_piece import MapPiece, directed
from motionpred.models.encoder.sizes import Size
from motionpred.models.encoder.tokens import SceneTokens
from motionpred.models.layers.feed_forward import FeedForward
from motionpred.models.layers.relative_pose import PairEmbedding, RelativePoseAttention
from motionpred.scene import TimeSpec


class SceneEncoder(nn.Module):
    """Tokens of agents and map pieces; agent tokens know what is around them."""

    def __init__(self, size: Size, time: TimeSpec) -> None:
        super().__init__()
        self.agent_history = AgentHistory(size.width, time)
        self.map_piece = MapPiece(size.width)
        self.pairs = PairEmbedding(size.pair_width)
        self.attention = nn.ModuleList(
            RelativePoseAttention(size.width, size.heads, size.pair_width)
            for _ in range(size.encoder_layers)
        )
        self.feed_forward = nn.ModuleList(
            FeedForward(size.width) for _ in range(size.encoder_layers)
        )
        self.norm = nn.LayerNorm(size.width)

    def forward(self, batch: SceneBatch) -> SceneTokens:
        """Encode the history and the map; ``batch.target`` is not looked at."""
        batch = _with_map(batch)
        agent_mask_BA, map_mask_BM = batch.agent_mask, batch.map_mask
        agent_pose_BA3 = _masked(batch.pose, agent_mask_BA)
        map_pose_BM3 = _masked(batch.map_pose, map_mask_BM)
        tokens = SceneTokens(
            agent=self.agent_history(batch, agent_pose_BA3),
            agent_pose=agent_pose_BA3,
            agent_mask=agent_mask_BA,
            map=self.map_piece(batch, map_pose_BM3),
            map_pose=map_pose_BM3,
            map_mask=map_mask_BM,
            map_directed=directed(batch.map_points),
        )
        pair_BANE = self.pairs(tokens.agent_pose, tokens.pose, tokens.directed)
        for attention, feed_forward in zip(self.attention, self.feed_forward, strict=True):
            one_set = tokens.agent[:, None], tokens.both[:, None]
            agent_BAD = attention(*one_set, pair_BANE, tokens.mask)[:, 0]
            tokens = replace(tokens, agent=feed_forward(agent_BAD))
        return replace(tokens, agent=self.norm(tokens.agent))


def _masked(pose: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask[..., None], pose, 0.0)


def _with_map(batch: SceneBatch) -> SceneBatch:
    """The batch with at least one map piece, be it masked: map layers take part in every loss."""
    if batch.map_mask.shape[1] > 0:
        return batch
    return replace(
        batch,
        map_points=pad(batch.map_points, (0, 0, 0, 0, 0, 1)),
        map_mask=pad(batch.map_mask, (0, 1)),
        map_pose=pad(batch.map_pose, (0, 0, 0, 1)),
        map_category=pad(batch.map_category, (0, 0, 0, 1)),
        map_attributes=pad(batch.map_attributes, (0, 0, 0, 1)),
    )
