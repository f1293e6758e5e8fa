"""The loaders of a training: steps from the present one on, and every validation scene once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import torch
from pytorch_lightning import LightningDataModule
from torch.utils.data import DataLoader, Dataset, Sampler

from motionpred.scene import Scene
from motionpred.training.config import TrainerConfig
from motionpred.training.order import steps_per_epoch
from motionpred.training.scenes import Scenes
from motionpred.training.steps import TrainScenes, TrainStep, TrainSteps


class ValidationScenes:
    """Some scenes of a validation, as they are; ``first`` is the number of the first."""

    def __init__(self, scenes: list[Scene], first: int) -> None:
        self.scenes = scenes
        self.first = first


class ValidationBatches(Dataset[ValidationScenes]):
    """Every scene once; ``rank`` of ``world`` processes has its share, nothing is dropped."""

    def __init__(self, scenes: Scenes, batch_size: int, *, rank: int = 0, world: int = 1):
        self.scenes = scenes
        self.batch_size = batch_size
        self.rank = rank
        self.world = world

    def __len__(self) -> int:
        return steps_per_epoch(len(self._own()), self.batch_size)

    def __getitem__(self, index: int) -> ValidationScenes:
        start = index * self.batch_size
        own = self._own()[start : start + self.batch_size]
        return ValidationScenes([self.scenes[i] for i in own], own[0])

    def _own(self) -> range:
        return range(self.rank, len(self.scenes), self.world)


class StepsFrom(Sampler[int]):
    """Numbers of steps from ``first`` to before ``stop``; its length is ``stop``.

    To Lightning the whole training is one epoch of ``stop`` batches. Where a run goes on, the
    batches before ``first`` count as seen.
    """

    def __init__(self, first: int, stop: int) -> None:
        self.first = first
        self.stop = stop

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.stop))

    def __len__(self) -> int:
        return self.stop


def leave_interrupts_to_the_training(worker: int) -> None:
    """Ctrl-C reaches all processes of a terminal; the training asks its workers to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class SceneData(LightningDataModule):
    """The loaders of a training; one for every model and dataset."""

    def __init__(
        self, source: TrainScenes, val_scenes: Scenes | None, trainer: TrainerConfig
    ) -> None:
        super().__init__()
        self.source = source
        self.val_scenes = val_scenes
        self.config = trainer

    def steps(self) -> TrainSteps:
        """The steps of this process."""
        assert self.trainer is not None
        return TrainSteps(
            self.source,
            self.config,
            rank=self.trainer.global_rank,
            world=self.trainer.world_size,
        )

    def train_dataloader(self) -> DataLoader[TrainStep]:
        """Steps from the trainer's present one to the last."""
        assert self.trainer is not None
        return self._loader(
            self.steps(), StepsFrom(self.trainer.global_step, self.config.max_steps)
        )

    def val_dataloader(self) -> DataLoader[ValidationScenes] | list[Any]:
        """Every validation scene once."""
        if self.val_scenes is None:
            return []
        assert self.trainer is not None
        batches = ValidationBatches(
            self.val_scenes,
            self.config.batch_size,
            rank=self.trainer.global_rank,
            world=self.trainer.world_size,
        )
        return self._loader(batches, range(len(batches)))

    def _loader(self, dataset: Dataset[Any], order: Sampler[int] | range) -> DataLoader[Any]:
        workers = self.config.num_workers
        return DataLoader(
            dataset,
            batch_size=None,  # an item is a batch
            sampler=order,
            num_workers=workers,
            # A forked process would share the locks of a multi-threaded parent.
            multiprocessing_context="spawn" if workers else None,
            worker_init_fn=leave_interrupts_to_the_training,
            persistent_workers=workers > 0,
            pin_memory=torch.cuda.is_available() and self.config.accelerator != "cpu",
        )
