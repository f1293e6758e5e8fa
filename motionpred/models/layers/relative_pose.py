"""Attention that knows where a key is as seen from the query, and nothing else about place.

Every pair has an embedding of its relative pose (distance, bearing, difference of heading in the
query's own frame), so a rigid motion of the scene changes nothing. As in QCNet (Zhou et al.,
CVPR 2023) it is added to keys and values; because it is narrow and linear maps commute with sums,
``q · (k + W e)`` and ``Σ a (v + W e)`` are formed as ``q · k + (q W) · e`` and
``Σ a v + W Σ a e``: no tensor of pairs times width is made.

Shapes: B scenes, K modes, A queries, N keys, D width, G heads, d = D / G, E pair width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from motionpred.models.layers.feed_forward import mlp
from motionpred.models.layers.frames import full_precision, rotate

_MASKED = -1e9  # finite: a row without any key gives an average, not NaN
_REACH = (5.0, 20.0, 80.0)  # metres over which the closeness features fall to 1/e
FEATURES = 6 + len(_REACH)


def relative_features(
    query: Tensor, key: Tensor, directed: Tensor, oriented: Tensor | None = None
) -> Tensor:
    """Poses of keys as seen from queries, ``[..., F]``, scaled to about 1.

    ``query`` and ``key`` ``[..., 3]`` (x, y, heading) are broadcast. The heading of a key that is
    not ``directed`` ``[...]`` is not looked at; a query that is not ``oriented`` sees distances
    only. Both are ``[...]`` bool.
    """
    offset_2 = rotate(key[..., :2] - query[..., :2], -query[..., 2])
    # The root of a sum with 1 keeps the gradient finite where two poses coincide.
    distance_1 = torch.sqrt(offset_2.square().sum(-1, keepdim=True) + 1.0) - 1.0
    shrunk_2 = offset_2 * torch.log1p(distance_1) / (distance_1 + 1.0)
    turn = key[..., 2] - query[..., 2]
    known = directed.expand_as(turn)
    if oriented is not None:
        known = known & oriented
        shrunk_2 = torch.where(oriented[..., None], shrunk_2, 0.0)
    known = known.to(turn.dtype)
    direction_3 = torch.stack([torch.cos(turn) * known, torch.sin(turn) * known, known], -1)
    closeness = [torch.exp(-distance_1 / reach) for reach in _REACH]
    return torch.cat([shrunk_2 / 2, torch.log1p(distance_1) / 2, direction_3, *closeness], dim=-1)


def pair_features(query_BA3: Tensor, key_BN3: Tensor, directed_BN: Tensor) -> Tensor:
    """:func:`relative_features` of all pairs, ``[B, A, N, F]``."""
    return relative_features(query_BA3[:, :, None], key_BN3[:, None], directed_BN[:, None])


class PairEmbedding(nn.Module):
    """Relative poses of all pairs as ``[B, A, N, E]``, in float32 also under autocast."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = mlp(FEATURES, width, width)

    def forward(self, query_BA3: Tensor, key_BN3: Tensor, directed_BN: Tensor) -> Tensor:
        """Embeddings of the poses of keys as seen from the queries."""
        with torch.autocast(query_BA3.device.type, enabled=False):
            query_BA3, key_BN3 = full_precision(query_BA3), full_precision(key_BN3)
            return self.layers(pair_features(query_BA3, key_BN3, directed_BN))


class RelativePoseAttention(nn.Module):
    """Pre-norm residual attention over keys with pair embeddings; K query sets share the pairs."""

    def __init__(self, width: int, heads: int, pair_width: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_norm, self.key_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.pair_query = nn.Linear(width, heads * pair_width)
        self.key_value = nn.Linear(width, 2 * width)
        self.pair_value = nn.Parameter(
            torch.randn(heads, pair_width, width // heads) / pair_width**0.5
        )
        self.out = nn.Linear(width, width)

    def forward(self, x_BKAD: Tensor, y_BJND: Tensor, pair_BANE: Tensor, mask_BN: Tensor) -> Tensor:
        """``x`` plus what its queries read from ``y``; J is K, or 1: all modes share the keys."""
        query_BKAD = self.query_norm(x_BKAD)
        q_BKGAd = self._split(self.query(query_BKAD))
        k_BJGNd, v_BJGNd = map(self._split, self.key_value(self.key_norm(y_BJND)).chunk(2, dim=-1))
        e_BKAGE = torch.unflatten(self.pair_query(query_BKAD), -1, (self.heads, -1))
        with torch.autocast(x_BKAD.device.type, enabled=False):
            read_BKGAd = self._attend(
                full_precision(q_BKGAd),
                full_precision(k_BJGNd),
                full_precision(v_BJGNd),
                full_precision(e_BKAGE),
                pair_BANE,
                mask_BN,
            )
        return x_BKAD + self.out(read_BKGAd.transpose(2, 3).flatten(-2))

    def _split(self, x_BKND: Tensor) -> Tensor:
        return torch.unflatten(x_BKND, -1, (self.heads, -1)).transpose(2, 3)

    def _attend(
        self,
        q_BKGAd: Tensor,
        k_BJGNd: Tensor,
        v_BJGNd: Tensor,
        e_BKAGE: Tensor,
        pair_BANE: Tensor,
        mask_BN: Tensor,
    ) -> Tensor:
        modes, heads = q_BKGAd.shape[1:3]
        # All modes and heads of a query look at the same pairs: one product for each query.
        e_BAXE = e_BKAGE.transpose(1, 2).flatten(2, 3)  # X = K * G
        pairs_BAXN = e_BAXE @ pair_BANE.transpose(-1, -2)
        pairs_BKGAN = torch.unflatten(pairs_BAXN, 2, (modes, heads)).permute(0, 2, 3, 1, 4)
        score_BKGAN = (q_BKGAd @ k_BJGNd.transpose(-1, -2) + pairs_BKGAN) * q_BKGAd.shape[
            -1
        ] ** -0.5
        weight_BKGAN = score_BKGAN.masked_fill(~mask_BN[:, None, None, None], _MASKED).softmax(-1)
        weight_BAXN = weight_BKGAN.permute(0, 3, 1, 2, 4).flatten(2, 3)
        seen_BAXE = weight_BAXN @ pair_BANE
        seen_BKGAE = torch.unflatten(seen_BAXE, 2, (modes, heads)).permute(0, 2, 3, 1, 4)
        return weight_BKGAN @ v_BJGNd + seen_BKGAE @ full_precision(self.pair_value)
