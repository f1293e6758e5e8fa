"""A RoadMap as the publisher's map document: what reading it back gives the same RoadMap."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.argoverse2.layout import AREAS, CROSSINGS, LANE_TYPES, LANES
from motionpred.errors import SceneError
from motionpred.scene import EdgeKind, LaneType, MapKind, Marking, RoadMap

Array = npt.NDArray[Any]
_Links = dict[int, list[int]]

_LANE_WORDS = {kind: word for word, kind in LANE_TYPES.items()}
_CARRIED = (MapKind.LANE, MapKind.LANE_BOUNDARY, MapKind.CROSSWALK, MapKind.DRIVABLE_AREA)
_CARRIED_EDGES = (EdgeKind.SUCCESSOR, EdgeKind.LEFT, EdgeKind.RIGHT, EdgeKind.BOUNDARY_OF)


def map_document(road: RoadMap) -> dict[str, Any]:
    """The document of a map, ready for ``json``.

    A lane without a boundary gets an empty one. A neighbour is the first that the map links.

    Raises:
        SceneError: two lanes have the same id.
    """
    lanes = np.flatnonzero(road.kind == MapKind.LANE)
    names = [_id(road.polyline_id[lane]) for lane in lanes]
    if len(set(names)) < len(names):
        raise SceneError("two lanes have the same id", field="map.polyline_id")
    successors, predecessors = _links(road, EdgeKind.SUCCESSOR)
    left, _ = _links(road, EdgeKind.LEFT)
    right, _ = _links(road, EdgeKind.RIGHT)
    sides = _boundaries(road)

    def ids(places: list[int]) -> list[int | str]:
        return [_id(road.polyline_id[place]) for place in places]

    def lane_object(lane: int) -> dict[str, Any]:
        kind = LaneType(road.lane_type[lane])
        boundary = {side: sides.get((lane, side)) for side in ("left", "right")}
        return {
            "centerline": _points(road, lane),
            "id": _id(road.polyline_id[lane]),
            "is_intersection": bool(road.intersection[lane]),
            "lane_type": _LANE_WORDS.get(kind, "VEHICLE"),
            **{f"{side}_lane_boundary": _points(road, place) for side, place in boundary.items()},
            **{f"{side}_lane_mark_type": _mark(road, place) for side, place in boundary.items()},
            "left_neighbor_id": next(iter(ids(left.get(lane, []))), None),
            "right_neighbor_id": next(iter(ids(right.get(lane, []))), None),
            "predecessors": ids(predecessors.get(lane, [])),
            "successors": ids(successors.get(lane, [])),
        }

    return {
        AREAS: _objects(road, MapKind.DRIVABLE_AREA, _area),
        LANES: {str(name): lane_object(int(lane)) for name, lane in zip(names, lanes, strict=True)},
        CROSSINGS: _objects(road, MapKind.CROSSWALK, _crossing),
    }


def map_left_out(road: RoadMap) -> Counter[str]:
    """What of a map has no place in the document, by field, counted."""
    kinds, edges = road.kind, road.edge_kind
    lane = kinds == MapKind.LANE
    solid = road.has_z & ~lane
    counts = {
        "map.kind": ~np.isin(kinds, _CARRIED),
        "map.lane_type": lane & ~np.isin(road.lane_type, list(_LANE_WORDS)),
        "map.width": road.width != 0,
        "map.speed_limit": road.speed_limit != 0,
        "map.hole_of": road.hole_of >= 0,
        # A flat polyline among ones with a height cannot be told from one at height 0.
        "map.has_z": ~road.has_z & ~lane & np.isin(kinds, _CARRIED) & solid.any(),
        "map.edge_kind": ~np.isin(edges, _CARRIED_EDGES),
    }
    found = Counter({name: int(mask.sum()) for name, mask in counts.items()})
    placed = set(_boundaries(road).values())
    boundaries = np.flatnonzero(kinds == MapKind.LANE_BOUNDARY).tolist()
    found["map.boundaries"] = len(set(boundaries) - placed)
    for kind in (EdgeKind.LEFT, EdgeKind.RIGHT):
        found["map.neighbours"] += sum(len(places) - 1 for places in _links(road, kind)[0].values())
    found["map.edge_range"] = 0 if road.edge_range is None else road.edge_range.shape[0]
    return found


def _links(road: RoadMap, kind: EdgeKind) -> tuple[_Links, _Links]:
    """Destinations by source and sources by destination, in the order of the edges."""
    forward: _Links = {}
    backward: _Links = {}
    for source, destination in road.edges[:, road.edge_kind == kind].T.tolist():
        forward.setdefault(source, []).append(destination)
        backward.setdefault(destination, []).append(source)
    return forward, backward


def _boundaries(road: RoadMap) -> dict[tuple[int, str], int]:
    """The boundary of a lane at a side, by the end of its id (``<lane>:left``)."""
    found: dict[tuple[int, str], int] = {}
    for boundary, lane in road.edges[:, road.edge_kind == EdgeKind.BOUNDARY_OF].T.tolist():
        side = str(road.polyline_id[boundary]).rpartition(":")[2]
        if side in ("left", "right"):
            found.setdefault((lane, side), boundary)
    return found


def _objects(road: RoadMap, kind: MapKind, shape: Any) -> dict[str, Any]:
    places = np.flatnonzero((road.kind == kind) & (road.hole_of < 0)).tolist()
    return {
        str(road.polyline_id[place]): {
            **shape(_points(road, place)),
            "id": _id(road.polyline_id[place]),
        }
        for place in places
    }


def _area(ring: list[Any]) -> dict[str, Any]:
    return {"area_boundary": ring}


def _crossing(ring: list[Any]) -> dict[str, Any]:
    """Two edges that run the same way; in a triangle both start at the first corner."""
    half = (len(ring) + 1) // 2
    back = ring[half:][::-1]
    return {"edge1": ring[:half], "edge2": back if len(ring) != 3 else [ring[0], *back]}


def _points(road: RoadMap, place: int | None) -> list[dict[str, float]]:
    if place is None:
        return []
    return [{"x": x, "y": y, "z": z} for x, y, z in road.polyline(place).tolist()]


def _mark(road: RoadMap, place: int | None) -> str:
    return Marking.UNKNOWN.name if place is None else Marking(road.marking[place]).name


def _id(name: str) -> int | str:
    """Ids are numbers in the document where they can be."""
    text = str(name)
    return int(text) if text.isdecimal() and str(int(text)) == text else text
