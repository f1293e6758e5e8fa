"""One scene as one Arrow record batch: a single row of list columns, and back.

Agent states are kept as rows, one per valid (agent, step) in that order, not as dense arrays; the
bit mask ``valid`` says where each row belongs. Lists that hold nothing but their default are left
out (null). Shapes: A agents, T steps, N valid states, M polylines, P points, E edges, S signals.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from motionpred.errors import SceneError
from motionpred.scene import FieldSource, RoadMap, Scene, Signals, Tracks

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[Any]

FORMAT = 1
_TAG = f"motionpred.scenes/{FORMAT}".encode()

_SCALARS = {
    "scene_id": "string",
    "source": "string",  # key of the source that the scene was read from
    "ordinal": "int32",  # its place in that source
    "dataset": "string",
    "split": "string",
    "dt": "float64",
    "now": "int32",
    "info": "string",  # JSON
    "details": "string",  # JSON: has_z, sources of the fields, map report, widths of the ids
}
_LISTS = {
    "time": "float64",  # [T]
    "track_id": "string",  # [A]
    "raw_type": "string",  # [A]
    "type": "int8",  # [A]
    "roles": "int16",  # [A]
    "valid": "bool",  # [A * T]
    "measured": "bool",  # [A * T]; null: equal to valid
    "velocity_valid": "bool",  # [A * T]; null: equal to valid
    "x": "float64",  # [N]
    "y": "float64",  # [N]
    "z": "float64",  # [N]; null: no z
    "heading": "float32",  # [N]
    "velocity_x": "float32",  # [N]
    "velocity_y": "float32",  # [N]
    "length": "float32",  # [N]; null: all 0, like the two that follow
    "width": "float32",  # [N]
    "height": "float32",  # [N]
    "map_point": "float64",  # [P * 3]; null where map_point_cm has them
    "map_point_cm": "int32",  # [P * 3], where every coordinate is a whole centimetre
    "map_start": "int32",  # [M + 1]
    "map_kind": "int8",  # [M]
    "map_id": "string",  # [M]
    "map_lane_type": "int8",  # [M]
    "map_marking": "int8",  # [M]
    "map_intersection": "bool",  # [M]
    "map_width": "float32",  # [M]; null: all 0
    "map_speed_limit": "float32",  # [M]; null: all 0
    "map_hole_of": "int32",  # [M]; null: all -1
    "map_has_z": "bool",  # [M]
    "edge": "int32",  # [2 * E]
    "edge_kind": "int8",  # [E]
    "edge_opposite": "bool",  # [E]
    "edge_range": "int32",  # [E * 4]; null: there is none
    "signal_lane": "int32",  # [S]
    "signal_state": "int8",  # [S * T]
    "signal_stop_point": "float64",  # [S * 3]
}
_COLUMN = {name: i for i, name in enumerate([*_SCALARS, *_LISTS])}
_NUMBERS = {
    name: (_COLUMN[name], np.dtype(kind))
    for name, kind in _LISTS.items()
    if kind not in ("string", "bool")
}


@cache
def schema() -> pa.Schema:
    """The schema of every shard; its metadata names the format and its version."""
    import pyarrow as pa

    fields = [pa.field(name, _arrow(kind)) for name, kind in _SCALARS.items()]
    fields += [pa.field(name, pa.list_(_arrow(kind))) for name, kind in _LISTS.items()]
    return pa.schema(fields, metadata={b"format": _TAG})


def is_layout(found: pa.Schema) -> bool:
    """Whether a file's schema is the one that this module reads."""
    return bool(found.equals(schema(), check_metadata=True))


def _arrow(kind: str) -> Any:
    import pyarrow as pa

    return pa.bool_() if kind == "bool" else getattr(pa, kind)()


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
        arrays = [pa.array([values[name]], _arrow(kind)) for name, kind in _SCALARS.items()]
        arrays += [_list(values[name], kind) for name, kind in _LISTS.items()]
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
        return pa.nulls(1, pa.list_(_arrow(kind)))
    if kind == "string":
        flat = pa.array(np.asarray(values, np.str_).tolist(), pa.string())
    else:
        flat = pa.array(np.ascontiguousarray(values, np.dtype(kind)).reshape(-1), _arrow(kind))
    return pa.ListArray.from_arrays(pa.array([0, len(flat)], pa.int32()), flat)


def decode(batch: pa.RecordBatch) -> Scene:
    """The scene of a record batch; arrays are read-only views of it where nothing had to change.

    Raises:
        ValueError, KeyError, TypeError, IndexError: the batch does not hold a scene (damaged); the
            caller knows the file and says so.
    """
    row = _Row(batch)
    details = json.loads(row.scalar("details"))
    time = row.array("time")
    widths = details["text_width"]
    road = _decode_map(row, details["report"], widths[2])
    lane = row.array("signal_lane").astype(np.int64)
    return Scene(
        scene_id=row.scalar("scene_id"),
        dataset=row.scalar("dataset"),
        split=row.scalar("split"),
        time=time,
        dt=row.scalar("dt"),
        now=row.scalar("now"),
        tracks=_decode_tracks(row, len(time), details, widths),
        map=road,
        signals=Signals(
            lane=lane,
            state=row.array("signal_state").reshape(len(lane), len(time)),
            stop_point=row.array("signal_stop_point").reshape(len(lane), 3),
        ),
        info=json.loads(row.scalar("info")),
    )


def origin(batch: pa.RecordBatch) -> tuple[str, int]:
    """Key of the source that the scene was read from, and its place in it."""
    row = _Row(batch)
    return row.scalar("source"), row.scalar("ordinal")


class _Row:
    """Typed access to the one row of a batch, straight from its buffers.

    Buffers are bounded by the file, so that a damaged length is an error and never a read outside
    the map. Plain buffers are as long as their values; bits are padded to bytes.
    """

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def scalar(self, name: str) -> Any:
        return self._batch.column(_COLUMN[name])[0].as_py()

    def is_null(self, name: str) -> bool:
        return bool(self._batch.column(_COLUMN[name]).null_count)

    def array(self, name: str) -> Array:
        place, dtype = _NUMBERS[name]
        column = self._batch.column(place)
        data = None if column.null_count else column.buffers()[-1]
        return np.frombuffer(data, dtype) if data else np.zeros(0, dtype)

    def bits(self, name: str, count: int) -> Array:
        data = self._batch.column(_COLUMN[name]).buffers()[-1]
        if not data and not count:
            return np.zeros(0, np.bool_)
        packed = np.frombuffer(data, np.uint8)
        if len(packed) < (count + 7) // 8:
            raise ValueError(f"{name} is shorter than {count}")
        return np.unpackbits(packed, count=count, bitorder="little").view(np.bool_)

    def sized(self, name: str, count: int, default: float) -> Array:
        """``[count]``; a null list is ``default`` everywhere."""
        values = self.array(name)
        return values if len(values) else np.full(count, default, values.dtype)

    def text(self, name: str, width: int) -> Array:
        """Texts as a numpy array of ``width`` characters."""
        column = self._batch.column(_COLUMN[name])
        _, _, _, offsets, data = column.buffers()
        edges = np.frombuffer(offsets, np.int32) if offsets else np.zeros(1, np.int32)
        if len(edges) <= 1 or not data:
            return np.zeros(max(len(edges) - 1, 0), f"<U{width}")
        letters = bytes(data)
        if not letters.isascii():
            return np.array(column[0].as_py(), f"<U{width}")
        # Plain ASCII: one byte is one character, which numpy keeps in four.
        codes = np.zeros((len(edges) - 1, max(width, 1)), np.uint32)
        inside = np.arange(codes.shape[1]) < (edges[1:] - edges[:-1])[:, None]
        codes[inside] = np.frombuffer(letters, np.uint8)
        return codes.view(f"<U{codes.shape[1]}")[:, 0]


def _decode_tracks(row: _Row, steps: int, details: Mapping[str, Any], widths: list[int]) -> Tracks:
    kind = row.array("type")
    shape = (len(kind), steps)
    valid = row.bits("valid", len(kind) * steps).reshape(shape)
    place = np.flatnonzero(valid)

    def dense(dtype: str, *names: str) -> Array:
        values = np.zeros(valid.size * len(names), dtype)
        first = place * len(names)
        for axis, name in enumerate(names):
            column = row.array(name)
            if len(column):
                values[first + axis if axis else first] = column
        return values

    def mask(name: str) -> Array:
        if row.is_null(name):
            return valid.copy()
        return row.bits(name, valid.size).reshape(shape)

    return Tracks(
        track_id=row.text("track_id", widths[0]),
        type=kind,
        raw_type=row.text("raw_type", widths[1]),
        roles=row.array("roles"),
        position=dense("float64", "x", "y", "z").reshape(*shape, 3),
        heading=dense("float32", "heading").reshape(shape),
        velocity=dense("float32", "velocity_x", "velocity_y").reshape(*shape, 2),
        size=dense("float32", "length", "width", "height").reshape(*shape, 3),
        valid=valid,
        measured=mask("measured"),
        velocity_valid=mask("velocity_valid"),
        has_z=details["has_z"],
        source={name: FieldSource(value) for name, value in details["source"].items()},
    )


def _decode_map(row: _Row, report: Mapping[str, int], width: int) -> RoadMap:
    kind = row.array("map_kind")
    count = len(kind)
    points = row.array("map_point")
    if len(points) == 0:
        points = row.array("map_point_cm") / 100.0
    edges = row.array("edge").reshape(2, -1).astype(np.int64)
    edge_range = None
    if not row.is_null("edge_range"):
        edge_range = row.array("edge_range").reshape(edges.shape[1], 4).astype(np.int64)
    return RoadMap(
        points=points.reshape(-1, 3),
        start=row.array("map_start").astype(np.int64),
        kind=kind,
        polyline_id=row.text("map_id", width),
        lane_type=row.array("map_lane_type"),
        marking=row.array("map_marking"),
        intersection=row.bits("map_intersection", count),
        width=row.sized("map_width", count, 0.0),
        speed_limit=row.sized("map_speed_limit", count, 0.0),
        hole_of=row.sized("map_hole_of", count, -1).astype(np.int64),
        has_z=row.bits("map_has_z", count),
        edges=edges,
        edge_kind=row.array("edge_kind"),
        edge_opposite=row.bits("edge_opposite", edges.shape[1]),
        edge_range=edge_range,
        report=dict(report),
    )
