"""Settings of ``regression``."""

from __future__ import annotations

from dataclasses import dataclass, field

from motionpred.models.encoder import EncoderConfig, SizeName


@dataclass(frozen=True)
class RegressionConfig:
    """Settings of ``regression``; the number of modes is that of the fan, six."""

    size: SizeName = "small"
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    # Joint: a mode is a future of the whole scene. Otherwise each agent has modes of its own, and
    # ``combine`` makes scene modes of them in a forecast.
    joint: bool = True
    combine: bool = False
    turn_rate: float = 0.15  # rad/s, of the two turning anchors
    other_weight: float = 0.25  # of agents that are not SCORED, in the loss and for the winner
    # All modes learn at first, the nearer the more: softmin(error / temperature), then one winner.
    anneal_epochs: int = 8
    temperature: float = 2.0  # metres, in epoch 0
    final_temperature: float = 0.1  # metres, in the last annealed epoch
