from __future__ import annotations

import torch
from torch import Tensor

from motionpred.models.layers.relative_pose import (
    PairEmbedding,
    RelativePoseAttention,
    pair_features,
)


def poses(*shape: int) -> Tensor:
    return torch.randn(*shape, 3, dtype=torch.float64) * torch.tensor([30.0, 30.0, 2.0])


def dense(layer: RelativePoseAttention, x: Tensor, y: Tensor, pair: Tensor, mask: Tensor) -> Tensor:
    """``k_j + W e_ij`` and ``v_j + W e_ij`` for every pair of tokens, one after another."""
    width = x.shape[-1] // layer.heads
    query, keys = layer.query_norm(x), layer.key_norm(y)
    k, v = layer.key_value(keys).chunk(2, dim=-1)
    result = x.clone()
    for b, m, i in torch.cartesian_prod(*map(torch.arange, x.shape[:3])).tolist():
        read = []
        for head in range(layer.heads):
            own = slice(head * width, (head + 1) * width)
            q = layer.query(query[b, m, i])[own]
            into_key = layer.pair_query(query[b, m, i]).view(layer.heads, -1)[head]
            scores = [
                (q @ k[b, m, j, own] + into_key @ pair[b, i, j]) / width**0.5
                for j in range(y.shape[2])
                if mask[b, j]
            ]
            values = [
                v[b, m, j, own] + pair[b, i, j] @ layer.pair_value[head]
                for j in range(y.shape[2])
                if mask[b, j]
            ]
            weights = torch.stack(scores).softmax(-1)
            read.append((weights[:, None] * torch.stack(values)).sum(0))
        result[b, m, i] = x[b, m, i] + layer.out(torch.cat(read))
    return result


def test_factorised_attention_equals_the_pair_by_pair_form():
    torch.manual_seed(0)
    layer = RelativePoseAttention(width=8, heads=2, pair_width=4).double()
    x, y = torch.randn(2, 3, 4, 8).double(), torch.randn(2, 3, 5, 8).double()
    pair, mask = torch.randn(2, 4, 5, 4).double(), torch.rand(2, 5) < 0.7
    mask[:, 0] = True
    torch.testing.assert_close(layer(x, y, pair, mask), dense(layer, x, y, pair, mask))


def test_keys_shared_by_all_modes_equal_repeated_keys():
    torch.manual_seed(0)
    layer = RelativePoseAttention(width=8, heads=2, pair_width=4).double()
    x, y = torch.randn(2, 3, 4, 8).double(), torch.randn(2, 1, 5, 8).double()
    pair, mask = torch.randn(2, 4, 5, 4).double(), torch.ones(2, 5, dtype=torch.bool)
    repeated = layer(x, y.expand(-1, 3, -1, -1), pair, mask)
    torch.testing.assert_close(layer(x, y, pair, mask), repeated)


def test_a_query_without_any_key_stays_finite_with_its_gradient():
    layer = RelativePoseAttention(width=8, heads=2, pair_width=4)
    x = torch.randn(1, 1, 3, 8, requires_grad=True)
    out = layer(x, torch.randn(1, 1, 5, 8), torch.randn(1, 3, 5, 4), torch.zeros(1, 5).bool())
    out.sum().backward()
    assert torch.isfinite(out).all()
    assert x.grad is not None and torch.isfinite(x.grad).all()


def test_features_do_not_depend_on_the_frame():
    torch.manual_seed(0)
    query, key, directed = poses(1, 4), poses(1, 6), torch.tensor([[True] * 5 + [False]])
    turn, cos, sin = 1.1, torch.tensor(1.1).cos(), torch.tensor(1.1).sin()

    def move(pose: Tensor) -> Tensor:
        x, y = pose[..., 0], pose[..., 1]
        return torch.stack([cos * x - sin * y + 50, sin * x + cos * y - 9, pose[..., 2] + turn], -1)

    before, after = (
        pair_features(query, key, directed),
        pair_features(move(query), move(key), directed),
    )
    torch.testing.assert_close(before, after, atol=1e-6, rtol=0)


def test_the_heading_of_a_point_is_not_looked_at():
    query, key = poses(1, 2), poses(1, 1)
    turned = key + torch.tensor([0.0, 0.0, 1.0])
    point, line = torch.tensor([[False]]), torch.tensor([[True]])
    assert torch.equal(pair_features(query, key, point), pair_features(query, turned, point))
    assert not torch.equal(pair_features(query, key, line), pair_features(query, turned, line))


def test_a_full_turn_changes_nothing():
    query, key, directed = poses(1, 3), poses(1, 4), torch.ones(1, 4, dtype=torch.bool)
    turned = key + torch.tensor([0.0, 0.0, 2 * torch.pi])
    features = pair_features(query, key, directed)
    torch.testing.assert_close(features, pair_features(query, turned, directed), atol=1e-5, rtol=0)


def test_autocast_leaves_the_geometry_in_float32():
    query, key, directed = poses(1, 3).float(), poses(1, 4).float(), torch.ones(1, 4).bool()
    embedding = PairEmbedding(8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under = embedding(query, key, directed)
    assert under.dtype == torch.float32
    assert torch.equal(under, embedding(query, key, directed))
