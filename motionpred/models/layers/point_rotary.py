"""Point-rotary attention: attention by place that is exactly blind to the frame of the scene.

A head compares features, features that turn with the heading (rotary position embedding with whole
harmonics), and points: a query puts P points ``X = R(θ) u + p`` where it wants to look, a key puts
P points ``Y``, and the score falls with ``λ |X - Y|²`` (invariant point attention of AlphaFold 2,
Jumper et al., 2021, in the plane). All of it is one product of longer queries and keys,

    Q = [q | 2 λ X | 2 λ | 1],  K = [k | Y | -|Y|²/2 | mask],  V = [v | S | 0]

(the rest of ``-λ |X - Y|²`` is the same for all keys of a query and leaves the softmax alone), so a
fused kernel does it with memory linear in tokens. What is read is turned back into the frame of the
query: features by rotation, mean points as positions seen from it, with lengths compressed.

Shapes: ``...`` leading, N queries, M keys, D width, G heads, d channels, P points, R pairs, W
padded channels of a head.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad, scaled_dot_product_attention

from motionpred.models.layers.cells import read_by_cells
from motionpred.models.layers.frames import full_precision
from motionpred.models.layers.places import LENGTH, HeadShape, Places

_FOCUS = (8.0, 200.0)  # metres: widths of the focus at the start, from the first head to the last
# Narrower, rounding of far positions would show: errors of the score are 6e-8 R² / (2 σ²).
_SHARPEST = 4.0  # metres
_POINT_STD = 0.02


class PointRotaryAttention(nn.Module):
    """Pre-norm residual attention, float32 also under autocast.

    Of itself, or with ``keys`` of other tokens, which are taken as they are: normed already.
    """

    def __init__(self, width: int, heads: int, points: int, *, cell: float | None = None) -> None:
        """``cell``: metres; queries are then grouped by place, see ``cells.py``."""
        super().__init__()
        self.cell = cell
        self.shape = shape = HeadShape(heads, width // heads, points)
        group = shape.width // 2 + 2 * shape.pairs
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, heads * (group + points))
        self.key_value = nn.Linear(width, 2 * heads * group)
        self.out = nn.Linear(heads * (shape.width + 3 * points), width)
        first, last = map(math.log10, _FOCUS)
        sigma = torch.logspace(first, last, heads, dtype=torch.float64)
        log_width = ((LENGTH / sigma) ** 2 / (2 * points)).log().float()
        # A vector, not a matrix: weight decay would pull it towards a width that means nothing.
        self.log_width = nn.Parameter(log_width.repeat_interleave(points))
        self._start(group)

    def _start(self, group: int) -> None:
        """Points and widths start small: every query looks around itself."""
        shape = self.shape
        with torch.no_grad():
            for layer, heads in ((self.query, shape.heads), (self.key_value, 2 * shape.heads)):
                layer.bias.zero_()
                weight = layer.weight[: heads * group]
                for block in torch.unflatten(
                    weight[heads * shape.width // 2 :], 0, (2 * heads, -1)
                ):
                    block[shape.feature_pairs :].normal_(std=_POINT_STD)
            self.query.weight[shape.heads * group :].normal_(std=_POINT_STD)

    def forward(
        self, x: Tensor, places: Places, keys: Tensor | None = None, at: Places | None = None
    ) -> Tensor:
        """``x`` plus what it reads from itself, or from ``keys``.

        ``x`` ``[..., N, D]`` at ``places``. ``keys`` ``[B, M, D]`` are at ``at``; all modes of an
        ``x`` ``[B, K, N, D]`` look at the same ones.
        """
        with torch.autocast(x.device.type, enabled=False):
            x = full_precision(x)
            normed = self.norm(x)
            if keys is None:
                keys, at = normed, places
            assert at is not None
            if self.cell is None:
                read = self.read(normed, places, full_precision(keys), at)
            else:
                read = read_by_cells(self, normed, places, full_precision(keys), at)
            return x + self.out(read)

    def read(self, x: Tensor, places: Places, keys: Tensor, at: Places) -> Tensor:
        """What normed queries see of normed keys, ``[..., N, G (d + 3 P)]``."""
        q = self._queries(x, places)
        k, v = self._keys_values(keys, at)
        leading = q.shape[:-2]
        if q.ndim > k.ndim:  # all modes of a scene look at the same keys
            q = q.flatten(1, 2)
        q, k, v = (t.flatten(0, -4).transpose(-2, -3) for t in (q, k, v))
        read = scaled_dot_product_attention(q, k, v, scale=1.0).transpose(-2, -3)
        return self._seen_from(read.reshape(*leading, *read.shape[-2:]), places)

    def _turned(self, values: Tensor, places: Places, groups: int) -> tuple[Tensor, Tensor, Tensor]:
        """Plain channels, and the two components of the pairs, in the axes of the scene."""
        shape = self.shape
        own = groups * shape.pairs
        plain, x, y = torch.split(values, [groups * shape.width // 2, own, own], dim=-1)
        cos, sin = places.cos[..., :own], places.sin[..., :own]
        turned_x = torch.addcmul(torch.addcmul(places.x[..., :own], x, cos), y, sin, value=-1)
        turned_y = torch.addcmul(torch.addcmul(places.y[..., :own], x, sin), y, cos)
        plain, turned_x, turned_y = (
            torch.unflatten(t, -1, (groups, -1)) for t in (plain, turned_x, turned_y)
        )
        return plain, turned_x, turned_y

    def _queries(self, x: Tensor, places: Places) -> Tensor:
        """``[..., N, G, W]``."""
        shape = self.shape
        projected = linear(x, *self._scaled_query())
        points = shape.heads * shape.points
        values, change = torch.split(projected, [projected.shape[-1] - points, points], dim=-1)
        limit = math.log((LENGTH / _SHARPEST) ** 2)
        double = (self.log_width + math.log(2) + change).clamp(max=limit).exp()  # 2 λ
        double = torch.unflatten(double, -1, (shape.heads, -1))
        plain, x, y = self._turned(values, places, shape.heads)
        feature_x, point_x = torch.split(x, [shape.feature_pairs, shape.points], dim=-1)
        feature_y, point_y = torch.split(y, [shape.feature_pairs, shape.points], dim=-1)
        spare = places.rest.shape[-1] - 1
        rest = pad(x.new_ones(1), (0, spare)).expand(*plain.shape[:-1], 1 + spare)
        turned = (feature_x, point_x * double, feature_y, point_y * double)
        return torch.cat([plain, *turned, double, rest], dim=-1)

    def _scaled_query(self) -> tuple[Tensor, Tensor]:
        """Weight and bias with the ``d^-1/2`` of the features in it: cheaper than on the tokens."""
        shape = self.shape
        pair = [shape.width**-0.5] * shape.feature_pairs + [1.0] * shape.points
        plain = [shape.width**-0.5] * (shape.heads * shape.width // 2)
        scale = plain + 2 * shape.heads * pair + [1.0] * (shape.heads * shape.points)
        factor = self.query.weight.new_tensor(scale)
        return self.query.weight * factor[:, None], self.query.bias * factor

    def _keys_values(self, y: Tensor, places: Places) -> tuple[Tensor, Tensor]:
        """``[..., M, G, W]`` each."""
        shape = self.shape
        plain, x, y = self._turned(self.key_value(y), places, 2 * shape.heads)
        (key, value), (key_x, value_x), (key_y, value_y) = (t.chunk(2, -2) for t in (plain, x, y))
        point_x = torch.split(key_x, [shape.feature_pairs, shape.points], dim=-1)[1]
        point_y = torch.split(key_y, [shape.feature_pairs, shape.points], dim=-1)[1]
        square = torch.addcmul(point_x.square(), point_y, point_y) * -0.5
        rest = places.rest[..., None, :].expand(*key.shape[:-1], -1)
        keys = torch.cat([key, key_x, key_y, square, rest], dim=-1)
        nothing = x.new_zeros(()).expand(*key.shape[:-1], shape.points + rest.shape[-1])
        return keys, torch.cat([value, value_x, value_y, nothing], dim=-1)

    def _seen_from(self, read: Tensor, places: Places) -> Tensor:
        """What was read, in the frames of the queries: ``[..., N, G (d + 3 P)]``."""
        shape = self.shape
        pairs = shape.pairs
        spare = read.shape[-1] - shape.width // 2 - 2 * pairs
        plain, x, y, _ = torch.split(read, [shape.width // 2, pairs, pairs, spare], dim=-1)
        cos, sin, at_x, at_y = (
            table[..., None, :pairs] for table in (places.cos, places.sin, places.x, places.y)
        )
        x, y = x - at_x, y - at_y
        own_x = torch.addcmul(x * cos, y, sin)
        own_y = torch.addcmul(y * cos, x, sin, value=-1)
        feature = [shape.feature_pairs, shape.points]
        (feature_x, point_x), (feature_y, point_y) = (
            torch.split(own_x, feature, -1),
            torch.split(own_y, feature, -1),
        )
        far_x, far_y = torch.split(x, feature, -1)[1], torch.split(y, feature, -1)[1]
        distance = torch.sqrt(far_x.square() + far_y.square() + 1e-6)
        compressed = torch.log1p(distance)
        ratio = compressed / distance
        parts = (plain, feature_x, point_x * ratio, feature_y, point_y * ratio, compressed)
        return torch.cat(parts, dim=-1).flatten(-2)
