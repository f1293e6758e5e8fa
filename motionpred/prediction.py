"""Forecasts of one scene, and the file that holds those of many.

Shapes: K modes, A agents, T future steps. World frame, metres, radians, float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from motionpred.errors import SceneError, StoreError
from motionpred.geometry.angles import wrap
from motionpred.geometry.frames import to_local

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Prediction:
    """K futures of the agents of one scene.

    Joint: mode k is one future of the whole scene, ``probability`` is ``[K]``. Marginal: each agent
    has modes of its own, ``probability`` is ``[A, K]`` and mode k of two agents is unrelated.
    Modes are sorted by falling probability when joint.
    """

    scene_id: str
    track_id: Array  # [A] str
    time: Array  # [T] float64, seconds after now
    position: Array  # [K, A, T, 2] float64, metres, world frame
    probability: Array  # [K] joint or [A, K] marginal, float64, sums to 1 over K
    joint: bool
    heading: Array | None = None  # [K, A, T] float64, radians in (-pi, pi], world frame
    scale: Array | None = None  # [K, A, T, 2] float64, Laplace b per axis, agent's own frame at now
    source: str = ""  # the model that made it
    dataset: str = ""

    @property
    def modes(self) -> int:
        """K."""
        return int(self.position.shape[0])

    def validate(self) -> Prediction:
        """Check shapes, finiteness and probabilities; return the prediction itself.

        Raises:
            SceneError: names the field of the first fault.
        """
        agents, steps = len(self.track_id), len(self.time)
        shapes: dict[str, tuple[int, ...]] = {
            "position": (self.modes, agents, steps, 2),
            "probability": (self.modes,) if self.joint else (agents, self.modes),
            "heading": (self.modes, agents, steps),
            "scale": (self.modes, agents, steps, 2),
        }
        for name, shape in shapes.items():
            values = getattr(self, name)
            if values is None:
                continue
            if values.shape != shape:
                self._fail(name, f"has shape {values.shape}, it must be {shape}")
            if not np.isfinite(values).all():
                where = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
                self._fail(name, f"is not finite at {where}")
        if not np.isfinite(self.time).all() or (np.diff(self.time) <= 0).any():
            self._fail("time", "must be finite and increase from step to step")
        if len(set(self.track_id.tolist())) != agents:
            self._fail("track_id", "holds a track twice")
        if (self.probability < 0).any() or (self.probability > 1).any():
            self._fail("probability", "is outside 0..1")
        total = self.probability.sum(axis=-1)
        if agents and not np.allclose(total, 1.0, atol=1e-6):
            self._fail("probability", f"sums to {float(np.min(total)):.6g}, it must be 1")
        return self

    def _fail(self, field: str, message: str) -> None:
        raise SceneError(message, scene=self.scene_id, field=f"prediction.{field}")

    def marginal(self) -> Prediction:
        """The same trajectories as modes of each agent, with the scene's probabilities."""
        if not self.joint:
            return self
        probability = np.broadcast_to(self.probability, (len(self.track_id), self.modes)).copy()
        return replace(self, joint=False, probability=probability)

    def top(self, k: int) -> Prediction:
        """The ``k`` most probable modes, sorted (ties keep their order), renormalised."""
        order = np.argsort(-self.probability, axis=-1, kind="stable")[..., :k]
        probability = np.take_along_axis(self.probability, order, axis=-1)
        total = probability.sum(axis=-1, keepdims=True)
        uniform = np.full_like(probability, 1.0 / max(probability.shape[-1], 1))
        probability = np.divide(probability, total, out=uniform, where=total > 0)

        def pick(values: Array | None) -> Array | None:
            if values is None:
                return None
            if self.joint:
                return np.asarray(values[order])
            agent = np.arange(values.shape[1])
            return np.asarray(values[order.T, agent[None, :]])

        position = pick(self.position)
        assert position is not None
        return replace(
            self,
            position=position,
            heading=pick(self.heading),
            scale=pick(self.scale),
            probability=probability,
        )

    def select(self, track_ids: Iterable[str]) -> Prediction:
        """Only the given agents, in the given order; ids that were not predicted are left out."""
        place = {track: i for i, track in enumerate(self.track_id.tolist())}
        index = np.array([place[t] for t in track_ids if t in place], np.int64)
        return replace(
            self,
            track_id=self.track_id[index],
            position=self.position[:, index],
            heading=None if self.heading is None else self.heading[:, index],
            scale=None if self.scale is None else self.scale[:, index],
            probability=self.probability if self.joint else self.probability[index],
        )

    def to_frame(self, origin: Sequence[float], heading: float) -> Prediction:
        """The same futures seen from a frame at ``origin`` (x, y) that looks along ``heading``."""
        turned = None if self.heading is None else wrap(self.heading - heading)
        return replace(self, position=to_local(self.position, origin, heading), heading=turned)

    def save(self, path: str | Path) -> None:
        """Write this one forecast to a Parquet file (see :func:`save_predictions`)."""
        save_predictions(path, [self])

    @staticmethod
    def load(path: str | Path) -> list[Prediction]:
        """All forecasts of a Parquet file."""
        return list(load_predictions(path))


_FORMAT = b"motionpred.forecasts/1"
_BATCH = 256  # scenes per row group: bounded memory, few seeks


def _schema() -> Any:
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


def save_predictions(path: str | Path, predictions: Iterable[Prediction]) -> int:
    """Write forecasts to a Parquet file, one row per (scene, mode, agent); returns the scene count.

    The file appears under its name only when it is complete.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    count = 0
    seen: set[str] = set()
    try:
        with pq.ParquetWriter(part, _schema(), compression="zstd") as writer:
            rows: list[Any] = []
            for prediction in predictions:
                prediction.validate()
                if prediction.scene_id in seen:
                    raise StoreError("a scene was predicted twice", scene=prediction.scene_id)
                seen.add(prediction.scene_id)
                rows.append(_to_table(prediction))
                count += 1
                if len(rows) == _BATCH:
                    writer.write_table(pa.concat_tables(rows))
                    rows.clear()
            if rows:
                writer.write_table(pa.concat_tables(rows))
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return count


def _to_table(prediction: Prediction) -> Any:
    import pyarrow as pa

    modes, agents = prediction.modes, len(prediction.track_id)
    rows, steps = modes * agents, len(prediction.time)
    offsets = np.arange(rows + 1, dtype=np.int32) * steps

    def lists(values: Array | None) -> Any:
        if values is None:
            return pa.nulls(rows, pa.list_(pa.float64()))
        return pa.ListArray.from_arrays(
            offsets, np.ascontiguousarray(values, np.float64).reshape(-1)
        )

    probability = prediction.marginal().probability.T.reshape(-1)
    scale = prediction.scale
    columns = [
        pa.array([prediction.scene_id] * rows, pa.string()),
        pa.array([prediction.dataset] * rows, pa.string()),
        pa.array([prediction.source] * rows, pa.string()),
        pa.array([prediction.joint] * rows, pa.bool_()),
        pa.array(np.repeat(np.arange(modes, dtype=np.int32), agents)),
        pa.array(prediction.track_id.tolist() * modes, pa.string()),
        pa.array(probability, pa.float64()),
        lists(np.broadcast_to(prediction.time, (rows, steps))),
        lists(prediction.position[..., 0]),
        lists(prediction.position[..., 1]),
        lists(prediction.heading),
        lists(None if scale is None else scale[..., 0]),
        lists(None if scale is None else scale[..., 1]),
    ]
    return pa.Table.from_arrays(columns, schema=_schema())


def is_forecast_file(path: str | Path) -> bool:
    """Whether ``path`` names an existing Parquet file, so not a model."""
    path = Path(path)
    return path.suffix.lower() == ".parquet" and path.is_file()


def load_predictions(path: str | Path) -> Iterator[Prediction]:
    """The forecasts of a Parquet file, scene by scene, in the order of the file.

    Raises:
        StoreError: the file is no forecast file, is damaged, lacks rows of a scene, holds a scene
            twice, or what it says of a scene does not fit together.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"cannot be read as Parquet: {error}", file=path) from error
    seen: set[str] = set()
    with file:
        _check_schema(file.schema_arrow, path)
        for group in range(file.num_row_groups):
            try:
                table = file.read_row_group(group, columns=_schema().names)
            except (pa.ArrowException, OSError) as error:
                raise StoreError(f"is damaged: {error}", file=path, remedy=_REMEDY) from error
            for rows in _by_scene(table, path):
                prediction = _from_table(rows, path)
                if prediction.scene_id in seen:
                    raise StoreError(
                        "a scene is there twice, or its rows are not together",
                        file=path,
                        scene=prediction.scene_id,
                        remedy=_REMEDY,
                    )
                seen.add(prediction.scene_id)
                yield prediction


_REMEDY = "Make the file again with 'motionpred predict'"
_MAY_BE_EMPTY = ("heading", "scale_x", "scale_y")


def _check_schema(found: Any, path: Path) -> None:
    if (found.metadata or {}).get(b"format") != _FORMAT:
        raise StoreError("is no forecast file", file=path, remedy=_REMEDY)
    for wanted in _schema():
        index = found.get_field_index(wanted.name)  # -1: there is none, or more than one
        if index < 0 or found.field(index).type != wanted.type:
            kind = "no single column" if index < 0 else str(found.field(index).type)
            raise StoreError(
                f"is {kind}, it must be {wanted.type}",
                file=path,
                field=wanted.name,
                remedy=_REMEDY,
            )


def _by_scene(table: Any, path: Path) -> Iterator[Any]:
    """The rows of each scene, in the order of the table."""
    for name in table.column_names:
        if name not in _MAY_BE_EMPTY and table.column(name).null_count:
            raise StoreError("has empty cells", file=path, field=name, remedy=_REMEDY)
    if table.num_rows == 0:
        return
    scene_ids = np.array(table.column("scene_id").to_pylist(), np.str_)
    starts = np.flatnonzero(np.r_[True, scene_ids[1:] != scene_ids[:-1]])
    for start, stop in zip(starts, [*starts[1:], len(scene_ids)], strict=True):
        yield table.slice(int(start), int(stop - start))


def _from_table(table: Any, path: Path) -> Prediction:
    """The forecast of one scene; what has to be the same in several rows is compared."""
    scene_id = table.column("scene_id")[0].as_py()

    def fail(field: str, message: str) -> NoReturn:
        raise StoreError(message, file=path, scene=scene_id, field=field, remedy=_REMEDY)

    mode = table.column("mode").to_numpy()
    modes = int(mode.max()) + 1
    agents = len(mode) // max(modes, 1)
    complete = len(mode) == modes * agents
    if not complete or not np.array_equal(mode, np.repeat(np.arange(modes), agents)):
        fail("mode", "rows of a mode are missing")
    steps = len(table.column("time")[0])

    def values(name: str) -> Array | None:
        column = table.column(name).combine_chunks()
        if column.null_count == len(column):
            return None
        if column.null_count:
            fail(name, "is missing in some rows")
        if (column.value_lengths().to_numpy() != steps).any():
            fail(name, "has a wrong length")
        flat = column.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(flat.reshape(modes, agents, steps))

    def same(name: str, found: Array) -> Array:
        """The one row that all rows of ``found`` are."""
        if (found != found[0]).any():
            fail(name, "is not the same in all rows of the scene")
        return np.asarray(found[0])

    def word(name: str) -> Any:
        return same(name, np.array(table.column(name).to_pylist())).item()

    x, y, time = values("x"), values("y"), values("time")
    scale_x, scale_y = values("scale_x"), values("scale_y")
    assert x is not None and y is not None and time is not None  # no cell of theirs is empty
    if (scale_x is None) != (scale_y is None):
        fail("scale_x" if scale_x is None else "scale_y", "is missing")
    tracks = np.array(table.column("track_id").to_pylist(), np.str_).reshape(modes, agents)
    probability = table.column("probability").to_numpy().reshape(modes, agents)
    joint = bool(word("joint"))
    if not np.isfinite(time).all():
        fail("time", "is not finite")
    try:
        return Prediction(
            scene_id=scene_id,
            dataset=word("dataset"),
            source=word("source"),
            track_id=same("track_id", tracks),
            time=same("time", time.reshape(modes * agents, steps)),
            position=np.stack([x, y], axis=-1),
            heading=values("heading"),
            scale=None if scale_x is None else np.stack([scale_x, scale_y], axis=-1),
            # The scene's probability of a mode stands beside every agent.
            probability=same("probability", probability.T) if joint else probability.T.copy(),
            joint=joint,
        ).validate()
    except SceneError as error:
        raise StoreError(
            error.message, file=path, scene=scene_id, field=error.field, remedy=_REMEDY
        ) from error
