"""Several arrays in one block of memory.

A block of megabytes is taken from and given back to the system as a whole; many smaller ones cost
more in page faults than in copying.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_ALIGNMENT = 16  # bytes, a multiple of every item size


Layout = tuple[tuple[int, ...], np.dtype[Any]]  # shape and type


def allocate(layouts: Mapping[str, Layout]) -> dict[str, Array]:
    """Arrays of the layouts asked for, by name, side by side; what is in them is garbage."""
    places, end = {}, 0
    for name, (shape, dtype) in layouts.items():
        stop = end + math.prod(shape) * dtype.itemsize
        places[name] = slice(end, stop)
        end = -(-stop // _ALIGNMENT) * _ALIGNMENT
    block = np.empty(end, np.uint8)
    return {n: block[places[n]].view(dtype).reshape(shape) for n, (shape, dtype) in layouts.items()}
