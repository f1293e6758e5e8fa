"""Torch checkpoints and other foreign files: read safely, or refused by name.

A pickle can run any code when it is loaded. Only ``torch.load(weights_only=True)`` touches one
here; it knows tensors and plain containers and refuses the rest before anything is called.
"""

from __future__ import annotations

import pickle
import pickletools
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

import torch

from motionpred.errors import BundleError

_REMEDY = "A bundle is a folder or .zip file that motionpred.models.save_bundle wrote"
_GLOBAL = re.compile(r"GLOBAL ([\w.]+)")  # as torch names what it refuses
_STRINGS = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE")
# What torch itself writes for tensors and plain containers.
_HARMLESS = re.compile(r"(torch\.|collections\.OrderedDict$)")
_DAMAGED = (RuntimeError, EOFError, OSError, ValueError, KeyError, IndexError, zipfile.BadZipFile)


def read_checkpoint(path: Path | str) -> dict[str, Any]:
    """A training checkpoint with tensors on the CPU, whatever device they came from.

    Raises:
        BundleError: there is none, it is damaged, or it holds anything but tensors and plain
            values (names the foreign type).
    """
    path = Path(path)
    if not path.is_file():
        raise BundleError("is no checkpoint file", file=path)
    try:
        with warnings.catch_warnings():
            # An unusual pickle protocol is no trouble of its own: it loads or is refused.
            warnings.filterwarnings("ignore", message="Detected pickle protocol")
            content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        imports = _imports(path)
        if imports is None:
            raise BundleError("is no checkpoint", file=path) from error
        told = _GLOBAL.search(str(error))
        _refuse(path, told.group(1) if told else _foreign(imports) or "object")
    except _DAMAGED as error:
        message = f"is damaged or no checkpoint ({type(error).__name__})"
        raise BundleError(message, file=path) from error
    if not isinstance(content, dict):
        raise BundleError(f"holds a {type(content).__name__}, not a mapping", file=path)
    return content


def refuse_foreign(path: Path) -> NoReturn:
    """Say why ``path``, which is no bundle, is not loaded; nothing in it is executed.

    Raises:
        BundleError: always; names the foreign type of a pickle.
    """
    imports = _imports(path)
    if imports is None:
        raise BundleError("is no bundle", file=path, remedy=_REMEDY)
    foreign = _foreign(imports)
    if foreign is not None:
        _refuse(path, foreign)
    raise BundleError("is a checkpoint or pickle, not a bundle", file=path, remedy=_REMEDY)


def _refuse(path: Path, foreign: str) -> NoReturn:
    raise BundleError(
        f"holds a pickled {foreign}, which could run code, and was not opened",
        file=path,
        field=foreign,
        remedy="Only tensors and plain values are loaded; convert the file where it was made",
    )


def _foreign(imports: list[str]) -> str | None:
    return next((name for name in imports if not _HARMLESS.match(name)), None)


def _imports(path: Path) -> list[str] | None:
    """What the pickle in ``path`` would import, read without running it; None: it is no pickle."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            return _scan(file)
    with zipfile.ZipFile(path) as archive:
        pickles = [name for name in archive.namelist() if name.endswith(".pkl")]
        if not pickles:
            return None
        with archive.open(pickles[0]) as file:
            return _scan(file) or []


def _scan(file: IO[bytes]) -> list[str] | None:
    names: list[str] = []
    strings: list[str] = []
    complete = False
    marked = file.read(1) == b"\x80"  # protocol 2 and later say so
    file.seek(0)
    try:
        for operation, argument in _operations(file):
            if operation == "GLOBAL":
                names.append(str(argument).replace(" ", "."))
            elif operation == "STACK_GLOBAL":
                names.append(".".join(strings[-2:]))
            elif operation in _STRINGS:
                strings.append(str(argument))
            complete |= operation == "STOP"
    except (ValueError, IndexError, UnicodeDecodeError):
        pass  # the end of the last whole pickle, or of something that is none
    return names if marked or complete else None


def _operations(file: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Opcodes of all pickles that follow one another (torch used to write several to a file)."""
    while True:
        for operation, argument, _ in pickletools.genops(file):
            yield operation.name, argument
