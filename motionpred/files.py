"""Writing files so that a name never stands for half a file, and hashing them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CHUNK = 1 << 20


def write_atomically(path: Path, data: bytes, *, fsync: bool = True) -> None:
    """Write ``data`` to ``path``, whole or not at all (see :func:`replacing`)."""
    with replacing(path, fsync=fsync) as part:
        part.write_bytes(data)


@contextmanager
def replacing(path: Path, *, fsync: bool = True) -> Iterator[Path]:
    """The temporary path to write to; ``path`` becomes that file when the block ends well.

    On any error the temporary file is removed and ``path`` stays what it was. One that a killed
    process left is overwritten, so two processes may not write one name at a time. ``fsync`` forces
    the file and its name to the disk, so that also a loss of power leaves no half file. The folder
    of ``path`` has to be there.
    """
    part = path.with_name(path.name + ".part")
    try:
        yield part
        if fsync:
            with part.open("rb+") as file:
                os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if fsync:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Force a rename in ``folder`` to the disk, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, read piece by piece."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
