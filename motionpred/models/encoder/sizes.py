"""One table of sizes for all learned families."""

from __future__ import annotations

from typing import Literal, NamedTuple

SizeName = Literal["nano", "small", "base"]


class Size(NamedTuple):
    """Dimensions of an encoder and of the decoder on top of it."""

    width: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    points: int  # that a head of point-rotary attention compares
    pair_width: int  # of the embedding of a relative pose, in explicit-edge layers


SIZES: dict[SizeName, Size] = {
    "nano": Size(width=32, heads=2, encoder_layers=2, decoder_layers=1, points=2, pair_width=16),
    "small": Size(width=64, heads=4, encoder_layers=3, decoder_layers=2, points=4, pair_width=16),
    "base": Size(width=128, heads=8, encoder_layers=4, decoder_layers=2, points=4, pair_width=32),
}
