"""The peers of point-rotary attention: an embedding of every pair's relative pose in k and v.

As in QCNet (Zhou et al., CVPR 2023): ``softmax(q · (k_j + W_k e_ij)) (v_j + W_v e_ij)``, with
``e_ij`` ``[B, N, N, D]`` (dense), or of the nearest J keys alone, ``[B, N, J, D]``.

Shapes: B scenes, N tokens, J neighbours, D width, G heads, d = D / G.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from motionpred.models.layers.feed_forward import mlp
from motionpred.models.layers.relative_pose import FEATURES, relative_features


class EdgeAttention(nn.Module):
    """Pre-norm residual self-attention over all tokens, or over the ``neighbours`` nearest."""

    def __init__(self, width: int, heads: int, neighbours: int | None = None) -> None:
        super().__init__()
        self.heads, self.neighbours = heads, neighbours
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.edge = mlp(FEATURES, width, width)
        self.edge_key_value = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)

    def index(self, pose_BN3: Tensor) -> Tensor | None:
        """``[B, N, J]``: the nearest tokens of each; None where all are looked at."""
        if self.neighbours is None:
            return None
        distance = torch.cdist(pose_BN3[..., :2], pose_BN3[..., :2])
        return distance.topk(self.neighbours, largest=False).indices

    def features(self, pose_BN3: Tensor, index_BNJ: Tensor | None) -> Tensor:
        """Relative poses ``[B, N, J, F]``; no weights, so made once a scene."""
        keys = pose_BN3[:, None] if index_BNJ is None else _neighbours(pose_BN3, index_BNJ)
        known = torch.ones_like(keys[..., 0], dtype=torch.bool)
        return relative_features(pose_BN3[:, :, None], keys, known)

    def forward(self, x_BND: Tensor, features_BNJF: Tensor, index_BNJ: Tensor | None) -> Tensor:
        """Tokens after one round."""
        normed = self.norm(x_BND)
        query_BNGd = self.query(normed).unflatten(-1, (self.heads, -1))
        own = self.key_value(normed)
        own = own[:, None] if index_BNJ is None else _neighbours(own, index_BNJ)
        both = own + self.edge_key_value(self.edge(features_BNJF))
        key_BNJGd, value_BNJGd = both.unflatten(-1, (2, self.heads, -1)).unbind(-3)
        score_BNGJ = torch.einsum("bngd,bnjgd->bngj", query_BNGd, key_BNJGd)
        weight_BNGJ = (score_BNGJ * query_BNGd.shape[-1] ** -0.5).softmax(-1)
        read = torch.einsum("bngj,bnjgd->bngd", weight_BNGJ, value_BNJGd)
        return x_BND + self.out(read.flatten(-2))


def _neighbours(values_BNX: Tensor, index_BNJ: Tensor) -> Tensor:
    scene = torch.arange(len(values_BNX))[:, None, None]
    return values_BNX[scene, index_BNJ]
