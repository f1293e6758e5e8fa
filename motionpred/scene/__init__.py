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
from motionpred.scene.scene import RoadMap, Scene, Signals, TimeSpec, Tracks
from motionpred.scene.windows import windows

__all__ = [
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
    "windows",
]
