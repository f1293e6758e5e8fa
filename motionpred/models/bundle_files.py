"""The files of a bundle on disk: written whole or not at all, read without trusting them."""

from __future__ import annotations

import io
import os
import shutil
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path

from motionpred.errors import BundleError
from motionpred.files import write_atomically
from motionpred.models.checkpoint import refuse_foreign

CONFIG, CARD, WEIGHTS = "config.yaml", "card.md", "model.safetensors"
_LIMITS = {CONFIG: 1 << 20, CARD: 1 << 20, WEIGHTS: 4 << 30}  # bytes
_ANY_DATE = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes


def write_files(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a bundle to the folder or ``.zip`` file ``path``; one that is there is replaced.

    Raises:
        BundleError: ``path`` is there and is not a bundle.
    """
    if path.exists() and not _may_replace(path):
        raise BundleError(
            "is there already and is not only a bundle", file=path, remedy="Choose another name"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        write_atomically(path, _zipped(files))
        return
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        _write_folder(draft, path, files)
    finally:
        if draft.is_dir():
            shutil.rmtree(draft)


def _write_folder(draft: Path, path: Path, files: Mapping[str, bytes]) -> None:
    draft.mkdir()
    for name, content in files.items():
        (draft / name).write_bytes(content)
        _flush(draft / name)
    if not path.exists():
        draft.replace(path)
        return
    # A folder cannot replace another in one step: the old one steps aside first.
    old = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.old")
    path.replace(old)
    draft.replace(path)
    shutil.rmtree(old)


def _flush(file: Path) -> None:
    with file.open("rb") as handle:
        os.fsync(handle.fileno())


def _zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _ANY_DATE), content)
    return buffer.getvalue()


def _may_replace(path: Path) -> bool:
    """A bundle and nothing else: a folder that holds more is somebody's."""
    if path.is_dir():
        return {entry.name for entry in path.iterdir()} <= set(_LIMITS)
    return _is_zipped_bundle(path)


def _is_zipped_bundle(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return CONFIG in archive.namelist()


def read_files(path: Path) -> dict[str, bytes]:
    """Content of the files of the bundle at ``path`` by name; nothing is unpacked to disk.

    Raises:
        BundleError: nothing is there, it is no bundle, a file is missing or too large, or the
            archive holds anything else.
    """
    if path.is_dir():
        return {name: _read_plain(path, name) for name in (CONFIG, WEIGHTS)}
    if not path.exists():
        raise BundleError("does not exist", file=path)
    if not _is_zipped_bundle(path):
        refuse_foreign(path)
    return _read_zip(path)


def _read_plain(folder: Path, name: str) -> bytes:
    file = folder / name
    if not file.is_file():
        raise BundleError("is not there: the folder is no bundle", file=file)
    _check_size(file.stat().st_size, file)
    return file.read_bytes()


def _read_zip(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            for name in names:
                if name not in _LIMITS or names.count(name) > 1:
                    raise BundleError("does not belong in a bundle", file=path, field=name)
            if WEIGHTS not in names:
                raise BundleError("is not there", file=path / WEIGHTS)
            return {name: _read_entry(archive, name, path) for name in (CONFIG, WEIGHTS)}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise BundleError(f"is damaged: {error}", file=path) from error


def _read_entry(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    declared = archive.getinfo(name).file_size
    _check_size(declared, path / name)
    with archive.open(name) as entry:
        return entry.read(declared + 1)


def _check_size(size: int, file: Path) -> None:
    if size > _LIMITS[file.name]:
        message = f"has {size} bytes, more than the {_LIMITS[file.name]} that are allowed"
        raise BundleError(message, file=file)
