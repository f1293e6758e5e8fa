"""A Scene as one Arrow record batch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from motionpred.errors import SceneError
from motionpred.scene import RoadMap, Scene, Tracks
from motionpred.store.layout import LISTS, SCALARS, arrow_type, schema

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[Any]


def encode(scene: Scene, source: str, ordinal: int) -> pa.RecordBatch:
    """A validated scene as one record batch.

    Raises:
        SceneError: ``info`` is not JSON, or a text or a count does not fit the format.
    """
    import pyarrow as pa

    try:
        values: dict[str, Any] = {
            "scene_id": scene.scene_id,
            "source": source,
            "ordinal": ordinal,
            "dataset": scene.dataset,
            "split": scene.split,
            "dt": float(scene.dt),
            "now": int(scene.now),
            "info": _json(scene.info, "info", scene.scene_id),
            "details": json.dumps(_details(scene), separators=(",", ":")),
            "time": scene.time,
            **_track_lists(scene.tracks),
            **_map_lists(scene.map),
            "signal_lane": scene.signals.lane,
            "signal_state": scene.signals.state,
            "signal_stop_point": scene.signals.stop_point,
        }
        arrays = [pa.array([values[name]], arrow_type(kind)) for name, kind in SCALARS.items()]
        arrays += [_list(values[name], kind) for name, kind in LISTS.items()]
        return pa.RecordBatch.from_arrays(arrays, schema=schema())
    except (pa.ArrowException, UnicodeError, OverflowError) as error:
        raise SceneError(f"does not fit the store: {error}", scene=scene.scene_id) from error


def _details(scene: Scene) -> dict[str, Any]:
    tracks, road = scene.tracks, scene.map
    return {
        "has_z": bool(tracks.has_z),
        "source": {name: int(source) for name, source in tracks.source.items()},
        "report": {name: int(count) for name, count in road.report.items()},
        "text_width": [_width(ids) for ids in (tracks.track_id, tracks.raw_type, road.polyline_id)],
    }


def _json(info: Mapping[str, Any], field: str, scene_id: str) -> str:
    try:
        text = json.dumps(dict(info), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        same = json.loads(text) == info
    except (TypeError, ValueError):
        same = False
    if not same:
        raise SceneError(
            "is not JSON: it would not come back as it is",
            scene=scene_id,
            field=field,
            remedy="Use text keys and plain numbers, texts, lists and mappings only",
        )
    return text


def _width(texts: Array) -> int:
    return int(np.asarray(texts, np.str_).dtype.itemsize // 4)


def _track_lists(tracks: Tracks) -> dict[str, Any]:
    valid = tracks.valid
    position, size = tracks.position[valid], tracks.size[valid]
    velocity = tracks.velocity[valid]
    sized = bool(size.any())

    def differs(mask: Array) -> Array | None:
        return None if np.array_equal(mask, valid) else mask

    return {
        "track_id": tracks.track_id,
        "raw_type": tracks.raw_type,
        "type": tracks.type,
        "roles": tracks.roles,
        "valid": valid,
        "measured": differs(tracks.measured),
        "velocity_valid": differs(tracks.velocity_valid),
        "heading_valid": differs(tracks.heading_valid),
        "x": position[:, 0],
        "y": position[:, 1],
        "z": position[:, 2] if tracks.has_z else None,
        "heading": tracks.heading[valid],
        "velocity_x": velocity[:, 0],
        "velocity_y": velocity[:, 1],
        **{
            name: size[:, axis] if sized else None
            for axis, name in enumerate(("length", "width", "height"))
        },
    }


def _map_lists(road: RoadMap) -> dict[str, Any]:
    centimetres = _centimetres(road.points)
    return {
        "map_point": road.points if centimetres is None else None,
        "map_point_cm": centimetres,
        "map_start": road.start,
        "map_kind": road.kind,
        "map_id": road.polyline_id,
        "map_lane_type": road.lane_type,
        "map_marking": road.marking,
        "map_intersection": road.intersection,
        "map_width": road.width if road.width.any() else None,
        "map_speed_limit": road.speed_limit if road.speed_limit.any() else None,
        "map_hole_of": road.hole_of if (road.hole_of != -1).any() else None,
        "map_has_z": road.has_z,
        "edge": road.edges,
        "edge_kind": road.edge_kind,
        "edge_opposite": road.edge_opposite,
        "edge_range": road.edge_range,
    }


def _centimetres(points: Array) -> Array | None:
    """``points`` in whole centimetres, or None where that would change a single bit.

    Publishers round map points to a centimetre; a division gives the very same float64 back, in
    half the space.
    """
    scaled = np.rint(points * 100)
    if (np.abs(scaled) >= 2**31).any():
        return None
    whole = scaled.astype(np.int32)
    same = (whole / 100.0).view(np.int64) == np.ascontiguousarray(points).view(np.int64)
    return whole if same.all() else None


def _list(values: Any, kind: str) -> pa.Array:
    """One row that holds a list; None becomes a null."""
    import pyarrow as pa

    if values is None:
        return pa.nulls(1, pa.list_(arrow_type(kind)))
    if kind == "string":
        flat = pa.array(np.asarray(values, np.str_).tolist(), pa.string())
    else:
        flat = pa.array(np.ascontiguousarray(values, np.dtype(kind)).reshape(-1), arrow_type(kind))
    return pa.ListArray.from_arrays(pa.array([0, len(flat)], pa.int32()), flat)
