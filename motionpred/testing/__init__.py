"""Conformance suites for adapters and models, and scenes made by hand; plug-ins use them."""

from motionpred.testing.adapters import check_adapter, differences
from motionpred.testing.scenes import crossing_scene, make_map, make_scene, make_tracks

__all__ = [
    "check_adapter",
    "crossing_scene",
    "differences",
    "make_map",
    "make_scene",
    "make_tracks",
]
