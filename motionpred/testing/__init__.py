"""Conformance suites for adapters and models, and scenes made by hand: public, plug-ins use them."""

from motionpred.testing.scenes import crossing_scene, make_map, make_scene, make_tracks

__all__ = ["crossing_scene", "make_map", "make_scene", "make_tracks"]
