"""A layout as a RoadMap: lanes in pieces with boundaries and links, crosswalks, areas, stop lines.

The order is that of the Argoverse 2 reader: lanes, their boundaries, crosswalks, areas; then stop
lines and stop signs, which that layout has no place for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.arms import CROSSING_DEPTH, CROSSING_HALF, Arm
from motionpred.datasets.synthetic.layouts import Layout
from motionpred.geometry.polylines import drop_repeats
from motionpred.scene import EdgeKind, LaneType, MapKind, Marking, RoadMap

Array = npt.NDArray[Any]

_PIECE = 16  # steps of a reference line (2 m each) in a piece of lane
_FIRST_ID = 1000


@dataclass
class _Lane:
    line: Array
    left: Array
    right: Array
    marks: tuple[Marking, Marking]
    limit: float
    width: float
    inside: bool  # in the junction
    following: list[int] = field(default_factory=list)
    beside: list[tuple[EdgeKind, int, bool]] = field(default_factory=list)


@dataclass(frozen=True)
class PlacedMap:
    """A map, and where in it the connectors and their stop points are."""

    road: RoadMap
    connector: Array  # [C] lane polyline of each connector
    stop_point: Array  # [C, 2] first point of each connector


def build_map(layout: Layout, place: Any) -> PlacedMap:
    """The map of a layout; ``place`` moves points ``[n, 2]`` into the world frame."""
    lanes: list[_Lane] = []
    ends: dict[int, tuple[int, int]] = {}  # first and last piece of each segment
    last_piece: dict[tuple[int, int], int] = {}  # of each inbound lane
    for number, arm in enumerate(layout.arms):
        _add_arm(layout, number, arm, lanes, ends, last_piece)
    network = layout.network
    inner = sorted(set(range(len(network))) - set(ends))
    width = layout.arms[0].width
    for segment in inner:
        line = _thinned(network.line(segment))
        normal = _normals(line)
        ends[segment] = len(lanes), len(lanes)
        lanes.append(
            _Lane(
                line,
                line + width / 2 * normal,
                line - width / 2 * normal,
                (Marking.NONE, Marking.NONE),
                float(network.limit[segment]),
                width,
                inside=True,
            )
        )
    for segment, (_, last) in ends.items():
        for after in network.successor[segment, : network.choices[segment]].tolist():
            lanes[last].following.append(ends[after][0])
    pieces = _Pieces(place)
    _write_lanes(pieces, lanes)
    for arm in layout.arms:
        if arm.crosswalk:
            pieces.add(MapKind.CROSSWALK, _crosswalk(arm))
    for arm in layout.arms:
        kerbs = [arm.offset_line(arm.kerb_right), arm.offset_line(arm.kerb_left)[::-1]]
        pieces.add(MapKind.DRIVABLE_AREA, np.concatenate([_thinned(kerb, 3) for kerb in kerbs]))
    pieces.add(MapKind.DRIVABLE_AREA, _junction_area(layout))
    if layout.ring:
        angle = np.linspace(0.0, 2 * np.pi, 25)[:-1]
        ring = (layout.ring + 0.5) * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        pieces.add(MapKind.DRIVABLE_AREA, ring)
    _add_stop_lines(pieces, layout, last_piece)
    connector = np.array([ends[path.segment][0] for path in layout.connectors], np.int64)
    stop_point = np.array([lanes[index].line[0] for index in connector])
    return PlacedMap(pieces.finish(), connector, place(stop_point))


def _add_arm(
    layout: Layout,
    number: int,
    arm: Arm,
    lanes: list[_Lane],
    ends: dict[int, tuple[int, int]],
    last_piece: dict[tuple[int, int], int],
) -> None:
    cuts = [*range(0, len(arm.points) - _PIECE // 2, _PIECE), len(arm.points) - 1]
    first: dict[tuple[bool, int], int] = {}
    for lane in (lane for lane in layout.lanes if lane.arm == number):
        inbound = lane.inbound
        first[inbound, lane.lane] = len(lanes)
        middle = arm.lane_offset(inbound, lane.lane)
        inner, outer = (abs(middle) - arm.width / 2, abs(middle) + arm.width / 2)
        sign = 1.0 if inbound else -1.0
        sides = [arm.offset_line(sign * inner), arm.offset_line(sign * outer)]
        line = arm.offset_line(middle)
        outmost = lane.lane == (arm.inbound if inbound else arm.outbound) - 1
        centre = Marking.SOLID_YELLOW if arm.median else Marking.DOUBLE_SOLID_YELLOW
        marks = (
            centre if lane.lane == 0 else Marking.DASHED_WHITE,
            Marking.SOLID_WHITE if outmost else Marking.DASHED_WHITE,
        )
        count = len(cuts) - 1
        for piece, (start, stop) in enumerate(pairwise(cuts)):
            index = np.r_[start:stop:2, stop]
            if inbound:
                index = index[::-1]
            lanes.append(
                _Lane(
                    line[index],
                    sides[0][index],
                    sides[1][index],
                    marks,
                    arm.limit,
                    arm.width,
                    False,
                )
            )
            if inbound and piece:
                lanes[-1].following.append(len(lanes) - 2)
            if not inbound and piece < count - 1:
                lanes[-1].following.append(len(lanes))
        near, far = first[inbound, lane.lane], len(lanes) - 1
        ends[lane.segment] = (far, near) if inbound else (near, far)
        if inbound:
            last_piece[number, lane.lane] = near
    for (inbound, lane_number), start in first.items():
        beside = first.get((inbound, lane_number + 1))
        if beside is not None:
            _put_beside(lanes, start, beside, len(cuts) - 1, opposite=False)
    if arm.median < 1.0 and (True, 0) in first and (False, 0) in first:
        _put_beside(lanes, first[True, 0], first[False, 0], len(cuts) - 1, opposite=True)


def _put_beside(lanes: list[_Lane], one: int, other: int, count: int, *, opposite: bool) -> None:
    """``other`` is to the right of ``one``; or each is to the left of the other, oncoming."""
    for piece in range(count):
        a, b = one + piece, other + piece
        lanes[a].beside.append((EdgeKind.LEFT if opposite else EdgeKind.RIGHT, b, opposite))
        lanes[b].beside.append((EdgeKind.LEFT, a, opposite))


class _Pieces:
    """Polylines and links as they are gathered; ids are numbers from 1000."""

    def __init__(self, place: Any) -> None:
        self.place = place
        self.kind: list[MapKind] = []
        self.lines: list[Array] = []
        self.name: list[str] = []
        self.lane: list[tuple[int, bool, float, float]] = []  # type, inside, width, limit
        self.marking: list[int] = []
        self.edges: list[tuple[int, int, int, bool]] = []

    def add(
        self,
        kind: MapKind,
        line: Array,
        *,
        name: str | None = None,
        marking: Marking = Marking.UNKNOWN,
        lane: tuple[int, bool, float, float] = (0, False, 0.0, 0.0),
    ) -> int:
        """Append a polyline; returns its place."""
        self.kind.append(kind)
        self.lines.append(line)
        self.name.append(str(_FIRST_ID + len(self.name)) if name is None else name)
        self.marking.append(marking)
        self.lane.append(lane)
        return len(self.kind) - 1

    def finish(self) -> RoadMap:
        count = np.array([len(line) for line in self.lines], np.int64)
        flat = self.place(np.concatenate(self.lines))
        rows = np.array(self.lane, np.float64).reshape(-1, 4)
        edges = np.array(self.edges, np.int64).reshape(-1, 4)
        order = np.lexsort((edges[:, 1], edges[:, 0], edges[:, 2]))
        edges = edges[order]
        pieces = len(count)
        return RoadMap(
            points=np.concatenate([flat, np.zeros((len(flat), 1))], axis=1),
            start=np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
            kind=np.array(self.kind, np.int8),
            polyline_id=np.array(self.name, np.str_),
            lane_type=rows[:, 0].astype(np.int8),
            marking=np.array(self.marking, np.int8),
            intersection=rows[:, 1] > 0,
            width=np.round(rows[:, 2], 2).astype(np.float32),
            speed_limit=np.round(rows[:, 3], 2).astype(np.float32),
            hole_of=np.full(pieces, -1, np.int64),
            has_z=np.zeros(pieces, bool),
            edges=np.ascontiguousarray(edges[:, :2].T),
            edge_kind=edges[:, 2].astype(np.int8),
            edge_opposite=edges[:, 3] > 0,
        )


def _write_lanes(pieces: _Pieces, lanes: list[_Lane]) -> None:
    for index, lane in enumerate(lanes):
        attributes = (LaneType.VEHICLE, lane.inside, lane.width, lane.limit)
        pieces.add(MapKind.LANE, lane.line, lane=attributes)
        for after in lane.following:
            pieces.edges.append((index, after, EdgeKind.SUCCESSOR, False))
        for kind, other, opposite in lane.beside:
            pieces.edges.append((index, other, kind, opposite))
    for index, lane in enumerate(lanes):
        for side, line, mark in (
            ("left", lane.left, lane.marks[0]),
            ("right", lane.right, lane.marks[1]),
        ):
            name = f"{_FIRST_ID + index}:{side}"
            border = pieces.add(MapKind.LANE_BOUNDARY, line, name=name, marking=mark)
            pieces.edges.append((border, index, EdgeKind.BOUNDARY_OF, False))


def _crosswalk(arm: Arm) -> Array:
    near, far = CROSSING_DEPTH - CROSSING_HALF, CROSSING_DEPTH + CROSSING_HALF
    corners = [(near, arm.kerb_left), (near, arm.kerb_right)]
    corners += [(far, arm.kerb_right), (far, arm.kerb_left)]
    return np.stack([arm.before_mouth(*corner) for corner in corners])


def _junction_area(layout: Layout) -> Array:
    order = sorted(layout.arms, key=lambda arm: arm.angle % (2 * np.pi))
    corners = []
    for arm in order:
        corners += [arm.before_mouth(0.0, arm.kerb_right), arm.before_mouth(0.0, arm.kerb_left)]
    return np.stack(corners)


def _add_stop_lines(
    pieces: _Pieces, layout: Layout, last_piece: dict[tuple[int, int], int]
) -> None:
    ruled = layout.paths.controlled & (layout.paths.arm[0] >= 0)
    for number, arm in enumerate(layout.arms):
        here = ruled & (layout.paths.arm[0] == number)
        if not here.any() or layout.kind == "merge":
            continue
        inner, outer = arm.median / 2, arm.lanes_left
        line = np.stack([arm.before_mouth(0.3, inner), arm.before_mouth(0.3, outer)])
        stop = pieces.add(MapKind.STOP_LINE, line)
        owners = [stop]
        if (here & layout.paths.stop).any():
            sign = arm.before_mouth(0.3, arm.kerb_left + 0.5)[None]
            owners.append(pieces.add(MapKind.STOP_SIGN, sign))
        for owner in owners:
            for lane in range(arm.inbound):
                target = last_piece[number, lane]
                pieces.edges.append((owner, target, EdgeKind.CONTROLS, False))


def _thinned(line: Array, every: int = 2) -> Array:
    kept = line[np.r_[0 : len(line) - 1 : every, len(line) - 1]]
    return drop_repeats(kept)


def _normals(line: Array) -> Array:
    step = np.empty_like(line)
    step[1:-1] = line[2:] - line[:-2]
    step[0], step[-1] = line[1] - line[0], line[-1] - line[-2]
    step /= np.sqrt(step[:, 0] ** 2 + step[:, 1] ** 2)[:, None]
    return np.stack([-step[:, 1], step[:, 0]], axis=-1)
