"""The checkpoint files of a run: two generations, each written whole or not at all."""

from __future__ import annotations

import os
import warnings
import zipfile
from pathlib import Path
from typing import Any

from motionpred.errors import BundleError
from motionpred.models.checkpoint import read_checkpoint

FOLDER = "checkpoints"
LAST, BEFORE_LAST = "last.ckpt", "before_last.ckpt"
DRAFT = "draft.part"


def keep(folder: Path) -> None:
    """The file ``draft.part`` becomes the last checkpoint, the last becomes the one before."""
    draft, last = folder / DRAFT, folder / LAST
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    if last.exists():
        last.replace(folder / BEFORE_LAST)
    # Killed here, there is no last one, and the one before is taken.
    draft.replace(last)


def newest(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """The newest whole checkpoint with its content; None where there never was one.

    A damaged one is passed over with a warning.

    Raises:
        BundleError: all that are there are damaged.
    """
    damaged: list[BundleError] = []
    for name in (LAST, BEFORE_LAST):
        path = folder / name
        if not path.exists():
            continue
        try:
            content = read_whole(path)
        except BundleError as error:
            damaged.append(error)
            continue
        for fault in damaged:
            warnings.warn(f"{fault}. The one before it is taken: {path}", stacklevel=2)
        return path, content
    if damaged:
        raise damaged[0]
    return None


def read_whole(path: Path) -> dict[str, Any]:
    """A checkpoint after a look at its checksums; only tensors and plain values are loaded.

    Raises:
        BundleError: it is damaged, or holds anything else.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            broken = archive.testzip()
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise BundleError(f"is damaged ({type(error).__name__})", file=path) from error
    if broken is not None:
        raise BundleError("is damaged: its checksum is wrong", file=path, field=broken)
    return read_checkpoint(path)
