"""The Scene: what every adapter makes and everything else starts from. numpy only."""

from motionpred.scene.kinds import (
    AgentType,
    EdgeKind,
    FieldSource,
    LaneType,
    MapKind,
    Marking,
    Role,
    SignalState,
)
from motionpred.scene.resampling import resample
from motionpred.scene.scene import CLOCK_TOLERANCE, RoadMap, Scene, Signals, TimeSpec, Tracks
from motionpred.scene.windows import windows

__all__ = [
    "CLOCK_TOLERANCE",
    "AgentType",
    "EdgeKind",
    "FieldSource",
    "LaneType",
    "MapKind",
    "Marking",
    "RoadMap",
    "Role",
    "Scene",
    "SignalState",
    "Signals",
    "TimeSpec",
    "Tracks",
    "resample",
    "windows",
]
