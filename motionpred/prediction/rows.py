"""A Prediction as rows of a Parquet file, and back.

One row for each (scene, mode, agent), by mode and then by agent, the rows of a scene together:

=================  ==================================================================
scene_id dataset   texts, the same in all rows of a scene; so are source, joint, time
source joint
mode track_id      which row this is; every mode has the same agents in the same order
probability        of the mode: the scene's (joint, repeated for each agent) or the agent's
time x y           lists of one length: seconds after now; metres, world frame
heading            a list as long, or empty (null) in all rows: radians, world frame
scale_x scale_y    likewise: metres, the agent's own frame at now
=================  ==================================================================

A scene without agents has one row for each mode, in which track_id, x and y are null, and so is
the probability if it is marginal; heading and scale are lists of length 0 where they are given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from motionpred.errors import SceneError, StoreError
from motionpred.prediction.prediction import Prediction

Array = npt.NDArray[Any]

REMEDY = "Make the file again with 'motionpred predict'"
_FORMAT = b"motionpred.forecasts/1"


def schema() -> Any:
    """The columns, and the name of the format in their metadata."""
    import pyarrow as pa

    doubles = pa.list_(pa.float64())
    return pa.schema(
        [
            ("scene_id", pa.string()),
            ("dataset", pa.string()),
            ("source", pa.string()),
            ("joint", pa.bool_()),
            ("mode", pa.int32()),
            ("track_id", pa.string()),
            ("probability", pa.float64()),
            ("time", doubles),
            ("x", doubles),
            ("y", doubles),
            ("heading", doubles),
            ("scale_x", doubles),
            ("scale_y", doubles),
        ],
        metadata={b"format": _FORMAT},
    )


def check_schema(found: Any, path: Path) -> None:
    """Refuse a file with other columns.

    Raises:
        StoreError: it is no forecast file, or names the column that is missing or of another type.
    """
    if (found.metadata or {}).get(b"format") != _FORMAT:
        raise StoreError("is no forecast file", file=path, remedy=REMEDY)
    for wanted in schema():
        index = found.get_field_index(wanted.name)  # -1: there is none, or more than one
        if index < 0 or found.field(index).type != wanted.type:
            kind = "no single column" if index < 0 else str(found.field(index).type)
            raise StoreError(
                f"is {kind}, it must be {wanted.type}",
                file=path,
                field=wanted.name,
                remedy=REMEDY,
            )


def to_table(prediction: Prediction) -> Any:
    """The rows of a valid prediction, as a pyarrow Table.

    Raises:
        StoreError: a name is no Unicode text, such as that of an undecodable file.
    """
    import pyarrow as pa

    modes, agents, steps = prediction.modes, len(prediction.track_id), len(prediction.time)
    rows = modes * max(agents, 1)
    joint, scale = prediction.joint, prediction.scale

    def texts(name: str, values: list[str]) -> Any:
        try:
            return pa.array(values * (rows // len(values)), pa.string())
        except UnicodeEncodeError as error:
            raise StoreError(
                f"cannot be written as text: {error}", scene=repr(prediction.scene_id), field=name
            ) from error

    def lists(values: Array | None) -> Any:
        if values is None:
            return pa.nulls(rows, pa.list_(pa.float64()))
        offsets = np.arange(rows + 1, dtype=np.int32) * (values.size // rows)
        flat = np.ascontiguousarray(values, np.float64).reshape(-1)
        return pa.ListArray.from_arrays(offsets, flat)

    if agents:
        tracks, path = texts("track_id", prediction.track_id.tolist()), prediction.position
        chance = pa.array(prediction.marginal().probability.T.reshape(-1), pa.float64())
    else:
        tracks, path = pa.nulls(rows, pa.string()), None
        chance = pa.array(prediction.probability if joint else [None] * rows, pa.float64())
    columns = [
        texts("scene_id", [prediction.scene_id]),
        texts("dataset", [prediction.dataset]),
        texts("source", [prediction.source]),
        pa.array([joint] * rows, pa.bool_()),
        pa.array(np.repeat(np.arange(modes, dtype=np.int32), max(agents, 1))),
        tracks,
        chance,
        lists(np.broadcast_to(prediction.time, (rows, steps))),
        lists(None if path is None else path[..., 0]),
        lists(None if path is None else path[..., 1]),
        lists(prediction.heading),
        lists(None if scale is None else scale[..., 0]),
        lists(None if scale is None else scale[..., 1]),
    ]
    return pa.Table.from_arrays(columns, schema=schema())


def from_table(table: Any, path: Path) -> Prediction:
    """The forecast of one scene; what has to be the same in several rows is compared.

    Raises:
        StoreError: names file, scene and the column that does not fit.
    """
    rows = _Rows(table, path)
    dataset, source, joint = (rows.word(name) for name in ("dataset", "source", "joint"))
    modes, tracks = rows.modes_and_tracks()
    agents = len(tracks)
    time = rows.time()
    steps = len(time)

    def numbers(name: str) -> Array | None:
        found = rows.lists(name, steps if agents else 0)
        return None if found is None else found.reshape(modes, agents, steps)

    def pair(x: str, y: str) -> Array | None:
        first, second = numbers(x), numbers(y)
        if first is None and second is None:
            return None
        if first is None or second is None:
            rows.fail(x if first is None else y, "is empty")
        return np.stack([first, second], axis=-1)

    position = pair("x", "y")
    if position is None and agents:
        rows.fail("x", "is empty")
    try:
        return Prediction(
            scene_id=rows.scene_id,
            dataset=dataset,
            source=source,
            track_id=tracks,
            time=time,
            position=np.zeros((modes, 0, steps, 2)) if position is None else position,
            heading=numbers("heading"),
            scale=pair("scale_x", "scale_y"),
            probability=rows.probability(modes, agents, joint),
            joint=joint,
        ).validate()
    except SceneError as error:
        raise StoreError(
            error.message, file=path, scene=rows.scene_id, field=error.field, remedy=REMEDY
        ) from error


class _Rows:
    """The rows of one scene, column by column; every fault names file, scene and column."""

    def __init__(self, table: Any, path: Path) -> None:
        self.table = table
        self.path = path
        self.scene_id: str = table.column("scene_id")[0].as_py()

    def fail(self, field: str, message: str) -> NoReturn:
        raise StoreError(message, file=self.path, scene=self.scene_id, field=field, remedy=REMEDY)

    def full(self, name: str) -> Any:
        """A column without empty cells."""
        column = self.table.column(name)
        if column.null_count:
            self.fail(name, "has empty cells")
        return column

    def word(self, name: str) -> Any:
        """The one value of a column."""
        values = self.full(name).unique().to_pylist()
        if len(values) != 1:
            self.fail(name, "is not the same in all rows of the scene")
        return values[0]

    def modes_and_tracks(self) -> tuple[int, Array]:
        """K and the agents ``[A]``; A is 0 where no row names one."""
        mode = self.full("mode").to_numpy()
        if mode.min() < 0:
            self.fail("mode", f"is {mode.min()}")
        modes = int(mode.max()) + 1
        nobody = self.table.column("track_id").null_count == len(mode)
        repeats, rest = (1, len(mode) - modes) if nobody else divmod(len(mode), modes)
        if rest or not np.array_equal(mode, np.repeat(np.arange(modes), repeats)):
            self.fail("mode", "rows of a mode are missing, double or not in order")
        if nobody:
            return modes, np.zeros(0, np.str_)
        tracks = np.array(self.full("track_id").to_pylist(), np.str_).reshape(modes, repeats)
        if (tracks != tracks[0]).any():
            self.fail("track_id", "is not the same in every mode of the scene")
        return modes, tracks[0]

    def time(self) -> Array:
        """Seconds ``[T]``."""
        first = len(self.full("time")[0])
        found = self.lists("time", first)
        assert found is not None  # no cell is empty
        if (found != found[0]).any():  # so is NaN, which differs from itself
            self.fail("time", "is not the same in all rows of the scene")
        return np.asarray(found[0])

    def lists(self, name: str, length: int) -> Array | None:
        """The lists of a column ``[rows, length]``, None where all cells are empty."""
        column = self.table.column(name).combine_chunks()
        if column.null_count == len(column):
            return None
        if column.null_count:
            self.fail(name, "is empty in some rows")
        lengths = column.value_lengths().to_numpy()
        if (lengths != length).any():
            wrong = int(lengths[lengths != length][0])
            self.fail(name, f"has {wrong} steps in a row, it must have {length}")
        flat = column.flatten()
        if flat.null_count:
            self.fail(name, "has an empty step")
        return np.asarray(flat.to_numpy(zero_copy_only=False).reshape(len(column), length))

    def probability(self, modes: int, agents: int, joint: bool) -> Array:
        """``[K]`` or ``[A, K]``; the scene's probability of a mode stands beside every agent."""
        if not joint and not agents:
            return np.zeros((0, modes))
        values = self.full("probability").to_numpy().reshape(modes, -1)
        if not joint:
            return np.array(values.T)
        if (values != values[:, :1]).any():
            self.fail("probability", "is not the same for all agents of a joint mode")
        return np.array(values[:, 0])
