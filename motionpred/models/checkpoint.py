"""Torch checkpoints and other foreign files: read safely, or refused by name.

A pickle can run any code when it is loaded. Only ``torch.load(weights_only=True)`` touches one here;
it knows tensors and plain containers and refuses the rest before anything is called.
"""

from __future__ import annotations

import pickle
import pickletools
import re
import zipfile
from pathlib import Path
from typing import Any, NoReturn

import torch

from motionpred.errors import BundleError

_GLOBAL = re.compile(r"GLOBAL ([\w.]+)")
_STRINGS = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE")
# What torch itself writes for tensors and plain containers.
_HARMLESS = re.compile(r"(torch\.|torch$|collections\.OrderedDict$|numpy\.|_codecs\.encode$)")


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
        content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        found = _GLOBAL.search(str(error))
        _refuse(path, found.group(1) if found else _foreign_type(path), error)
    except (RuntimeError, EOFError, OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise BundleError(f"is damaged or no checkpoint: {_first_line(error)}", file=path) from error
    if not isinstance(content, dict):
        raise BundleError(f"holds a {type(content).__name__}, not a mapping", file=path)
    return content


def refuse_foreign(path: Path) -> NoReturn:
    """Say why ``path``, which is no bundle, is not loaded; nothing in it is executed.

    Raises:
        BundleError: always; names the foreign type of a pickle.
    """
    if not _is_pickle(path):
        raise BundleError("is no bundle", file=path, remedy=_REMEDY)
    read_checkpoint(path)
    raise BundleError("is a checkpoint, not a bundle", file=path, remedy=_REMEDY)


_REMEDY = "A bundle is a folder or .zip file that motionpred.models.bundle.save_bundle wrote"


def _refuse(path: Path, foreign: str, error: Exception) -> NoReturn:
    raise BundleError(
        f"holds a pickled {foreign}, which could run code, and was not opened",
        file=path,
        field=foreign,
        remedy="Only tensors and plain values are loaded; convert the file where it was made",
    ) from error


def _is_pickle(path: Path) -> bool:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(".pkl") for name in archive.namelist())
    with path.open("rb") as file:
        start = file.read(2)
    # Protocol 2 and later say so; older ones begin with an opcode in text.
    return start[:1] == b"\x80" or (start[:1] in (b"c", b"(") and _foreign_type(path) != "object")


def _foreign_type(path: Path) -> str:
    """The first type or function that the pickle would import, read without running it."""
    names: list[str] = []
    try:
        for operation, argument, _ in pickletools.genops(_pickle_bytes(path)):
            if operation.name == "GLOBAL":
                names.append(str(argument).replace(" ", "."))
                if not _HARMLESS.match(names[-1]):
                    return names[-1]
            elif operation.name == "STACK_GLOBAL" and len(names) >= 2:
                name = ".".join(names[-2:])
                if not _HARMLESS.match(name):
                    return name
            elif operation.name in _STRINGS:
                names.append(str(argument))
    except ValueError:  # cut off, or no pickle after all
        pass
    return "object"


def _pickle_bytes(path: Path) -> bytes:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".pkl"))
            return archive.read(name)
    return path.read_bytes()


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
