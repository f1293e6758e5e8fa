"""One item of the training set is one optimiser step of one device.

Its scenes are read, encoded, collated and augmented together, in the worker where there are
workers. So everything follows from the step's number alone (see :mod:`motionpred.training.order`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch.utils.data import Dataset

from motionpred.graph import BatchOptions, SceneBatch
from motionpred.graph.augmentation import AugmentationOptions, augment
from motionpred.inference.placement import place
from motionpred.scene import TimeSpec
from motionpred.training.config import TrainerConfig
from motionpred.training.order import Array, SceneOrder, parts_of_step
from motionpred.training.parts import bounded_batches
from motionpred.training.scenes import Scenes


class TrainStep:
    """The share of one device in one optimiser step.

    ``ghost``: there are fewer scenes than devices; this device computes along (every process must
    take part in the exchange of gradients) and counts nothing.
    """

    def __init__(self, parts: list[SceneBatch], *, epoch: int, ghost: bool) -> None:
        self.parts = parts
        self.epoch = epoch
        self.ghost = ghost

    @property
    def scene_id(self) -> list[str]:
        """Scenes of all parts."""
        return [name for part in self.parts for name in part.scene_id]

    def __len__(self) -> int:
        return 0 if self.ghost else sum(len(part) for part in self.parts)

    def to(
        self, device: torch.device | str, dtype: torch.dtype, *, non_blocking: bool = False
    ) -> TrainStep:
        """The same on another device, real numbers as ``dtype``."""
        parts = [place(part, device, dtype, non_blocking=non_blocking) for part in self.parts]
        return TrainStep(parts, epoch=self.epoch, ghost=self.ghost)

    def pin_memory(self) -> TrainStep:
        """The same in page-locked memory."""
        return TrainStep(
            [part.pin_memory() for part in self.parts], epoch=self.epoch, ghost=self.ghost
        )


@dataclass(frozen=True)
class TrainScenes:
    """What training scenes are made into steps of."""

    scenes: Scenes
    time: TimeSpec
    options: BatchOptions
    order: SceneOrder
    augmentation: AugmentationOptions = field(default_factory=AugmentationOptions)


class TrainSteps(Dataset[TrainStep]):
    """Item n is step n, for as many steps as anybody asks."""

    def __init__(
        self, source: TrainScenes, trainer: TrainerConfig, *, rank: int = 0, world: int = 1
    ) -> None:
        self.source = source
        self.trainer = trainer
        self.rank = rank
        self.world = world

    def __getitem__(self, step: int) -> TrainStep:
        order = self.source.order
        chosen, epoch = order.scenes(step), order.epoch(step)
        shares = parts_of_step(
            chosen, rank=self.rank, world=self.world, parts=self.trainer.accumulate
        )
        parts = [
            augment(batch, self.source.augmentation, seed=self.trainer.seed, epoch=epoch)
            for share in shares or [chosen[:1]]
            for batch in self._batches(share)
        ]
        return TrainStep(parts, epoch=epoch, ghost=not shares)

    def _batches(self, share: Array) -> list[SceneBatch]:
        source = self.source
        scenes = [source.scenes[int(i)] for i in share]
        return bounded_batches(scenes, source.time, source.options, self.trainer.part_tokens)
