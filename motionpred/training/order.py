"""Which scenes a step trains on: a pure function of the seed and the step's number.

So a run that starts again at step n sees the scenes that the uninterrupted run would have seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class SceneOrder:
    """The endless order of the scenes of some stores.

    An epoch sees each scene of a store ``weight`` times: with weight 1 once, with 3 three times,
    with 0.5 half of the store, and the other half in the next epoch.
    """

    counts: tuple[int, ...]  # scenes of each store
    batch_size: int
    seed: int
    weights: tuple[float, ...] = ()  # of each store; all 1 if not given

    @property
    def epoch_scenes(self) -> int:
        """Scenes that an epoch sees, those that come again too."""
        return sum(self._shares())

    @property
    def epoch_steps(self) -> int:
        """Steps of an epoch; the last may be smaller."""
        return steps_per_epoch(self.epoch_scenes, self.batch_size)

    def epoch(self, step: int) -> int:
        """The epoch that ``step`` (from 0, endless) belongs to."""
        return step // self.epoch_steps

    def scenes(self, step: int) -> Array:
        """Indices ``[n]`` over all stores of the scenes of a step, ``1 <= n <= batch_size``.

        Each epoch has an order of its own.
        """
        epoch, within = divmod(step, self.epoch_steps)
        start = within * self.batch_size
        return _order(self, epoch)[start : start + self.batch_size]

    def _shares(self) -> list[int]:
        """Scenes of an epoch that come from each store."""
        weights = self.weights or (1.0,) * len(self.counts)
        return [
            max(round(weight * count), 1) if count else 0
            for count, weight in zip(self.counts, weights, strict=True)
        ]

    def chosen(self, epoch: int) -> Array:
        """Indices of the scenes of an epoch, store by store."""
        parts = []
        for store, (count, share) in enumerate(zip(self.counts, self._shares(), strict=True)):
            begin = sum(self.counts[:store])
            parts.append(begin + _drawn(count, share, epoch, (self.seed, store)))
        return np.concatenate(parts)


def steps_per_epoch(scenes: int, batch_size: int) -> int:
    """Steps in which each scene is seen once; the last may be smaller."""
    return -(-scenes // batch_size)


@lru_cache(maxsize=2)
def _order(order: SceneOrder, epoch: int) -> Array:
    chosen = order.chosen(epoch)
    return chosen[np.random.default_rng((order.seed, epoch)).permutation(len(chosen))]


def _drawn(count: int, share: int, epoch: int, key: Sequence[int]) -> Array:
    """The next ``share`` scenes of a store of ``count``, which is gone through again and again.

    Each pass has an order of its own, so over the epochs every scene comes equally often.
    """
    if share == count:
        return np.arange(count)
    place = np.arange(epoch * share, (epoch + 1) * share)
    passes = place // count if count else place
    drawn = np.empty(share, np.int64)
    for number in np.unique(passes):
        own = passes == number
        order = np.random.default_rng((*key, int(number), 1)).permutation(count)
        drawn[own] = order[place[own] % count]
    return drawn


def parts_of_step(indices: Array, *, rank: int, world: int, parts: int) -> list[Array]:
    """This device's share of a step, split into at most ``parts`` non-empty parts.

    Empty where there are fewer scenes than devices.
    """
    share = indices[rank::world]
    return [share[part::parts] for part in range(min(parts, len(share)))]
