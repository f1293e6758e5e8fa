"""Random numbers keyed by integers: the same on every machine and in every process.

Only uniform doubles are drawn, and they are combined by additions and products alone: no library
function whose last bit depends on the processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
T = TypeVar("T")


class Draws:
    """A stream of random numbers that depends on its key and on nothing else."""

    def __init__(self, *key: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(key)))

    def table(self, *shape: int) -> Array:
        """Uniform numbers in [0, 1) of a shape."""
        return self._generator.random(shape)

    def between(self, low: float, high: float, *shape: int) -> Array:
        """Uniform numbers in [low, high) of a shape."""
        return low + (high - low) * self._generator.random(shape)

    def bell(self, *shape: int) -> Array:
        """Bell-shaped numbers of mean 0 and deviation 1: four uniform ones, within ±3.5."""
        parts = self._generator.random((4, *shape))
        return np.asarray((parts[0] + parts[1] + parts[2] + parts[3] - 2.0) * 3.0**0.5)

    def number(self, low: float, high: float) -> float:
        """One uniform number in [low, high)."""
        return low + (high - low) * float(self._generator.random())

    def integer(self, low: int, high: int) -> int:
        """One integer in low..high, both included."""
        return low + int(self._generator.random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """True with a probability."""
        return bool(self._generator.random() < probability)

    def choose(self, options: Sequence[T], weights: Sequence[float]) -> T:
        """One of ``options``, by weight."""
        wanted = self._generator.random() * sum(weights)
        for option, weight in zip(options, weights, strict=True):
            wanted -= weight
            if wanted < 0:
                return option
        return options[-1]


def pick(options: Array, share: Array, number: Array) -> Array:
    """One entry of each row of ``options`` by a uniform number ``[n]``.

    ``share`` has the probabilities of the entries added up along each row; the last is 1.
    """
    chosen = (number[:, None] >= share).sum(axis=1)
    return np.asarray(options[np.arange(len(options)), chosen])
