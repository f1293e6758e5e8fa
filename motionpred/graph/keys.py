"""Stable integer keys of ids: the same on every machine, in every process, for ever."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

_MASK = np.int64((1 << 63) - 1)


def stable_keys(texts: Iterable[str]) -> npt.NDArray[Any]:
    """Positive 63-bit keys ``[n]`` int64 of ids (BLAKE2b); never 0, which means padding."""
    digests = b"".join([blake2b(text.encode(), digest_size=8).digest() for text in texts])
    return np.asarray(np.maximum(np.frombuffer(digests, "<i8") & _MASK, 1), np.int64)


def stable_key(text: str) -> int:
    """The key of one id."""
    return int(stable_keys([text])[0])
