"""Pictures and animations of scenes and forecasts.

Matplotlib is loaded at the first use of a name, never by importing this package, and pyplot is not
used at all: figures are plain objects that go when nobody holds them, and no backend is chosen.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "DARK": "motionpred.viz.style",
    "LIGHT": "motionpred.viz.style",
    "Picture": "motionpred.viz.panels",
    "Theme": "motionpred.viz.style",
    "animate": "motionpred.viz.animation",
    "plot": "motionpred.viz.picture",
    "plot_grid": "motionpred.viz.picture",
    "save_png": "motionpred.viz.picture",
}

__all__ = ["DARK", "LIGHT", "Picture", "Theme", "animate", "plot", "plot_grid", "save_png"]

if TYPE_CHECKING:
    from motionpred.viz.animation import animate
    from motionpred.viz.panels import Picture
    from motionpred.viz.picture import plot, plot_grid, save_png
    from motionpred.viz.style import DARK, LIGHT, Theme


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
