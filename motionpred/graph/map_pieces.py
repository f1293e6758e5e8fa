"""The map around the predicted agents: polylines as pieces of equally many points.

Shapes: M map polylines, N kept pieces, P points a piece, E kept links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionpred.geometry.angles import wrap
from motionpred.geometry.polylines import resample, take
from motionpred.graph.options import BatchOptions
from motionpred.scene import MapKind, RoadMap

Array = npt.NDArray[Any]

_CLOSED = np.array([kind.closed for kind in MapKind])
# Distances closer than this are ties, so that rounding of world coordinates decides nothing.
TIE = 1e-3


@dataclass(frozen=True)
class MapPieces:
    """Fields of :class:`SceneArrays` that come from the map, and what was left out."""

    points: Array  # [N, P, 2] float32
    pose: Array  # [N, 3] float32
    category: Array  # [N, 5] int64
    attributes: Array  # [N, 2] float32
    edges: Array  # [E, 4] int64
    far: int  # pieces beyond the radius
    cut: int  # pieces beyond the cap
    lanes: int  # lanes among the kept pieces


class MapQuery(NamedTuple):
    """What of a map is wanted."""

    road: RoadMap
    signals: tuple[Array, Array]  # lanes [S] and their states at now [S]
    origin: Array  # [2] float64, metres, world frame
    anchors: Array  # [n, 2] metres, scene frame; pieces near one of them are kept


def encode_maps(queries: Sequence[MapQuery], options: BatchOptions) -> list[MapPieces]:
    """The pieces near the anchors of each query, in the order of its map.

    The polylines of all queries are sampled at once. Origins are subtracted in float64.
    """
    wanted = np.zeros(len(MapKind), bool)
    wanted[list(options.map_kinds)] = True
    chosen, lines, starts, end = [], [], [np.zeros(1, np.int64)], 0
    for query in queries:
        road = query.road
        index = np.flatnonzero(wanted[road.kind])
        flat, start = take(road.points, road.start, index, closed=_CLOSED[road.kind[index]])
        chosen.append(index)
        lines.append(flat[:, :2] - query.origin)
        starts.append(start[1:] + end)
        end += len(flat)
    points = resample(np.concatenate(lines), np.concatenate(starts), options.map_points)
    poses = _poses(points).astype(np.float32)
    stops = np.cumsum([len(index) for index in chosen])
    result = []
    for query, index, stop in zip(queries, chosen, stops, strict=True):
        own = slice(stop - len(index), stop)
        result.append(_pieces(query, index, points[own], poses[own], options))
    return result


def _pieces(
    query: MapQuery, chosen: Array, points: Array, poses: Array, options: BatchOptions
) -> MapPieces:
    """Those of the ``chosen`` polylines that are near enough and few enough."""
    road = query.road
    near = _within(points, query.anchors, options.map_radius)
    far = len(chosen) - len(near)
    cut = 0
    if options.max_map is not None and len(near) > options.max_map:
        cut = len(near) - options.max_map
        names = road.polyline_id[chosen[near]]
        near = near[_nearest(points[near], query.anchors, names, options.max_map)]
    kept = chosen[near]
    return MapPieces(
        points=points[near].astype(np.float32),
        pose=poses[near],
        category=_categories(road, query.signals, kept),
        attributes=_columns((road.width, road.speed_limit), kept, np.float32),
        edges=_links(road, kept),
        far=far,
        cut=cut,
        lanes=int((road.kind[kept] == MapKind.LANE).sum()),
    )


def _within(points: Array, anchors: Array, radius: float) -> Array:
    """Indices of the pieces with a point at most ``radius`` from an anchor."""
    # Most pieces are near the anchor in the middle: only the others are compared with all of them.
    middle = anchors[np.argmin((anchors**2).sum(axis=1))]
    x, y = points[..., 0] - middle[0], points[..., 1] - middle[1]
    near = (x * x + y * y).min(axis=1) <= radius**2
    rest = np.flatnonzero(~near)
    if len(rest) and len(anchors) > 1:
        box = points[rest]
        outside = (box.max(axis=1) < anchors.min(axis=0) - radius) | (
            box.min(axis=1) > anchors.max(axis=0) + radius
        )
        rest = rest[~outside.any(axis=1)]
        near[rest] = _squared_distance(points[rest], anchors) <= radius**2
    return np.flatnonzero(near)


def _nearest(points: Array, anchors: Array, names: Array, count: int) -> Array:
    """Indices of the ``count`` pieces nearest to any anchor, ascending; ties go by name."""
    distance = np.sqrt(np.maximum(_squared_distance(points, anchors), 0.0))
    order = np.lexsort((names, np.round(distance / TIE)))
    return np.sort(order[:count])


def _squared_distance(points: Array, anchors: Array) -> Array:
    """Square of the distance ``[n]`` from the nearest point of a piece to the nearest anchor."""
    flat = points.reshape(-1, 2)
    cross = flat @ anchors.T
    nearest = ((anchors**2).sum(axis=1) - 2 * cross).min(axis=1)
    square = flat[:, 0] ** 2 + flat[:, 1] ** 2 + nearest
    return np.asarray(square.reshape(points.shape[:2]).min(axis=1))


def _poses(points: Array) -> Array:
    """Middle of each piece and its direction there ``[n, 3]``; 0 where it has no length."""
    count = points.shape[1]
    before = max((count - 2) // 2, 0)
    step = points[:, count - 1 - before] - points[:, before]
    middle = (points[:, (count - 1) // 2] + points[:, count // 2]) / 2
    return np.concatenate([middle, wrap(np.arctan2(step[:, 1:], step[:, :1]))], axis=-1)


def _categories(road: RoadMap, signals: tuple[Array, Array], kept: Array) -> Array:
    lane, at_now = signals
    state = np.zeros(len(road), np.int8)
    state[lane[lane >= 0]] = at_now[lane >= 0]
    columns = (road.kind, road.lane_type, road.marking, road.intersection, state)
    return _columns(columns, kept, np.int64)


def _columns(columns: tuple[Array, ...], rows: Array, dtype: npt.DTypeLike) -> Array:
    table = np.empty((len(rows), len(columns)), dtype)
    for place, column in enumerate(columns):
        table[:, place] = column[rows]
    return table


def _links(road: RoadMap, kept: Array) -> Array:
    """Links ``[E, 4]`` between kept pieces, sorted by kind."""
    index = np.full(len(road), -1, np.int64)
    index[kept] = np.arange(len(kept))
    source, destination = index[road.edges[0]], index[road.edges[1]]
    inside = np.flatnonzero((source >= 0) & (destination >= 0))
    inside = inside[np.argsort(road.edge_kind[inside], kind="stable")]
    columns = (source, destination, road.edge_kind, road.edge_opposite)
    return _columns(columns, inside, np.int64)
