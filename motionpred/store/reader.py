"""Reading a store: scenes at random from memory-mapped shards."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.errors import StoreError
from motionpred.files import sha256_of
from motionpred.scene import Scene
from motionpred.store.decoding import decode
from motionpred.store.failures import Failure
from motionpred.store.job import BUILD, ShardRecord, finished_records
from motionpred.store.layout import is_layout
from motionpred.store.manifest import (
    FAILURES,
    INDEX,
    MANIFEST,
    REMEDY,
    Manifest,
    ShardInfo,
    content_hash,
)

Array = npt.NDArray[Any]


class Store:
    """The scenes of a store, by place or by id.

    Files are mapped when they are first needed, in each process by itself: a Store can be sent to
    workers by pickle. Arrays of a scene may be read-only views of the map.
    """

    def __init__(self, path: str | Path, *, allow_partial: bool = False) -> None:
        """Open the store at ``path``.

        ``allow_partial`` opens an unfinished one too: the scenes of its finished shards.

        Raises:
            StoreError: ``path`` holds no store, or an unfinished one.
        """
        self.path = Path(path)
        self._partial = False
        if not (self.path / MANIFEST).exists():
            if not (self.path / BUILD).is_dir():
                raise StoreError(
                    "is no store", file=self.path, remedy="Make one with 'motionpred prepare'"
                )
            if not allow_partial:
                raise StoreError(
                    "the store is unfinished",
                    file=self.path,
                    remedy="Run the same 'motionpred prepare' again, it continues where it stopped",
                )
            self._partial = True
        self._open: dict[str, Any] = {}
        if not self._partial:
            _ = self.manifest

    @staticmethod
    def is_store(path: str | Path) -> bool:
        """Whether ``path`` holds a store, finished or not."""
        path = Path(path)
        return (path / MANIFEST).is_file() or (path / BUILD).is_dir()

    def __len__(self) -> int:
        return len(self._index.scene_ids)

    def __getitem__(self, index: int) -> Scene:
        """The scene at ``index`` (negative ones count from the end).

        Raises:
            IndexError: there is no such place.
            StoreError: its shard is gone or damaged; names it.
        """
        place = operator.index(index)
        size = len(self)
        if not -size <= place < size:
            raise IndexError(f"scene {place} of {size} in {self.path}")
        place %= size
        return self._read(int(self._index.shard[place]), int(self._index.row[place]), place)

    def __iter__(self) -> Iterator[Scene]:
        return (self[index] for index in range(len(self)))

    def get(self, scene_id: str) -> Scene:
        """The scene called ``scene_id``.

        Raises:
            StoreError: it is not in the store, or its shard is gone or damaged.
        """
        place = self._places.get(scene_id)
        if place is None:
            raise StoreError(
                "the scene is not in the store",
                file=self.path,
                scene=scene_id,
                remedy="'motionpred inspect' lists what is; failures.jsonl says what failed",
            )
        return self[place]

    @property
    def scene_ids(self) -> list[str]:
        """Ids of all scenes, in the order of the store."""
        return list(self._index.scene_ids)

    @property
    def splits(self) -> list[str]:
        """The split of every scene, in the order of the store."""
        return list(self._index.splits)

    @cached_property
    def manifest(self) -> Manifest:
        """What the store says about itself.

        Raises:
            StoreError: the store is unfinished, or the manifest is damaged.
        """
        return Manifest.load(self.path)

    def failures(self) -> list[Failure]:
        """The scenes that could not be prepared, and why."""
        if self._partial:
            return [failure for record in self._records for failure in record.failures]
        path = self.path / FAILURES
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            return [Failure.from_line(line) for line in lines]
        except (OSError, ValueError, TypeError) as error:
            raise _damaged(path, error) from error

    def verify(self) -> None:
        """Recompute every hash.

        Raises:
            StoreError: a file is gone or damaged; names the first.
        """
        wanted = {shard.name: shard.sha256 for shard in self._shards} | self._listed_hashes()
        for name, sha256 in wanted.items():
            path = self.path / name
            try:
                found = sha256_of(path)
            except OSError as error:
                raise _damaged(path, error) from error
            if found != sha256:
                raise StoreError(
                    f"is damaged: its SHA-256 is {found[:12]}..., it was {sha256[:12]}...",
                    file=path,
                    remedy=_REMEDY,
                )

    def _listed_hashes(self) -> dict[str, str]:
        if self._partial:
            return {}
        manifest = self.manifest
        if content_hash(manifest.shards, manifest.files) != manifest.content_hash:
            raise StoreError(
                "is damaged: its hashes do not add up", file=self.path / MANIFEST, remedy=_REMEDY
            )
        return dict(manifest.files)

    def __getstate__(self) -> dict[str, Any]:
        # What is finished of an unfinished store is the same for all that share this object.
        records = {"_records": self._records} if self._partial else {}
        return {"path": self.path, "_partial": self._partial, **records}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _open={})

    @cached_property
    def _records(self) -> list[ShardRecord]:
        return finished_records(self.path)

    @cached_property
    def _index(self) -> _Index:
        if self._partial:
            return _Index.of_records(self._records)
        return _Index.load(self.path / INDEX, len(self._shards))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {scene_id: place for place, scene_id in enumerate(self._index.scene_ids)}

    @cached_property
    def _shards(self) -> tuple[ShardInfo, ...]:
        if self._partial:
            return tuple(r.shard for r in self._records if r.shard is not None)
        return self.manifest.shards

    def _read(self, shard: int, row: int, place: int) -> Scene:
        import pyarrow as pa

        info = self._shards[shard]
        reader = self._reader(info)
        try:
            scene = decode(reader.get_batch(row))
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise _damaged(
                self.path / info.name, error, scene=self._index.scene_ids[place]
            ) from error
        if scene.scene_id != self._index.scene_ids[place]:
            raise StoreError(
                f"is damaged: it holds {scene.scene_id!r} here",
                file=self.path / info.name,
                scene=self._index.scene_ids[place],
                remedy=_REMEDY,
            )
        return scene

    def _reader(self, info: ShardInfo) -> Any:
        reader = self._open.get(info.name)
        if reader is None:
            reader = self._open[info.name] = _open_shard(self.path / info.name, info)
        return reader


_REMEDY = f"{REMEDY}; 'motionpred inspect --check' tests all of it"


def _open_shard(path: Path, info: ShardInfo) -> Any:
    import pyarrow as pa

    try:
        found = path.stat().st_size
        if found != info.bytes:
            raise StoreError(
                f"is damaged: it has {found} bytes, it had {info.bytes}",
                file=path,
                remedy=_REMEDY,
            )
        options = pa.ipc.IpcReadOptions(use_threads=False)
        reader = pa.ipc.open_file(pa.memory_map(str(path)), options=options)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from error
    if not is_layout(reader.schema) or reader.num_record_batches != info.scenes:
        raise StoreError("is damaged: it is no shard of this store", file=path, remedy=_REMEDY)
    return reader


def _damaged(path: Path, error: Exception, scene: str | None = None) -> StoreError:
    if isinstance(error, FileNotFoundError):
        return StoreError("is gone", file=path, scene=scene, remedy=_REMEDY)
    return StoreError(
        f"is damaged ({type(error).__name__}: {error})", file=path, scene=scene, remedy=_REMEDY
    )


@dataclass(frozen=True)
class _Index:
    """Where every scene is."""

    scene_ids: list[str]
    splits: list[str]
    shard: Array  # [n] int32, place in the manifest's list
    row: Array  # [n] int32, record batch in the shard

    @classmethod
    def load(cls, path: Path, shards: int) -> _Index:
        import pyarrow as pa

        try:
            with pa.ipc.open_file(str(path)) as reader:
                table = reader.read_all()
            index = cls(
                table.column("scene_id").to_pylist(),
                table.column("split").to_pylist(),
                table.column("shard").to_numpy(),
                table.column("row").to_numpy(),
            )
        except (pa.ArrowException, OSError, KeyError) as error:
            raise _damaged(path, error) from error
        if len(index.shard) and not 0 <= index.shard.min() <= index.shard.max() < shards:
            raise StoreError("is damaged: it names other shards", file=path, remedy=_REMEDY)
        return index

    @classmethod
    def of_records(cls, records: Iterable[ShardRecord]) -> _Index:
        kept = [record for record in records if record.shard is not None]
        rows = [(s, i, row) for s, record in enumerate(kept) for i, row in enumerate(record.rows)]
        return cls(
            [row.scene_id for _, _, row in rows],
            [row.split for _, _, row in rows],
            np.array([s for s, _, _ in rows], np.int32),
            np.array([i for _, i, _ in rows], np.int32),
        )
