"""What must hold in a Scene; the first fault is named by field and index."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from motionpred.errors import SceneError
from motionpred.scene.kinds import (
    AgentType,
    EdgeKind,
    LaneType,
    MapKind,
    Marking,
    Role,
    SignalState,
)

if TYPE_CHECKING:
    from motionpred.scene.scene import RoadMap, Scene, Signals, Tracks

# No place on Earth is farther from any origin in use. Larger numbers are damage, and their squares
# do not fit float32, in which models compute.
_LARGEST = 1e8  # metres, metres per second

_Fail = Callable[[str, str], NoReturn]

# name -> (dtype, shape); letters are sizes that must agree, numbers are literal.
_TRACKS = {
    "type": (np.int8, "A"),
    "roles": (np.int16, "A"),
    "position": (np.float64, "AT3"),
    "heading": (np.float32, "AT"),
    "velocity": (np.float32, "AT2"),
    "size": (np.float32, "AT3"),
    "valid": (np.bool_, "AT"),
    "measured": (np.bool_, "AT"),
    "velocity_valid": (np.bool_, "AT"),
    "heading_valid": (np.bool_, "AT"),
}
_MAP = {
    "points": (np.float64, "P3"),
    "start": (np.int64, "N"),
    "kind": (np.int8, "M"),
    "lane_type": (np.int8, "M"),
    "marking": (np.int8, "M"),
    "intersection": (np.bool_, "M"),
    "width": (np.float32, "M"),
    "speed_limit": (np.float32, "M"),
    "hole_of": (np.int64, "M"),
    "has_z": (np.bool_, "M"),
    "edges": (np.int64, "2E"),
    "edge_kind": (np.int8, "E"),
    "edge_opposite": (np.bool_, "E"),
}
_SIGNALS = {
    "lane": (np.int64, "S"),
    "state": (np.int8, "ST"),
    "stop_point": (np.float64, "S3"),
}


def validate(scene: Scene) -> None:
    """Raise a SceneError for the first contract that ``scene`` breaks."""

    def fail(field: str, message: str) -> NoReturn:
        raise SceneError(message, scene=scene.scene_id, field=field)

    steps = len(scene.time)
    if not isinstance(scene.scene_id, str) or not scene.scene_id:
        fail("scene_id", f"is {scene.scene_id!r}, it must be text")
    if not isinstance(scene.dt, (int, float)) or not np.isfinite(scene.dt) or scene.dt <= 0:
        fail("dt", f"is {scene.dt}, it must be positive")
    if not isinstance(scene.now, (int, np.integer)) or not 0 <= scene.now < steps:
        fail("now", f"is {scene.now}, it must lie in 0..{steps - 1}")
    if scene.time.dtype != np.float64 or scene.time.ndim != 1:
        fail("time", "must be float64 of shape [T]")
    _finite(scene.time, "time", fail)
    if steps > 1 and (bad := np.flatnonzero(np.diff(scene.time) <= 0)).size:
        fail("time", f"does not increase after step {bad[0]}")
    _check_tracks(scene.tracks, steps, fail)
    _check_map(scene.map, fail)
    _check_signals(scene.signals, len(scene.map), steps, fail)
    try:
        json.dumps(dict(scene.info), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        fail("info", f"is no JSON: {error}")


def _check_tracks(tracks: Tracks, steps: int, fail: _Fail) -> None:
    sizes = {"A": len(tracks.track_id), "T": steps}
    _layout(tracks, "tracks", _TRACKS, sizes, fail)
    for name in ("track_id", "raw_type"):
        _text(getattr(tracks, name), sizes["A"], f"tracks.{name}", fail)
    ids, counts = np.unique(tracks.track_id, return_counts=True)
    if (counts > 1).any():
        fail("tracks.track_id", f"{str(ids[counts > 1][0])!r} occurs {counts.max()} times")
    _members(tracks.type, AgentType, "tracks.type", fail)
    focal = (tracks.roles & Role.FOCAL) != 0
    _first(
        focal & ((tracks.roles & Role.SCORED) == 0), "tracks.roles", "is FOCAL, not SCORED", fail
    )
    for name in ("measured", "velocity_valid", "heading_valid"):
        extra = getattr(tracks, name) & ~tracks.valid
        _first(extra, f"tracks.{name}", "is set where there is no state", fail)
    for name in ("position", "heading", "velocity", "size"):
        values = getattr(tracks, name)
        _reasonable(values, f"tracks.{name}", fail)
        valid = getattr(tracks, f"{name}_valid", tracks.valid)
        nonzero = values != 0 if values.ndim == 2 else (values != 0).any(axis=2)
        _first(nonzero & ~valid, f"tracks.{name}", "is not 0 where it is invalid", fail)
    half = np.float32(np.pi)
    outside = (tracks.heading <= -half) | (tracks.heading > half)
    _first(outside, "tracks.heading", "is outside (-pi, pi]", fail)
    _first((tracks.size < 0).any(axis=2), "tracks.size", "is negative", fail)
    if not tracks.has_z:
        _first(
            tracks.position[..., 2] != 0, "tracks.position", "has a z though has_z is False", fail
        )


def _check_map(road: RoadMap, fail: _Fail) -> None:
    pieces = len(road.kind)
    sizes = {"P": len(road.points), "M": pieces, "N": pieces + 1, "E": road.edges.shape[-1]}
    _layout(road, "map", _MAP, sizes, fail)
    _reasonable(road.points, "map.points", fail)
    if road.start[0] != 0 or road.start[-1] != len(road.points):
        fail("map.start", f"must run from 0 to {len(road.points)}")
    _first(np.diff(road.start) < 1, "map.start", "has no point", fail)
    flat = ~np.repeat(road.has_z, np.diff(road.start))
    _first(flat & (road.points[:, 2] != 0), "map.points", "has a z though has_z is False", fail)
    _text(road.polyline_id, pieces, "map.polyline_id", fail)
    _members(road.kind, MapKind, "map.kind", fail)
    _members(road.lane_type, LaneType, "map.lane_type", fail)
    _members(road.marking, Marking, "map.marking", fail)
    _members(road.edge_kind, EdgeKind, "map.edge_kind", fail)
    outside = ((road.edges < 0) | (road.edges >= max(pieces, 1))).any(axis=0)
    _first(outside, "map.edges", "links a polyline that is not in the map", fail)
    if pieces:
        _first(road.edges[0] == road.edges[1], "map.edges", "links a polyline to itself", fail)
    _first(
        (road.hole_of < -1) | (road.hole_of >= max(pieces, 1)),
        "map.hole_of",
        "is no polyline",
        fail,
    )
    if road.edge_range is not None:
        _layout(road, "map", {"edge_range": (np.int64, "E4")}, sizes, fail)


def _check_signals(signals: Signals, pieces: int, steps: int, fail: _Fail) -> None:
    _layout(signals, "signals", _SIGNALS, {"S": len(signals.lane), "T": steps}, fail)
    _members(signals.state, SignalState, "signals.state", fail)
    _reasonable(signals.stop_point, "signals.stop_point", fail)
    _first((signals.lane < -1) | (signals.lane >= pieces), "signals.lane", "is no polyline", fail)


def _layout(
    owner: object,
    prefix: str,
    table: dict[str, tuple[type[Any], str]],
    sizes: dict[str, int],
    fail: _Fail,
) -> None:
    for name, (dtype, letters) in table.items():
        array = getattr(owner, name)
        shape = tuple(int(c) if c.isdigit() else sizes[c] for c in letters)
        if not isinstance(array, np.ndarray):
            fail(f"{prefix}.{name}", f"is {type(array).__name__}, it must be an array")
        if array.dtype != dtype:
            fail(f"{prefix}.{name}", f"is {array.dtype}, it must be {np.dtype(dtype)}")
        if array.shape != shape:
            fail(f"{prefix}.{name}", f"has shape {array.shape}, it must be {shape}")


def _text(values: np.ndarray[Any, Any], count: int, field: str, fail: _Fail) -> None:
    if values.dtype.kind != "U":
        fail(field, f"is {values.dtype}, it must be text")
    if values.shape != (count,):
        fail(field, f"has shape {values.shape}, it must be {(count,)}")


def _first(bad: Any, field: str, message: str, fail: _Fail) -> None:
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        fail(f"{field}[{', '.join(map(str, index))}]", message)


def _finite(values: np.ndarray[Any, Any], field: str, fail: _Fail) -> None:
    _first(~np.isfinite(values), field, "is not finite", fail)


def _reasonable(values: np.ndarray[Any, Any], field: str, fail: _Fail) -> None:
    _finite(values, field, fail)
    _first(np.abs(values) > _LARGEST, field, f"is larger than {_LARGEST:g}", fail)


def _members(values: np.ndarray[Any, Any], kind: type[IntEnum], field: str, fail: _Fail) -> None:
    known = np.array([int(member) for member in kind])
    _first(~np.isin(values, known), field, f"is no {kind.__name__}", fail)
