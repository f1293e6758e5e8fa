"""Random numbers of an augmentation: a function of the seed, the epoch and the scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from motionpred.graph.batch import SceneBatch
from motionpred.graph.keys import stable_key
from motionpred.graph.noise import keyed_noise, keyed_uniform


@dataclass(frozen=True)
class Draws:
    """Numbers for the scenes and tracks of a batch; each ``use`` has numbers of its own.

    A model that is trained with the same seed shares none of them: the use is part of the seed.
    """

    seed: int
    epoch: int

    def scenes(self, batch: SceneBatch, use: str) -> Tensor:
        """``[B]`` uniform in [0, 1)."""
        return keyed_uniform(self._seed(use), batch.scene_key, None, 1, stream=self.epoch)[:, 0]

    def agents(self, batch: SceneBatch, use: str) -> Tensor:
        """``[B, A]`` uniform in [0, 1)."""
        return keyed_uniform(
            self._seed(use), batch.scene_key, batch.track_key, 1, stream=self.epoch
        )[:, 0]

    def normal(self, batch: SceneBatch, use: str, elements: Sequence[int]) -> Tensor:
        """``[B, A, *elements]`` standard normal."""
        return keyed_noise(
            self._seed(use), batch.scene_key, batch.track_key, 1, elements, stream=self.epoch
        )[:, 0]

    def _seed(self, use: str) -> int:
        return stable_key(f"augmentation {self.seed} {use}")
