"""Synthetic traffic in the shape of Argoverse 2: simulated, deterministic, free of any terms."""

from motionpred.datasets.synthetic.adapter import ADAPTERS, SPLITS, Synthetic, write_spec
from motionpred.datasets.synthetic.generate import (
    TIME,
    VERSION,
    content_hash,
    generate,
    scene_id,
    scenes,
)

__all__ = [
    "ADAPTERS",
    "SPLITS",
    "TIME",
    "VERSION",
    "Synthetic",
    "content_hash",
    "generate",
    "scene_id",
    "scenes",
    "write_spec",
]
