"""The Parquet file that holds forecasts of many scenes; its columns are told in ``rows.py``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from motionpred.errors import StoreError
from motionpred.files import replacing
from motionpred.prediction.prediction import Prediction
from motionpred.prediction.rows import REMEDY, check_schema, from_table, schema, to_table

# A row group ends after so many scenes or bytes: bounded memory, few seeks.
_GROUP_SCENES = 256
_GROUP_BYTES = 32 << 20


def is_forecast_file(path: str | Path) -> bool:
    """Whether ``path`` names an existing Parquet file, so not a model."""
    path = Path(path)
    return path.suffix.lower() == ".parquet" and path.is_file()


def save_predictions(path: str | Path, predictions: Iterable[Prediction]) -> int:
    """Write forecasts to a Parquet file, one row per (scene, mode, agent); returns the scene count.

    A scene in which nobody is forecast is kept too. The file appears under its name only when it is
    complete; ``predictions`` may be a generator of any length.

    Raises:
        SceneError: a prediction is not valid.
        StoreError: a scene comes twice, or its name cannot be written.
    """
    import pyarrow.parquet as pq

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with (
        replacing(path) as part,
        # With checksums a flipped bit on the disk is an error and not another number.
        pq.ParquetWriter(part, schema(), compression="zstd", write_page_checksum=True) as writer,
    ):
        for group, scenes in _groups(path, predictions):
            writer.write_table(group, row_group_size=group.num_rows)
            count += scenes
    return count


def _groups(path: Path, predictions: Iterable[Prediction]) -> Iterator[tuple[Any, int]]:
    """The rows of each row group, and of how many scenes they are."""
    import pyarrow as pa

    seen: set[str] = set()
    waiting: list[Any] = []
    size = 0
    for prediction in predictions:
        prediction.validate()
        if prediction.scene_id in seen:
            raise StoreError("a scene was predicted twice", file=path, scene=prediction.scene_id)
        seen.add(prediction.scene_id)
        waiting.append(to_table(prediction))
        size += waiting[-1].nbytes
        if len(waiting) == _GROUP_SCENES or size >= _GROUP_BYTES:
            yield pa.concat_tables(waiting), len(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.concat_tables(waiting), len(waiting)


def load_predictions(path: str | Path) -> Iterator[Prediction]:
    """The forecasts of a Parquet file, scene by scene, in the order of the file.

    Raises:
        StoreError: as :class:`ForecastFile`.
    """
    with ForecastFile(path) as file:
        yield from file


class ForecastFile:
    """A file of forecasts: scenes by id, in any order or in that of the file.

    Opening it reads the column of scene ids; after that one row group at a time is in memory.
    Reading scenes in the order of the file reads each row group once.

    Raises:
        StoreError: the file is no forecast file, is damaged, lacks rows of a scene, holds a scene
            twice, or what it says of a scene does not fit together. What concerns one scene is
            raised when that scene is read.
    """

    def __init__(self, path: str | Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path = Path(path)
        try:
            self._file = pq.ParquetFile(self.path, page_checksum_verification=True)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise StoreError(f"cannot be read as Parquet: {error}", file=self.path) from error
        try:
            check_schema(self._file.schema_arrow, self.path)
            self._first_rows: list[int] = []  # of each row group
            self._rows = self._index()
        except BaseException:
            self.close()
            raise
        self._held: tuple[int, Any] | None = None  # the row group that was read last

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, scene_id: object) -> bool:
        return scene_id in self._rows

    def __iter__(self) -> Iterator[Prediction]:
        for rows in self._rows.values():
            yield from_table(self._read_rows(*rows), self.path)

    @property
    def scene_ids(self) -> list[str]:
        """Ids of the scenes, in the order of the file."""
        return list(self._rows)

    def get(self, scene_id: str) -> Prediction | None:
        """The forecast of a scene, None where the file has none."""
        rows = self._rows.get(scene_id)
        return None if rows is None else from_table(self._read_rows(*rows), self.path)

    def close(self) -> None:
        """Close the file; nothing more can be read."""
        self._file.close()

    def __enter__(self) -> ForecastFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _index(self) -> dict[str, tuple[int, int]]:
        """First and last (exclusive) row of each scene."""
        import pyarrow.compute as pc

        found: dict[str, tuple[int, int]] = {}
        row, last = 0, None
        for group in range(self._file.num_row_groups):
            self._first_rows.append(row)
            ids = self._read_group(group, ["scene_id"]).column(0).combine_chunks()
            if ids.null_count:
                raise StoreError("has empty cells", file=self.path, field="scene_id", remedy=REMEDY)
            if len(ids) == 0:
                continue
            changes = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1))
            starts = np.flatnonzero(np.r_[True, changes.to_numpy(zero_copy_only=False)])
            for start, stop in zip(starts, [*starts[1:], len(ids)], strict=True):
                scene_id = ids[int(start)].as_py()
                goes_on = scene_id == last  # across the end of a row group
                if scene_id in found and not goes_on:
                    raise StoreError(
                        "a scene is there twice, or its rows are not together",
                        file=self.path,
                        scene=scene_id,
                        remedy=REMEDY,
                    )
                first = found[scene_id][0] if goes_on else row + int(start)
                found[scene_id] = (first, row + int(stop))
                last = scene_id
            row += len(ids)
        if row != self._file.metadata.num_rows:
            raise StoreError("is damaged: it lacks rows", file=self.path, remedy=REMEDY)
        return found

    def _read_rows(self, start: int, stop: int) -> Any:
        """Rows of the file; only another program puts those of a scene into two row groups."""
        import pyarrow as pa

        parts = []
        group = bisect_right(self._first_rows, start) - 1
        while group < len(self._first_rows) and self._first_rows[group] < stop:
            first = self._first_rows[group]
            if self._held is None or self._held[0] != group:
                self._held = None  # never two at a time
                self._held = group, self._read_group(group, schema().names)
            begin = max(start - first, 0)
            parts.append(self._held[1].slice(begin, stop - first - begin))
            group += 1
        return pa.concat_tables(parts)

    def _read_group(self, group: int, columns: list[str]) -> Any:
        import pyarrow as pa

        try:
            table = self._file.read_row_group(group, columns=columns)
            table.validate(full=True)  # also that texts are texts
        except (pa.ArrowException, OSError) as error:
            raise StoreError(f"is damaged: {error}", file=self.path, remedy=REMEDY) from error
        return table
