"""Conformance suites for adapters and models, and scenes made by hand; plug-ins use them."""

from typing import TYPE_CHECKING, Any

from motionpred.testing.adapters import check_adapter, differences
from motionpred.testing.scene_changes import (
    moved,
    permuted,
    with_other_future,
    without_future,
    without_map,
)
from motionpred.testing.scenes import crossing_scene, make_map, make_scene, make_tracks
from motionpred.testing.traffic import lone_car, traffic_scene

if TYPE_CHECKING:
    from motionpred.testing.models import check_model

__all__ = [
    "check_adapter",
    "check_model",
    "crossing_scene",
    "differences",
    "lone_car",
    "make_map",
    "make_scene",
    "make_tracks",
    "moved",
    "permuted",
    "traffic_scene",
    "with_other_future",
    "without_future",
    "without_map",
]


def __getattr__(name: str) -> Any:
    if name == "check_model":  # the only one that needs torch
        from motionpred.testing.models import check_model

        return check_model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
