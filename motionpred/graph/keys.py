"""Stable integer keys of ids: the same on every machine, in every process, for ever."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

_MASK = (1 << 63) - 1


def stable_key(text: str) -> int:
    """A positive 63-bit key of an id (BLAKE2b of its UTF-8 bytes); never 0, which means padding."""
    digest = blake2b(text.encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") & _MASK) or 1


def stable_keys(texts: Iterable[str]) -> npt.NDArray[Any]:
    """Keys ``[n]`` int64 of several ids."""
    return np.array([stable_key(text) for text in texts], np.int64)
