"""The position-wise half of a transformer block."""

from __future__ import annotations

from torch import Tensor, nn


class FeedForward(nn.Module):
    """Pre-norm residual block: ``x + W2 gelu(W1 norm(x))``, four times as wide inside."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        """The same shape; the last dimension is the width."""
        return x + self.layers(x)


def mlp(inputs: int, width: int, outputs: int) -> nn.Sequential:
    """Two linear layers with a GELU between them."""
    return nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, outputs))
