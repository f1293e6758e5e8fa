"""From scene tokens to one token for each scene mode and agent, and a score for each scene mode.

Shapes: B scenes, K modes, A agents, N = agents + map pieces, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from motionpred.models.encoder import SceneTokens, Size
from motionpred.models.layers.feed_forward import FeedForward, mlp
from motionpred.models.layers.relative_pose import PairEmbedding, RelativePoseAttention
from motionpred.models.layers.set_attention import SetAttention


class DecoderLayer(nn.Module):
    """Look at the scene, at the other agents of the same mode, at one's own other modes; think."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.scene = RelativePoseAttention(size.width, size.heads, size.pair_width)
        self.agents = RelativePoseAttention(size.width, size.heads, size.pair_width)
        self.modes = SetAttention(size.width, size.heads)
        self.feed_forward = FeedForward(size.width)

    def forward(
        self, x_BKAD: Tensor, both_BND: Tensor, pair_BANE: Tensor, mask_BN: Tensor
    ) -> Tensor:
        """Mode tokens after one round; the first A of the N keys are the agents themselves."""
        agents = x_BKAD.shape[2]
        x_BKAD = self.scene(x_BKAD, both_BND[:, None], pair_BANE, mask_BN)
        x_BKAD = self.agents(x_BKAD, x_BKAD, pair_BANE[:, :, :agents], mask_BN[:, :agents])
        x_BKAD = self.modes(x_BKAD.transpose(1, 2)).transpose(1, 2)
        return self.feed_forward(x_BKAD)


class SceneModeDecoder(nn.Module):
    """K queries an agent; mode k of all agents is one future."""

    def __init__(self, size: Size, modes: int) -> None:
        super().__init__()
        self.mode = nn.Parameter(torch.randn(modes, size.width))
        self.pairs = PairEmbedding(size.pair_width)
        self.layers = nn.ModuleList(DecoderLayer(size) for _ in range(size.decoder_layers))
        self.norm = nn.LayerNorm(size.width)

    def forward(self, tokens: SceneTokens) -> Tensor:
        """Mode tokens ``[B, K, A, D]``."""
        pair_BANE = self.pairs(tokens.agent_pose, tokens.pose, tokens.directed)
        x_BKAD = tokens.agent[:, None] + self.mode[:, None]
        for layer in self.layers:
            x_BKAD = layer(x_BKAD, tokens.both, pair_BANE, tokens.mask)
        return self.norm(x_BKAD)


class SceneScore(nn.Module):
    """One number for each scene mode, pooled over the predicted agents by attention."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.importance = nn.Linear(width, 1)
        self.score = mlp(width, width, 1)

    def forward(self, x_BKAD: Tensor, predict_BA: Tensor) -> Tensor:
        """Logits ``[B, K]``; a scene with nobody to predict pools nothing."""
        mask_B1A1 = predict_BA[:, None, :, None]
        weight_BKA1 = self.importance(x_BKAD).masked_fill(~mask_B1A1, -1e9).softmax(dim=2)
        pooled_BKD = (torch.where(mask_B1A1, x_BKAD, 0.0) * weight_BKA1).sum(dim=2)
        return self.score(pooled_BKD).squeeze(-1)
