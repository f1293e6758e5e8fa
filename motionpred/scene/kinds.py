"""The closed vocabularies of a scene: what an agent, a role, a map element or a signal can be."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class AgentType(IntEnum):
    """What an agent is. STATIC also holds background and construction: context, never a target."""

    UNKNOWN = 0
    VEHICLE = 1
    BUS = 2
    MOTORCYCLIST = 3
    CYCLIST = 4
    PEDESTRIAN = 5
    RIDERLESS_BICYCLE = 6
    STATIC = 7
    OTHER = 8


class Role(IntFlag):
    """What a benchmark wants of a track (a bit set). FOCAL implies SCORED."""

    NONE = 0
    EGO = 1
    FOCAL = 2
    SCORED = 4
    UNSCORED = 8
    FRAGMENT = 16
    INTEREST = 32


class FieldSource(IntEnum):
    """Where the values of a field come from. DERIVED uses past and present steps only."""

    ABSENT = 0
    DERIVED = 1
    RECORDED = 2


class MapKind(IntEnum):
    """What a map polyline is; areas are rings (see ``closed``)."""

    LANE = 0
    LANE_BOUNDARY = 1
    ROAD_EDGE = 2
    ROAD_LINE = 3
    CROSSWALK = 4
    DRIVABLE_AREA = 5
    STOP_LINE = 6
    STOP_SIGN = 7
    SPEED_BUMP = 8
    DRIVEWAY = 9
    WALKWAY = 10

    @property
    def closed(self) -> bool:
        """Whether the points are a ring (first corner not repeated at the end)."""
        return self in _RINGS


_RINGS = frozenset(
    {
        MapKind.CROSSWALK,
        MapKind.DRIVABLE_AREA,
        MapKind.SPEED_BUMP,
        MapKind.DRIVEWAY,
        MapKind.WALKWAY,
    }
)


class LaneType(IntEnum):
    """Who a lane is for."""

    UNKNOWN = 0
    VEHICLE = 1
    BIKE = 2
    BUS = 3
    FREEWAY = 4
    SURFACE_STREET = 5


class Marking(IntEnum):
    """Paint of a lane boundary or road line."""

    UNKNOWN = 0
    NONE = 1
    DASHED_WHITE = 2
    SOLID_WHITE = 3
    DOUBLE_SOLID_WHITE = 4
    DOUBLE_DASH_WHITE = 5
    DASH_SOLID_WHITE = 6
    SOLID_DASH_WHITE = 7
    DASHED_YELLOW = 8
    SOLID_YELLOW = 9
    DOUBLE_SOLID_YELLOW = 10
    DOUBLE_DASH_YELLOW = 11
    DASH_SOLID_YELLOW = 12
    SOLID_DASH_YELLOW = 13
    SOLID_BLUE = 14


class EdgeKind(IntEnum):
    """How two map polylines are linked, from source to destination.

    LEFT: the destination is the left neighbour of the source. BOUNDARY_OF: from the boundary to
    its lane. CONTROLS: from a stop sign or stop line to the lane that it controls.
    """

    SUCCESSOR = 0
    LEFT = 1
    RIGHT = 2
    BOUNDARY_OF = 3
    CONTROLS = 4


class SignalState(IntEnum):
    """State of the traffic light of a lane."""

    UNKNOWN = 0
    STOP = 1
    CAUTION = 2
    GO = 3
    ARROW_STOP = 4
    ARROW_CAUTION = 5
    ARROW_GO = 6
    FLASHING_STOP = 7
    FLASHING_CAUTION = 8
