"""The columns of a scenario file, checked: a fault is an error that names file, scene and column.

Shapes: R rows of the file (one per track and step), W distinct words.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from motionpred.datasets.argoverse2.layout import scenario_id
from motionpred.errors import SceneError

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[Any]

_WORDS = ("track_id", "object_type", "scenario_id", "focal_track_id", "city")
_NUMBERS = (
    "observed",
    "object_category",
    "timestep",
    "position_x",
    "position_y",
    "heading",
    "velocity_x",
    "velocity_y",
    "start_timestamp",
    "end_timestamp",
    "num_timestamps",
)
_MAY_BE_EMPTY = frozenset({"object_type"})
BOOKKEEPING = ("map_id", "slice_id")  # the publisher's own, in some files


class Columns:
    """A scenario file in memory. ``scene`` is the id that errors name."""

    def __init__(self, path: Path) -> None:
        """Read the file at ``path``.

        Raises:
            SceneError: it is damaged or empty, or a column is missing or has empty cells.
        """
        self.path = path
        self.scene = scenario_id(path.name)
        self._table = self._read()

    def fail(self, message: str, field: str | None = None, remedy: str | None = None) -> NoReturn:
        """Raise a SceneError of this file."""
        raise SceneError(message, file=self.path, scene=self.scene, field=field, remedy=remedy)

    def _read(self) -> pa.Table:
        import pyarrow as pa
        import pyarrow.parquet as pq

        required = (*_WORDS, *_NUMBERS)
        try:
            metadata = pq.read_metadata(self.path)
            # By path: what lies inside a struct or a list has the same name, and is no column.
            leaves = map(metadata.schema.column, range(len(metadata.schema.names)))
            present = Counter(leaf.path for leaf in leaves)
            remedy = "Is it an Argoverse 2 forecasting scenario?"
            if missing := [name for name in required if not present[name]]:
                self.fail("lacks a column", ", ".join(missing), remedy)
            if repeated := [name for name in (*required, *BOOKKEEPING) if present[name] > 1]:
                self.fail("is there more than once", ", ".join(repeated), remedy)
            names = [*required, *(name for name in BOOKKEEPING if name in present)]
            # Words stay dictionary-encoded, as they are in the file: no string per row is made.
            with pq.ParquetFile(self.path, metadata=metadata, read_dictionary=list(_WORDS)) as file:
                # Threads cost more than they bring at a few thousand rows.
                table = file.read(names, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            self.fail(f"cannot be read: {error}", remedy="Download the file again")
        if table.num_rows == 0:
            self.fail("has no row", remedy="Download the file again")
        for name in required:
            if name not in _MAY_BE_EMPTY and table.column(name).null_count:
                self.fail("has empty cells", name)
        return table.unify_dictionaries().combine_chunks()

    def numbers(self, name: str, dtype: type[np.generic], largest: float = np.inf) -> Array:
        """A column ``[R]`` of bool, integers, or finite floats up to ``largest``."""
        values: Array = self._table.column(name).to_numpy()
        kinds = {np.bool_: "b", np.int64: "iu", np.float64: "fiu"}[dtype]
        if values.dtype.kind not in kinds:
            self.fail(f"holds {values.dtype} values, not {np.dtype(dtype)}", name)
        values = values.astype(dtype, copy=False)
        if (
            dtype is np.float64
            and not (sound := np.isfinite(values) & (abs(values) <= largest)).all()
        ):
            row = int(np.flatnonzero(~sound)[0])
            self.fail(f"is {values[row]} at {self.place(row)}", name, "Mend or leave out the row")
        return values

    def words(self, name: str) -> tuple[Array, Array]:
        """The distinct words of a column, sorted ``[W]``, and which of them each row has ``[R]``.

        Numbers are read as words (ids are compared as strings); an empty cell is ``""``.
        """
        import pyarrow as pa

        column = self._table.column(name).combine_chunks()
        if column.null_count or not pa.types.is_dictionary(column.type):
            try:
                column = column.cast(pa.string()).fill_null("").dictionary_encode()
            except pa.ArrowException:
                self.fail(f"holds {column.type}, not words", name)
        index = column.indices.to_numpy()
        try:
            listed = np.array(column.dictionary.cast(pa.string()).to_pylist(), np.str_)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            self.fail(f"holds bytes that are no text: {error}", name)
        used = np.bincount(index, minlength=len(listed)) > 0
        distinct, place = np.unique(listed[used], return_inverse=True)
        code = np.zeros(len(listed), np.int64)
        code[used] = place
        return distinct, code[index]

    def constant(self, name: str) -> str:
        """The one word of a column that speaks of the whole file."""
        distinct, _ = self.words(name)
        if len(distinct) != 1:
            values = ", ".join(map(repr, distinct[:3].tolist()))
            self.fail(f"has {len(distinct)} values: {values}", name, "A file holds one scenario")
        return str(distinct[0])

    def first(self, name: str) -> Any:
        """The first value of a column as a plain one; None where there is no such column."""
        if name not in self._table.column_names:
            return None
        return self._table.column(name)[0].as_py()

    def cell(self, name: str, row: int) -> Any:
        """The value of a cell as a plain one."""
        return self._table.column(name)[row].as_py()

    def place(self, row: int) -> str:
        """Track and step of a row, in words."""
        return f"track {self.cell('track_id', row)}, step {self.cell('timestep', row)}"
