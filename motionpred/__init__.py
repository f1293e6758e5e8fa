"""motionpred: joint multi-agent trajectory forecasting for driving scenes.

The public names load lazily: ``import motionpred`` needs neither torch nor matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Scene": "motionpred.scene",
    "Prediction": "motionpred.prediction",
    "read_scenes": "motionpred.store",
    "load": "motionpred.inference",
    "Predictor": "motionpred.inference",
    "plot": "motionpred.viz",
}

__all__ = ["Prediction", "Predictor", "Scene", "__version__", "load", "plot", "read_scenes"]

if TYPE_CHECKING:
    from motionpred.inference import Predictor, load
    from motionpred.prediction import Prediction
    from motionpred.scene import Scene
    from motionpred.store import read_scenes
    from motionpred.viz import plot


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
