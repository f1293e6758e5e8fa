"""Plain attention among the members of small sets.

Shapes: S sets (any leading dimensions), K members, D width.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class SetAttention(nn.Module):
    """Pre-norm residual self-attention without order, place or mask."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x_SKD: Tensor) -> Tensor:
        """``x`` plus what its members read from each other."""
        split = self.query_key_value(self.norm(x_SKD)).unflatten(-1, (3, self.heads, -1))
        q_SGKd, k_SGKd, v_SGKd = (split.select(-3, i).transpose(-2, -3) for i in range(3))
        read_SGKd = scaled_dot_product_attention(q_SGKd, k_SGKd, v_SGKd)
        return x_SKD + self.out(read_SGKd.transpose(-2, -3).flatten(-2))
