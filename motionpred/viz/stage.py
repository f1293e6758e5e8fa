"""Frames of a figure of which little moves: the rest is drawn once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

Array = npt.NDArray[Any]


class Stage:
    """Draws a figure again and again; only the moving artists are drawn anew."""

    def __init__(self, figure: Figure, moving: Sequence[Artist], *, dpi: int) -> None:
        figure.set_dpi(dpi)
        canvas: Any = FigureCanvasAgg(figure)  # Matplotlib has no types for its methods
        self._canvas = canvas
        # Those of one panel stay together, lowest first.
        self._moving = sorted(moving, key=lambda artist: artist.get_zorder())
        for artist in self._moving:
            artist.set_animated(True)
        self._canvas.draw()
        self._still = self._canvas.copy_from_bbox(figure.bbox)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        width, height = self._canvas.get_width_height()
        return int(width), int(height)

    def frame(self) -> Array:
        """The figure as it is now: ``[height, width, 3]`` uint8."""
        self._canvas.restore_region(self._still)
        renderer = self._canvas.get_renderer()
        for artist in self._moving:
            artist.draw(renderer)
        pixels: Array = np.asarray(self._canvas.buffer_rgba())[..., :3].copy()
        return pixels
