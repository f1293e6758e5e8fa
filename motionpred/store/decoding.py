"""The Scene of one Arrow record batch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from motionpred.scene import FieldSource, RoadMap, Scene, Signals, Tracks
from motionpred.store.layout import COLUMN, LISTS, SCALARS

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[Any]


def _places() -> dict[str, int]:
    """Where the buffers of every column begin in the flat list of a whole batch.

    A batch as one struct has a mask; a text has mask, offsets and letters, a number mask and
    values, and a list has mask and offsets before those of what is in it.
    """
    place, places = 1, {}
    for name, kind in [*SCALARS.items(), *LISTS.items()]:
        places[name] = place
        place += (2 if name in LISTS else 0) + (3 if kind == "string" else 2)
    return places


_PLACE = _places()
_NUMBERS = {
    name: (_PLACE[name], np.dtype(kind))
    for name, kind in LISTS.items()
    if kind not in ("string", "bool")
}


def decode(batch: pa.RecordBatch) -> Scene:
    """The scene of a record batch; arrays are read-only views of it where nothing had to change.

    Raises:
        ValueError, KeyError, TypeError, IndexError, pyarrow.ArrowException: the batch does not hold
            a scene (damaged); the caller knows the file and says so.
    """
    batch.validate(full=True)  # a few microseconds; offsets that lead astray would end the process
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
        # One call for all buffers: asking column by column takes as long as all the rest.
        self._buffers = batch.to_struct_array().buffers()

    def scalar(self, name: str) -> Any:
        return self._batch.column(COLUMN[name])[0].as_py()

    def is_null(self, name: str) -> bool:
        mask = self._buffers[_PLACE[name]]
        return bool(mask) and not mask[0] & 1

    def array(self, name: str) -> Array:
        place, dtype = _NUMBERS[name]
        data = self._buffers[place + 3]
        if not data or self.is_null(name):
            return np.zeros(0, dtype)
        return np.frombuffer(data, dtype)

    def bits(self, name: str, count: int) -> Array:
        data = self._buffers[_PLACE[name] + 3]
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
        place = _PLACE[name]
        offsets, data = self._buffers[place + 3 : place + 5]
        edges = np.frombuffer(offsets, np.int32) if offsets else np.zeros(1, np.int32)
        if len(edges) <= 1 or not data:
            return np.zeros(max(len(edges) - 1, 0), f"<U{width}")
        letters = bytes(data)
        if not letters.isascii():
            return np.array(self.scalar(name), f"<U{width}")
        # Plain ASCII: one byte is one character, which numpy keeps in four.
        codes = np.zeros((len(edges) - 1, max(width, 1)), np.uint32)
        inside = np.arange(codes.shape[1]) < (edges[1:] - edges[:-1])[:, None]
        codes[inside] = np.frombuffer(letters, np.uint8)
        return np.asarray(codes.view(f"<U{codes.shape[1]}")[:, 0])


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
            return np.array(valid)
        return np.asarray(row.bits(name, valid.size).reshape(shape))

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
        heading_valid=mask("heading_valid"),
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
