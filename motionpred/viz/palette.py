"""The few colours of a GIF file, one choice for all frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

Array = npt.NDArray[Any]

COLORS = 255  # one of the 256 is left for "as in the frame before"
EXACT = 96  # of them for the most frequent colours, which must not drift
_UNKNOWN = 255
_PACK = np.array([1 << 16, 1 << 8, 1], np.uint32)


class Palette:
    """The most frequent colours of sample frames as they are, and a choice among the others.

    The others are blends at the edges of lines. Every pixel gets the nearest colour, without
    dithering: surfaces stay even, and what stands still stays equal from frame to frame.
    """

    def __init__(self, samples: Sequence[Array]) -> None:
        """``samples`` are frames ``[height, width, 3]`` uint8."""
        pixels = np.concatenate([frame.reshape(-1, 3) for frame in samples]).astype(np.uint32)
        codes, counts = np.unique(pixels @ _PACK, return_counts=True)
        colors = _unpack(codes[np.argsort(-counts, kind="stable")])
        if len(colors) > COLORS:
            colors = _spread(colors, EXACT, COLORS)
        self.colors = colors
        self._index = np.full(1 << 24, _UNKNOWN, np.uint8)  # of the nearest colour, once asked for

    def image(self, frame: Array) -> Any:
        """The frame as a Pillow image with this palette."""
        codes = frame.astype(np.uint32) @ _PACK
        index = self._index[codes]
        unknown = np.unique(codes[index == _UNKNOWN])
        if len(unknown):
            self._index[unknown] = self._nearest(_unpack(unknown))
            index = self._index[codes]
        image = Image.fromarray(index, "L")
        image.putpalette(self.colors.tobytes())
        return image

    def _nearest(self, colors: Array) -> Array:
        found = np.empty(len(colors), np.uint8)
        own = self.colors.astype(np.float32)
        for begin in range(0, len(colors), 4096):
            some = colors[begin : begin + 4096].astype(np.float32)
            distance = ((some[:, None] - own[None]) ** 2).sum(-1)
            found[begin : begin + 4096] = distance.argmin(1)
        return found


def _unpack(codes: Array) -> Array:
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], -1).astype(np.uint8)


def _spread(colors: Array, first: int, count: int) -> Array:
    """The ``first`` colours of ``[n, 3]``, then always the one that is farthest from those chosen.

    Gonzalez (1985): the worst error is at most twice the best that so many colours allow.
    """
    values = colors.astype(np.float32)
    chosen = list(range(first))
    distance = np.full(len(colors), np.inf, np.float32)
    for k in chosen:
        distance = np.minimum(distance, ((values - values[k]) ** 2).sum(1))
    while len(chosen) < count:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, ((values - values[chosen[-1]]) ** 2).sum(1))
    return np.asarray(colors[chosen])
