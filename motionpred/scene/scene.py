"""A scene: agents, map and signals over time, in the publisher's own world frame.

Shapes: A agents, T steps, M map polylines, P map points, E map edges, S signalled lanes.
Metres, seconds, radians in (-pi, pi]; world coordinates are float64 until somebody recentres them.
Invalid entries are 0, never NaN: the masks say what counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.errors import ConfigError
from motionpred.scene.kinds import AgentType, EdgeKind, FieldSource, MapKind, Role

Array = npt.NDArray[Any]


# Recorded clocks are a little off their nominal step; what differs by more is another clock. Over
# a horizon of 8 s this is 0.16 s, below the spacing of any dataset's slowest clock.
CLOCK_TOLERANCE = 0.02  # relative


@dataclass(frozen=True)
class TimeSpec:
    """The clock of a dataset or a model: ``history`` counts the step ``now``.

    Raises:
        ConfigError: there is no such clock.
    """

    dt: float
    history: int
    future: int

    def __post_init__(self) -> None:
        for name, least in (("history", 1), ("future", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ConfigError(
                    f"is {value!r}", field=name, remedy=f"Use a whole number from {least} on"
                )
        if not 0 < self.dt < float("inf"):
            raise ConfigError(f"is {self.dt!r}", field="dt", remedy="Give seconds a step")

    @property
    def steps(self) -> int:
        """Steps of a whole scene."""
        return self.history + self.future

    def same_clock(self, dt: float) -> bool:
        """Whether steps of ``dt`` seconds are those of this clock, within ``CLOCK_TOLERANCE``."""
        return abs(dt - self.dt) <= CLOCK_TOLERANCE * self.dt


@dataclass(frozen=True)
class Tracks:
    """Every recorded agent of a scene, over all steps."""

    track_id: Array  # [A] str, the publisher's id
    type: Array  # [A] int8, AgentType
    raw_type: Array  # [A] str, the publisher's word for the type
    roles: Array  # [A] int16, Role bits
    position: Array  # [A, T, 3] float64, metres, world frame; z is 0 where has_z is False
    heading: Array  # [A, T] float32, radians in (-pi, pi], world frame; 0 where not heading_valid
    velocity: Array  # [A, T, 2] float32, metres per second, world frame
    size: Array  # [A, T, 3] float32, length, width, height in metres; 0 where absent
    valid: Array  # [A, T] bool, there is a state
    measured: Array  # [A, T] bool, the state was recorded, not interpolated
    velocity_valid: Array  # [A, T] bool, there is a velocity (a derived one needs two valid steps)
    heading_valid: Array  # [A, T] bool, there is a heading (a derived one needs a movement before)
    has_z: bool = False
    source: Mapping[str, FieldSource] = field(default_factory=dict)  # heading, velocity, size

    def __len__(self) -> int:
        return len(self.track_id)

    def take(self, index: npt.ArrayLike) -> Tracks:
        """The tracks at ``index`` (integers or a mask), in that order."""
        chosen = np.asarray(index)
        return replace(self, **{name: getattr(self, name)[chosen] for name in _TRACK_ARRAYS})

    def steps(self, start: int, stop: int) -> Tracks:
        """The steps ``start`` to ``stop - 1`` of every track."""
        return replace(self, **{name: getattr(self, name)[:, start:stop] for name in _STEP_ARRAYS})


_STEP_MASKS = ("valid", "measured", "velocity_valid", "heading_valid")
_STEP_ARRAYS = ("position", "heading", "velocity", "size", *_STEP_MASKS)
_TRACK_ARRAYS = ("track_id", "type", "raw_type", "roles", *_STEP_ARRAYS)


@dataclass(frozen=True)
class RoadMap:
    """Map polylines, flattened, and the links between them. Empty is legal.

    ``report`` counts what reading it dropped or found odd: ``dangling_links``, ``self_links``,
    ``side_conflicts``, ``degenerate``, ``null_polygons`` and the like.
    """

    points: Array  # [P, 3] float64, metres, world frame; z is 0 where has_z is False
    start: Array  # [M + 1] int64, polyline m is points[start[m]:start[m + 1]]
    kind: Array  # [M] int8, MapKind
    polyline_id: Array  # [M] str, the publisher's id
    lane_type: Array  # [M] int8, LaneType; 0 for everything but lanes
    marking: Array  # [M] int8, Marking; of boundaries and road lines
    intersection: Array  # [M] bool, the lane lies in an intersection
    width: Array  # [M] float32, metres, 0 where unknown
    speed_limit: Array  # [M] float32, metres per second, 0 where unknown
    hole_of: Array  # [M] int64, the area that this ring is a hole of, else -1
    has_z: Array  # [M] bool, the z values of this polyline are real
    edges: Array  # [2, E] int64, source and destination polyline
    edge_kind: Array  # [E] int8, EdgeKind
    edge_opposite: Array  # [E] bool, the two lanes run in opposite directions
    edge_range: Array | None = (
        None  # [E, 4] int64, first and last point index at source, at destination
    )
    report: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.kind)

    def polyline(self, index: int) -> Array:
        """Points ``[n, 3]`` of one polyline."""
        return self.points[self.start[index] : self.start[index + 1]]

    @classmethod
    def empty(cls) -> RoadMap:
        """A map without any polyline."""
        return cls(
            points=np.zeros((0, 3)),
            start=np.zeros(1, np.int64),
            kind=np.zeros(0, np.int8),
            polyline_id=np.zeros(0, np.str_),
            lane_type=np.zeros(0, np.int8),
            marking=np.zeros(0, np.int8),
            intersection=np.zeros(0, bool),
            width=np.zeros(0, np.float32),
            speed_limit=np.zeros(0, np.float32),
            hole_of=np.zeros(0, np.int64),
            has_z=np.zeros(0, bool),
            edges=np.zeros((2, 0), np.int64),
            edge_kind=np.zeros(0, np.int8),
            edge_opposite=np.zeros(0, bool),
        )


@dataclass(frozen=True)
class Signals:
    """Traffic-light states of lanes over time."""

    lane: Array  # [S] int64, index of the lane in the map, -1 where it is not in the map
    state: Array  # [S, T] int8, SignalState
    stop_point: Array  # [S, 3] float64, metres, world frame

    def __len__(self) -> int:
        return len(self.lane)

    @classmethod
    def empty(cls, steps: int) -> Signals:
        """No signal, for a scene of ``steps`` steps."""
        return cls(np.zeros(0, np.int64), np.zeros((0, steps), np.int8), np.zeros((0, 3)))


@dataclass(frozen=True)
class Scene:
    """One scene: what was recorded, where ``now`` is, and who the benchmark asks about."""

    scene_id: str
    dataset: str
    split: str  # "train", "val", "test", or "" where nothing says
    time: Array  # [T] float64, seconds, as recorded (relative to any epoch of the publisher)
    dt: float  # nominal seconds per step
    now: int  # index of the last observed step
    tracks: Tracks
    map: RoadMap
    signals: Signals
    info: Mapping[str, Any] = field(default_factory=dict)  # JSON: city, ids that submissions need

    @property
    def has_future(self) -> bool:
        """Whether any track has a state after ``now``."""
        return bool(self.tracks.valid[:, self.now + 1 :].any())

    def observed(self) -> Scene:
        """The scene up to ``now``: everything that a model may see at inference.

        Tracks without any state up to ``now`` are left out, so that the result is the same
        whether or not the recording went on.
        """
        stop = self.now + 1
        tracks = self.tracks.steps(0, stop)
        return replace(
            self,
            time=self.time[:stop],
            tracks=tracks.take(tracks.valid.any(axis=1)),
            signals=replace(self.signals, state=self.signals.state[:, :stop]),
        )

    def validate(self) -> Scene:
        """Check every contract of this module; return the scene itself.

        Raises:
            SceneError: names the field and the index of the first fault.
        """
        from motionpred.scene.validation import validate

        validate(self)
        return self

    def summary(self) -> dict[str, Any]:
        """Counts that tell at a glance what is in the scene (one row of ``motionpred inspect``)."""
        tracks, now = self.tracks, self.now
        roles = {
            role.name.lower(): int(((tracks.roles & role) != 0).sum())
            for role in (Role.EGO, Role.FOCAL, Role.SCORED)
            if role.name
        }
        return {
            "scene": self.scene_id,
            "split": self.split or "-",
            "steps": len(self.time),
            "now": now,
            "agents": len(tracks),
            "at_now": int(tracks.valid[:, now].sum()),
            "types": _named_counts(tracks.type, AgentType),
            **roles,
            "polylines": len(self.map),
            "kinds": _named_counts(self.map.kind, MapKind),
            "links": _named_counts(self.map.edge_kind, EdgeKind),
            "signals": len(self.signals),
            "map_report": {name: count for name, count in self.map.report.items() if count},
        }


def _named_counts(values: Array, kind: type[IntEnum]) -> dict[str, int]:
    counts = Counter(int(value) for value in values)
    return {kind(value).name.lower(): counts[value] for value in sorted(counts)}
