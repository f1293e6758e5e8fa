"""The map around the predicted agents: polylines as pieces of equally many points.

Shapes: M map polylines, N kept pieces, P points a piece, E kept links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


def encode_map(
    road: RoadMap,
    signals: tuple[Array, Array],
    origin: Array,
    anchors: Array,
    options: BatchOptions,
) -> MapPieces:
    """The pieces near ``anchors`` ``[n, 2]`` (scene frame, metres), in the order of the map.

    ``signals``: lanes ``[S]`` and their states at ``now`` ``[S]``. ``origin`` ``[2]`` is subtracted
    in float64.
    """
    wanted = np.zeros(len(MapKind), bool)
    wanted[list(options.map_kinds)] = True
    chosen = np.flatnonzero(wanted[road.kind])
    kind = road.kind[chosen]
    points, start = take(road.points, road.start, chosen, closed=_CLOSED[kind])
    points = resample(points[:, :2] - origin, start, options.map_points)
    near = _within(points, anchors, options.map_radius)
    far = len(chosen) - len(near)
    cut = 0
    if options.max_map is not None and len(near) > options.max_map:
        cut = len(near) - options.max_map
        near = near[
            _nearest(points[near], anchors, road.polyline_id[chosen[near]], options.max_map)
        ]
    points, kept = points.take(near, axis=0), chosen[near]
    return MapPieces(
        points=points.astype(np.float32),
        pose=_poses(points).astype(np.float32),
        category=_categories(road, signals, kept),
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
