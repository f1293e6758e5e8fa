"""Scene encoder: agents and map pieces look at each other, each in its own frame.

The one interface between the input and all heads: ``encoder(batch) -> SceneTokens``. Features hold
only what a token's own frame sees; poses travel beside them and enter through point-rotary
attention, so the tokens do not depend on the frame of the world.

Shapes: B scenes, A agents, M map pieces, N = A + M tokens, D width.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from motionpred.graph import SceneBatch
from motionpred.models.encoder.agent_history import AgentHistory
from motionpred.models.encoder.config import EncoderConfig
from motionpred.models.encoder.lane_graph import LaneGraph, links_of
from motionpred.models.encoder.map_piece import MapPiece, directed
from motionpred.models.encoder.sizes import Size
from motionpred.models.encoder.tokens import SceneTokens
from motionpred.models.layers.feed_forward import FeedForward
from motionpred.models.layers.places import HeadShape, Places, centre_of, locate
from motionpred.models.layers.point_rotary import PointRotaryAttention
from motionpred.models.layers.relative_pose import PairEmbedding, RelativePoseAttention
from motionpred.scene import TimeSpec


class SceneEncoder(nn.Module):
    """Tokens of agents and map pieces that know what is around them."""

    def __init__(self, size: Size, time: TimeSpec, config: EncoderConfig | None = None) -> None:
        super().__init__()
        config = config or EncoderConfig()
        self.shape = HeadShape(size.heads, size.width // size.heads, size.points)
        self.agent_history = AgentHistory(size.width, time)
        self.map_piece = MapPiece(size.width)
        self.lane_graph = LaneGraph(size.width)
        self.layers = nn.ModuleList(
            EncoderLayer(size, config.cell) for _ in range(size.encoder_layers)
        )
        self.edge_layers = nn.ModuleList(EdgeLayer(size) for _ in range(config.edge_layers))
        self.norm = nn.LayerNorm(size.width)

    def forward(self, batch: SceneBatch) -> SceneTokens:
        """Encode the history and the map; ``batch.target`` is not looked at."""
        tokens = self._alone(_with_map(batch))
        both_BND = tokens.both
        for layer in self.layers:
            both_BND = layer(both_BND, tokens.places)
        agents, pieces = tokens.agent.shape[1], tokens.map.shape[1]
        agent_BAD, map_BMD = torch.split(both_BND, [agents, pieces], dim=1)
        tokens = replace(tokens, agent=agent_BAD, map=map_BMD)
        for edge_layer in self.edge_layers:
            tokens = replace(tokens, agent=edge_layer(tokens))
        return replace(tokens, agent=self.norm(tokens.agent), map=self.norm(tokens.map))

    def _alone(self, batch: SceneBatch) -> SceneTokens:
        """Every token for itself, apart from links between lanes."""
        agent_pose_BA3 = _masked(batch.pose, batch.agent_mask)
        map_pose_BM3 = _masked(batch.map_pose, batch.map_mask)
        directed_BM = directed(batch.map_points)
        mask_BN = torch.cat([batch.agent_mask, batch.map_mask], dim=1)
        pose_BN3 = torch.cat([agent_pose_BA3, map_pose_BM3], dim=1)
        directed_BN = torch.cat([torch.ones_like(batch.agent_mask), directed_BM], dim=1)
        centre_B2 = centre_of(pose_BN3, mask_BN)
        return SceneTokens(
            agent=self.agent_history(batch, agent_pose_BA3),
            agent_pose=agent_pose_BA3,
            agent_mask=batch.agent_mask,
            map=self.lane_graph(self.map_piece(batch, map_pose_BM3), links_of(batch, directed_BM)),
            map_pose=map_pose_BM3,
            map_mask=batch.map_mask,
            map_directed=directed_BM,
            centre=centre_B2,
            places=locate(pose_BN3, centre_B2, self.shape, mask=mask_BN, directed=directed_BN),
        )


class EncoderLayer(nn.Module):
    """Everybody looks at everybody, and thinks."""

    def __init__(self, size: Size, cell: float | None) -> None:
        super().__init__()
        self.attention = PointRotaryAttention(size.width, size.heads, size.points, cell=cell)
        self.feed_forward = FeedForward(size.width)

    def forward(self, both_BND: Tensor, places: Places) -> Tensor:
        """Tokens after one round."""
        return self.feed_forward(self.attention(both_BND, places))


class EdgeLayer(nn.Module):
    """Agents look at agents and map pieces with an embedding of every pair; A N pairs."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.pairs = PairEmbedding(size.pair_width)
        self.attention = RelativePoseAttention(size.width, size.heads, size.pair_width)
        self.feed_forward = FeedForward(size.width)

    def forward(self, tokens: SceneTokens) -> Tensor:
        """Agent tokens ``[B, A, D]`` after one round."""
        pair_BANE = self.pairs(tokens.agent_pose, tokens.pose, tokens.directed)
        one_set = tokens.agent[:, None], tokens.both[:, None]
        return self.feed_forward(self.attention(*one_set, pair_BANE, tokens.mask)[:, 0])


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
