"""The file of one shard: written scene by scene so that every finished scene survives a kill.

An Arrow IPC file is a magic word, a stream of messages, and a footer. While the footer is not
there yet, the messages still are a stream that can be read up to the last whole one.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motionpred.store.layout import is_layout, schema

if TYPE_CHECKING:
    import pyarrow as pa

COMPRESSIONS = ("zstd", "lz4")
_ZSTD_LEVEL = 6
_MAGIC = b"ARROW1\0\0"


@dataclass(frozen=True)
class Mark:
    """What else had happened in the shard when a scene was written; kept beside its batch."""

    failed: int
    skipped: int
    checksum: int  # CRC-32 of the batch's buffers: a torn page after a power cut is not a scene


class ShardWriter:
    """Writes record batches to ``path``; each is in the file when :meth:`write` returns.

    ``sha256`` and ``bytes`` are those of the whole file once it is closed.
    """

    def __init__(self, path: Path, compression: str | None) -> None:
        import pyarrow as pa

        self._sink = _Sink(path)
        try:
            self._writer = pa.ipc.new_file(
                pa.PythonFile(self._sink, "w"), schema(), options=_options(compression)
            )
        except BaseException:
            self._sink.close()
            raise

    def write(self, batch: pa.RecordBatch, *, failed: int, skipped: int) -> None:
        """Append one scene."""
        import pyarrow as pa

        # As a reader will see it: buffers in memory may be longer than what is written of them.
        batch = pa.ipc.read_record_batch(batch.serialize(), schema())
        mark = Mark(failed, skipped, _checksum(batch))
        self._writer.write_batch(batch, custom_metadata={"mark": json.dumps(asdict(mark))})
        self._sink.push()

    def finish(self) -> None:
        """Write the footer and force everything to the disk."""
        self._writer.close()
        self._sink.push()
        self._sink.sync()
        self._sink.close()

    def abandon(self) -> None:
        """Close the file as it is: what was written can be recovered."""
        self._sink.close()

    @property
    def bytes(self) -> int:
        """Bytes written so far."""
        return self._sink.size

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes written so far."""
        return self._sink.digest.hexdigest()


class _Sink:
    """A file for Arrow to write to: unbuffered, so that an error comes from the write it is of."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=0)
        self._pending = bytearray()
        self.digest = hashlib.sha256()
        self.size = 0

    @property
    def closed(self) -> bool:
        return self._file.closed

    def tell(self) -> int:
        return self.size + len(self._pending)

    def write(self, data: bytes) -> int:
        self._pending += data
        return len(data)

    def flush(self) -> None:
        """Arrow asks for it; :meth:`push` is what counts."""

    def push(self) -> None:
        left = memoryview(bytes(self._pending))
        self.digest.update(left)
        self.size += len(left)
        self._pending.clear()
        while left:
            left = left[self._file.write(left) :]

    def sync(self) -> None:
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def _options(compression: str | None) -> Any:
    import pyarrow as pa

    codec: Any = compression
    if compression == "zstd":
        codec = pa.Codec("zstd", compression_level=_ZSTD_LEVEL)
    # One thread, so that workers do not fight over the cores.
    return pa.ipc.IpcWriteOptions(compression=codec, use_threads=False)


def _checksum(batch: pa.RecordBatch) -> int:
    value = 0
    for column in batch.columns:
        for buffer in column.buffers():
            if buffer is not None:
                value = zlib.crc32(buffer, value)
    return value


def recovered(path: Path) -> Iterator[tuple[pa.RecordBatch, Mark]]:
    """The whole batches of an unfinished shard, in order, up to the first that is not whole."""
    import pyarrow as pa

    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return
        try:
            reader = pa.ipc.open_stream(file)
        except (pa.ArrowException, OSError, EOFError):
            return
        if not is_layout(reader.schema):
            return
        while True:
            try:
                batch, metadata = reader.read_next_batch_with_custom_metadata()
                mark = Mark(**json.loads(metadata[b"mark"]))
            except (StopIteration, pa.ArrowException, OSError, ValueError, KeyError, TypeError):
                return
            if _checksum(batch) != mark.checksum:
                return
            yield batch, mark
