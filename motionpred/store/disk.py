"""Disk space: an estimate before the bulk of the work, and errors that say how much is missing."""

from __future__ import annotations

import errno
import shutil
import sys
from pathlib import Path

from motionpred.errors import StoreError
from motionpred.store.job import ShardCounts

ESTIMATE_AFTER = 20  # scenes that are measured before the rest is built
_FULL = {errno.ENOSPC, errno.EFBIG, *([errno.EDQUOT] if hasattr(errno, "EDQUOT") else [])}


class DiskFullError(StoreError):
    """The store does not fit on the disk."""


def is_disk_full(error: BaseException) -> bool:
    """Whether a write failed because there is no room: disk, quota or file-size limit."""
    return isinstance(error, OSError) and error.errno in _FULL


def bytes_to_come(counts: ShardCounts, sources: int) -> float | None:
    """What the sources that are left will take, from those read in this run; None: not known yet.

    ``counts`` are the sums over all shards, its ``bytes`` those written in this run.
    """
    if counts.fresh_sources == 0:
        return None
    return counts.bytes / counts.fresh_sources * max(sources - counts.sources, 0)


def check_space(out: Path, counts: ShardCounts, sources: int) -> None:
    """Compare what is still to come with what is free.

    Raises:
        DiskFullError: it will not fit; names both figures.
    """
    needed = bytes_to_come(counts, sources)
    free = shutil.disk_usage(out).free
    if needed is not None and needed > free:
        raise DiskFullError(
            f"the store needs about {size(needed)} more (measured on {counts.built} scenes) "
            f"and {size(free)} are free",
            file=out,
            remedy=_remedy(),
        )


def disk_full(error: OSError, out: Path, counts: ShardCounts, sources: int) -> DiskFullError:
    """The error for a write that failed in the middle of the work."""
    free = shutil.disk_usage(out).free
    needed = bytes_to_come(counts, sources)
    about = f"about {size(needed)} more" if needed else "more room"
    if error.errno == errno.EFBIG:
        return DiskFullError(
            f"a file became larger than the limit of {_file_size_limit()} that this process has; "
            f"the store needs {about}, {size(free)} are free",
            file=out,
            remedy="Raise the limit (ulimit -f), or prepare with a smaller shard_size",
        )
    quota = " (a quota may be smaller)" if error.errno not in (errno.ENOSPC, errno.EFBIG) else ""
    return DiskFullError(
        f"the disk is full: the store needs {about}, {size(free)} are free{quota}",
        file=out,
        remedy=_remedy(),
    )


def _remedy() -> str:
    return (
        "Free some space and run it again (finished shards are kept), choose another disk, "
        "compress (zstd), or select fewer scenes"
    )


def _file_size_limit() -> str:
    if sys.platform == "win32":
        return "the file system"
    import resource

    return size(resource.getrlimit(resource.RLIMIT_FSIZE)[0])


def size(count: float) -> str:
    """A number of bytes as people read it: ``1.5 GB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
