"""Which scenes a step trains on: a pure function of the seed and the step's number.

So a run that starts again at step n sees the scenes that the uninterrupted run would have seen.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def steps_per_epoch(scenes: int, batch_size: int) -> int:
    """Steps in which each scene is seen once; the last may be smaller."""
    return -(-scenes // batch_size)


def scenes_of_step(step: int, *, scenes: int, batch_size: int, seed: int) -> Array:
    """Indices ``[n]`` of the scenes of step ``step`` (from 0, endless), ``1 <= n <= batch_size``.

    Each scene comes once per epoch; each epoch has an order of its own.
    """
    epoch, within = divmod(step, steps_per_epoch(scenes, batch_size))
    start = within * batch_size
    return _order(seed, epoch, scenes)[start : start + batch_size]


@lru_cache(maxsize=2)
def _order(seed: int, epoch: int, scenes: int) -> Array:
    return np.random.default_rng((seed, epoch)).permutation(scenes)


def parts_of_step(indices: Array, *, rank: int, world: int, parts: int) -> list[Array]:
    """This device's share of a step, split into at most ``parts`` non-empty parts.

    Empty where there are fewer scenes than devices.
    """
    share = indices[rank::world]
    return [share[part::parts] for part in range(min(parts, len(share)))]
