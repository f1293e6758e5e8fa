"""A map file (JSON) as a RoadMap: lanes, then their boundaries, then crossings, then areas.

Shapes: L lanes, M polylines, P points.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from motionpred.datasets.argoverse2.lane_links import lane_links
from motionpred.datasets.argoverse2.layout import (
    AREAS,
    CROSSINGS,
    LANE_TYPES,
    LANES,
    LARGEST,
    MARKINGS,
)
from motionpred.errors import SceneError
from motionpred.geometry.polylines import drop_all_repeats, open_rings, resample, take
from motionpred.scene import EdgeKind, LaneType, MapKind, Marking, RoadMap

Array = npt.NDArray[Any]
_Point = Mapping[str, float]
_Fail = Callable[[str, str], NoReturn]

_XYZ = itemgetter("x", "y", "z")
_NO_POINT = (AttributeError, KeyError, TypeError, ValueError, OverflowError)
_CENTERLINE_POINTS = 10  # as the publisher's own package computes them
_COUNTS = (
    "dangling_links",  # of which: the next four
    "dangling_predecessors",
    "dangling_successors",
    "dangling_left_neighbours",
    "dangling_right_neighbours",
    "self_links",
    "one_sided_links",
    "side_conflicts",
    "degenerate",
    "null_lanes",
    "degenerate_boundaries",
    "null_boundaries",
    "degenerate_polygons",
    "null_polygons",
    "repeated_points",
    "computed_centerlines",
    "unlisted_words",
)


def read_map(path: Path, scene: str) -> RoadMap:
    """The map of ``scene`` in the file at ``path``, in the city frame.

    A lane without a centreline gets the middle of its boundaries. Repeated points are dropped; a
    lane or boundary of one point is kept and counted, an area or crossing of less than three
    corners is left out and counted. ``report`` has every count, also those that are 0.

    Raises:
        SceneError: the file is missing or no map, or a value in it is not what it must be.
    """

    def fail(message: str, field: str) -> NoReturn:
        raise SceneError(
            message, file=path, scene=scene, field=field or None, remedy="Download the map again"
        )

    data = _load(path, fail)
    pieces = _Pieces(Counter(dict.fromkeys(_COUNTS, 0)), fail)
    lanes, index = _add_lanes(pieces, _section(data, LANES, fail))
    boundary_of = _add_boundaries(pieces, lanes)
    for key, item in _section(data, CROSSINGS, fail).items():
        pieces.add_ring(MapKind.CROSSWALK, key, item, "edge1", "edge2")
    for key, item in _section(data, AREAS, fail).items():
        pieces.add_ring(MapKind.DRIVABLE_AREA, key, item, "area_boundary")

    points, start, has_z = pieces.flatten()
    points, start, kept = _clean(points, start, np.array(pieces.kind, np.int8), pieces.report)
    first, last = points[start[: len(lanes)]], points[start[1 : len(lanes) + 1] - 1]
    edges, edge_kind, opposite = lane_links(lanes, index, (last - first)[:, :2], pieces.report)
    count = len(pieces.kind)
    return RoadMap(
        points=points,
        start=start,
        kind=np.array(pieces.kind, np.int8)[kept],
        polyline_id=np.array(pieces.name, np.str_)[kept],
        lane_type=_padded(pieces.lane_type, 0, count, np.int8)[kept],
        marking=_padded(pieces.marking, len(lanes), count, np.int8)[kept],
        intersection=_padded(pieces.intersection, 0, count, np.bool_)[kept],
        width=np.zeros(count, np.float32)[kept],
        speed_limit=np.zeros(count, np.float32)[kept],
        hole_of=np.full(count, -1, np.int64)[kept],
        has_z=has_z[kept],
        edges=np.concatenate([edges, boundary_of], axis=1),
        edge_kind=np.r_[edge_kind, np.full(boundary_of.shape[1], EdgeKind.BOUNDARY_OF, np.int8)],
        edge_opposite=np.r_[opposite, np.zeros(boundary_of.shape[1], bool)],
        report=dict(pieces.report),
    )


def _load(path: Path, fail: _Fail) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        fail("the map file is missing", "")
    except (OSError, ValueError, RecursionError) as error:
        fail(f"cannot be read: {error}", "")
    if not isinstance(data, dict) or LANES not in data:
        fail("is no Argoverse 2 map", LANES)
    return data


def _section(data: Mapping[str, Any], name: str, fail: _Fail) -> Mapping[str, Any]:
    section = data.get(name) or {}
    if not isinstance(section, dict) or not all(isinstance(v, dict) for v in section.values()):
        fail("must be objects by id", name)
    return section


class _Pieces:
    """Polylines as they are gathered, with the points as the file has them."""

    def __init__(self, report: Counter[str], fail: _Fail) -> None:
        self.report = report
        self.fail = fail
        self.kind: list[MapKind] = []
        self.name: list[str] = []
        self.field: list[str] = []  # where in the file, for messages
        self.points: list[list[_Point]] = []
        self.lane_type: list[LaneType] = []  # of the lanes only
        self.intersection: list[bool] = []  # of the lanes only
        self.marking: list[Marking] = []  # of the boundaries only

    def add(self, kind: MapKind, name: str, points: list[_Point], field: str) -> int:
        """Append a polyline; returns its place."""
        self.kind.append(kind)
        self.name.append(name)
        self.points.append(points)
        self.field.append(field)
        return len(self.kind) - 1

    def add_ring(self, kind: MapKind, key: str, item: Mapping[str, Any], *edges: str) -> None:
        """Append a ring: one boundary, or two edges that run the same way."""
        section = CROSSINGS if kind == MapKind.CROSSWALK else AREAS
        parts = [self.listed(item, edge, f"{section}.{key}") for edge in edges]
        if not all(parts):
            self.report["null_polygons"] += 1
            return
        ring = parts[0] + (parts[1][::-1] if len(parts) > 1 else [])
        self.add(kind, _name(key, item), ring, f"{section}.{key}")

    def listed(self, item: Mapping[str, Any], name: str, field: str) -> list[Any]:
        """A list of an object; empty where it is absent or null."""
        value = item.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self.fail("must be a list", f"{field}.{name}")
        return value

    def word(self, table: Mapping[str, Any], item: Mapping[str, Any], name: str) -> Any:
        """What a word stands for; UNKNOWN, counted, where the publisher does not list it."""
        value = item.get(name)
        if isinstance(value, str) and value in table:
            return table[value]
        self.report["unlisted_words"] += 1
        return 0

    def flatten(self) -> tuple[Array, Array, Array]:
        """Points ``[P, 3]``, start ``[M + 1]``, and which polylines have a height ``[M]``."""
        count = np.fromiter(map(len, self.points), np.int64, len(self.points))
        start = np.r_[0, np.cumsum(count)]
        try:
            flat = chain.from_iterable(map(_XYZ, chain.from_iterable(self.points)))
            points = np.fromiter(flat, np.float64, 3 * start[-1]).reshape(-1, 3)
            has_z = np.ones(len(count), bool)
        except _NO_POINT:
            points, has_z = self._flatten_one_by_one()
        sound = np.isfinite(points) & (np.abs(points) <= LARGEST)
        if (bad := np.flatnonzero(~sound.all(axis=1))).size:
            piece = int(np.searchsorted(start, bad[0], side="right")) - 1
            place = f"point {bad[0] - start[piece]}"
            value = points[bad[0]][~sound[bad[0]]][0]
            reason = f"is at {value:g}" if np.isfinite(value) else "is not finite"
            self.fail(f"{place} {reason}", self.field[piece])
        # Heights that are all 0 are placeholders: of every centreline, or of a whole flat map.
        nonzero = np.add.reduceat(points[:, 2] != 0, start[:-1]) > 0 if len(count) else has_z
        lane = np.array(self.kind, np.int8) == MapKind.LANE
        return points, start, has_z & (np.where(lane, nonzero, nonzero.any()))

    def _flatten_one_by_one(self) -> tuple[Array, Array]:
        """For files in which a point lacks z, or is no point at all."""
        rows, has_z = [np.zeros((0, 3))], []
        for points, field in zip(self.points, self.field, strict=True):
            try:
                has_z.append(all(point.get("z") is not None for point in points))
                # Half a height is none: a polyline has z at all of its points or is flat.
                xyz = [(p["x"], p["y"], p["z"] if has_z[-1] else 0.0) for p in points]
                rows.append(np.array(xyz, np.float64).reshape(-1, 3))
            except _NO_POINT as error:
                self.fail(f"has a point without x, y ({type(error).__name__}: {error})", field)
        return np.concatenate(rows), np.array(has_z, bool)


def _name(key: str, item: Mapping[str, Any]) -> str:
    return str(item.get("id", key))


def _add_lanes(
    pieces: _Pieces, section: Mapping[str, Any]
) -> tuple[list[Mapping[str, Any]], dict[str, int]]:
    """The lanes that have points, and the place of each id."""
    lanes: list[Mapping[str, Any]] = []
    index: dict[str, int] = {}
    for key, lane in section.items():
        field = f"{LANES}.{key}"
        points = pieces.listed(lane, "centerline", field) or _middle(pieces, lane, field)
        if not points:
            pieces.report["null_lanes"] += 1
            continue
        name = _name(key, lane)
        if name in index:
            pieces.fail(f"has the id of another lane ({name})", f"{field}.id")
        index[name] = pieces.add(MapKind.LANE, name, points, f"{field}.centerline")
        pieces.lane_type.append(pieces.word(LANE_TYPES, lane, "lane_type"))
        pieces.intersection.append(lane.get("is_intersection") is True)
        for relation in ("successors", "predecessors"):
            pieces.listed(lane, relation, field)
        lanes.append(lane)
    return lanes, index


def _middle(pieces: _Pieces, lane: Mapping[str, Any], field: str) -> list[_Point]:
    """The line midway between the two boundaries; empty where one is missing."""
    sides = [pieces.listed(lane, f"{side}_lane_boundary", field) for side in ("left", "right")]
    if not all(sides):
        return []
    own = _Pieces(pieces.report, pieces.fail)
    for side, points in zip(("left", "right"), sides, strict=True):
        own.add(MapKind.LANE_BOUNDARY, side, points, f"{field}.{side}_lane_boundary")
    flat, start, has_z = own.flatten()
    count = max(_CENTERLINE_POINTS, *map(len, sides))
    middle = resample(flat, start, count).mean(axis=0)
    pieces.report["computed_centerlines"] += 1
    axes = "xyz" if has_z.all() else "xy"
    return [dict(zip(axes, point, strict=False)) for point in middle.tolist()]


def _add_boundaries(pieces: _Pieces, lanes: list[Mapping[str, Any]]) -> Array:
    """Left and right boundary of every lane; returns the edges from boundary to lane ``[2, E]``."""
    edges: list[tuple[int, int]] = []
    for place, lane in enumerate(lanes):
        name = pieces.name[place]
        for side in ("left", "right"):
            field = f"{LANES}.{name}"
            points = pieces.listed(lane, f"{side}_lane_boundary", field)
            if not points:
                pieces.report["null_boundaries"] += 1
                continue
            field = f"{field}.{side}_lane_boundary"
            edges.append(
                (pieces.add(MapKind.LANE_BOUNDARY, f"{name}:{side}", points, field), place)
            )
            pieces.marking.append(pieces.word(MARKINGS, lane, f"{side}_lane_mark_type"))
    return np.asarray(np.array(edges, np.int64).reshape(-1, 2).T)


def _clean(
    points: Array, start: Array, kind: Array, report: Counter[str]
) -> tuple[Array, Array, Array]:
    """Without repeated points, closing corners and rings of less than three corners.

    Returns points, start, and which polylines were kept.
    """
    ring = np.isin(kind, [int(k) for k in MapKind if k.closed])
    given = len(points)
    points, start = drop_all_repeats(points, start)
    report["repeated_points"] += given - len(points)
    points, start = open_rings(points, start, ring)

    size = np.diff(start)
    report["degenerate"] += int(((kind == MapKind.LANE) & (size == 1)).sum())
    report["degenerate_boundaries"] += int(((kind == MapKind.LANE_BOUNDARY) & (size == 1)).sum())
    kept = ~(ring & (size < 3))
    report["degenerate_polygons"] += int((~kept).sum())
    if not kept.all():
        points, start = take(points, start, np.flatnonzero(kept))
    return points, start, kept


def _padded(values: list[Any], first: int, count: int, dtype: type[np.generic]) -> Array:
    """A column of ``count`` zeros with ``values`` from place ``first`` on."""
    column = np.zeros(count, dtype)
    column[first : first + len(values)] = values
    return column
