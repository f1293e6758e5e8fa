"""One writer at a time: a file lock that the system drops when its holder dies."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from motionpred.errors import StoreError

_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


@contextlib.contextmanager
def exclusive(path: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock file ``path``; ``wait`` is the number of seconds to try.

    The lock belongs to the open file, not to the name: after a ``kill -9`` it is free again, and a
    file that was left over means nothing.

    Raises:
        StoreError: another process holds it; names that process.
    """
    until = time.monotonic() + wait
    while (descriptor := _try(path)) is None:
        if time.monotonic() >= until:
            raise StoreError(
                f"another process is writing here ({_holder(path)})",
                file=path.parent,
                remedy="Wait until it has finished, or choose another folder",
            )
        time.sleep(0.05)
    try:
        yield
    finally:
        if sys.platform == "win32":  # an open file has a fixed name there
            os.close(descriptor)
            with contextlib.suppress(OSError):
                path.unlink()
        else:
            path.unlink(missing_ok=True)
            os.close(descriptor)


def _try(path: Path) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    if not _lock(descriptor, path):
        os.close(descriptor)
        return None
    try:
        mine = os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116
    except FileNotFoundError:
        mine = False
    if not mine:  # the last holder removed the name between our opening and locking it
        os.close(descriptor)
        return _try(path)
    with contextlib.suppress(OSError):  # on a full disk the lock holds without its text
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
    return descriptor


def _lock(descriptor: int, path: Path) -> bool:
    if sys.platform == "win32":
        import msvcrt

        try:
            # Far behind the text, so that others can still read who holds it.
            os.lseek(descriptor, 1 << 20, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            warnings.warn(
                f"{path.parent} cannot be locked: do not prepare it twice at once", stacklevel=2
            )
            return True
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") or "unknown"
    except OSError:
        return "unknown"
