"""Prepared scenes → what a training or validation step gets.

One item of the training set is one optimiser step of one device: its scenes are read, encoded and
collated together, in the worker where there are workers. So the order of everything follows from
the step's number alone (see :mod:`motionpred.training.order`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

import torch
from pytorch_lightning import LightningDataModule
from torch.utils.data import DataLoader, Dataset

from motionpred.graph import BatchOptions, SceneBatch, collate_scenes
from motionpred.inference.placement import place
from motionpred.scene import Scene, TimeSpec, resample
from motionpred.store import Store
from motionpred.training.config import TrainerConfig
from motionpred.training.order import Array, parts_of_step, scenes_of_step, steps_per_epoch


class Scenes(Protocol):
    """Scenes by number; a list of scenes will do."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Scene: ...


class SceneFolders:
    """Scenes of one or more stores, by number. Each process opens the stores for itself."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = list(paths)
        self._stores: list[Store] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"paths": self.paths, "_stores": None}

    @property
    def stores(self) -> list[Store]:
        """The open stores."""
        if self._stores is None:
            self._stores = [Store(path) for path in self.paths]
        return self._stores

    def __len__(self) -> int:
        return sum(len(store) for store in self.stores)

    def __getitem__(self, index: int) -> Scene:
        ends = list(accumulate(len(store) for store in self.stores))
        which = bisect_right(ends, index)
        if not 0 <= index < ends[-1]:
            raise IndexError(index)
        return self.stores[which][index - (ends[which - 1] if which else 0)]


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


class TrainSteps(Dataset[TrainStep]):
    """Item n is step n, for as many steps as anybody asks."""

    def __init__(
        self,
        scenes: Scenes,
        time: TimeSpec,
        options: BatchOptions,
        trainer: TrainerConfig,
        *,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        self.scenes = scenes
        self.time = time
        self.options = options
        self.trainer = trainer
        self.rank = rank
        self.world = world

    def __getitem__(self, step: int) -> TrainStep:
        count, size = len(self.scenes), self.trainer.batch_size
        chosen = scenes_of_step(step, scenes=count, batch_size=size, seed=self.trainer.seed)
        shares = parts_of_step(
            chosen, rank=self.rank, world=self.world, parts=self.trainer.accumulate
        )
        return TrainStep(
            [self._batch(share) for share in shares or [chosen[:1]]],
            epoch=step // steps_per_epoch(count, size),
            ghost=not shares,
        )

    def _batch(self, share: Array) -> SceneBatch:
        return collate_scenes([self.scenes[int(i)] for i in share], self.time, self.options)


class ResampledScenes:
    """Scenes on one clock; those that have another are resampled."""

    def __init__(self, scenes: Scenes, time: TimeSpec) -> None:
        self.scenes = scenes
        self.time = time

    def __len__(self) -> int:
        return len(self.scenes)

    def __getitem__(self, index: int) -> Scene:
        scene = self.scenes[index]
        return scene if self.time.same_clock(scene.dt) else resample(scene, self.time.dt)


class ValidationScenes:
    """Some scenes of a validation, as they are."""

    def __init__(self, scenes: list[Scene]) -> None:
        self.scenes = scenes


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
        return ValidationScenes(
            [self.scenes[i] for i in self._own()[start : start + self.batch_size]]
        )

    def _own(self) -> range:
        return range(self.rank, len(self.scenes), self.world)


class SceneData(LightningDataModule):
    """The loaders of a training; one for every model and dataset."""

    def __init__(
        self,
        scenes: Scenes,
        val_scenes: Scenes | None,
        time: TimeSpec,
        options: BatchOptions,
        trainer: TrainerConfig,
    ) -> None:
        super().__init__()
        self.scenes = scenes
        self.val_scenes = val_scenes
        self.time = time
        self.options = options
        self.config = trainer

    def train_dataloader(self) -> DataLoader[TrainStep]:
        """Steps from the trainer's present one to the last."""
        assert self.trainer is not None
        steps = TrainSteps(
            self.scenes,
            self.time,
            self.options,
            self.config,
            rank=self.trainer.global_rank,
            world=self.trainer.world_size,
        )
        return self._loader(steps, range(self.trainer.global_step, self.config.max_steps))

    def val_dataloader(self) -> DataLoader[ValidationScenes] | list[Any]:
        """Every validation scene once."""
        if self.val_scenes is None:
            return []
        assert self.trainer is not None
        # A forecast is scored against steps of its own clock.
        scenes = self.val_scenes
        batches = ValidationBatches(
            ResampledScenes(scenes, self.time) if self.options.resample else scenes,
            self.config.batch_size,
            rank=self.trainer.global_rank,
            world=self.trainer.world_size,
        )
        return self._loader(batches, range(len(batches)))

    def _loader(self, dataset: Dataset[Any], order: range) -> DataLoader[Any]:
        workers = self.config.num_workers
        return DataLoader(
            dataset,
            batch_size=None,  # an item is a batch
            sampler=order,
            num_workers=workers,
            # A forked process would share the locks of a multi-threaded parent.
            multiprocessing_context="spawn" if workers else None,
            persistent_workers=workers > 0,
            pin_memory=torch.cuda.is_available() and self.config.accelerator != "cpu",
        )
