"""Everything that a training can be told, as typed dataclasses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from motionpred.errors import ConfigError
from motionpred.graph import BatchOptions
from motionpred.graph.augmentation import AugmentationOptions
from motionpred.training.loggers.config import LoggerConfig


@dataclass(frozen=True)
class ModelChoice:
    """A model of the registry and its own settings (the fields of its ``Config``)."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainerConfig:
    """How long, how fast, on what.

    Those in ``HARMLESS`` change no weights beyond rounding: a resumed run may change them freely.
    """

    max_steps: int = 20_000  # optimiser steps
    batch_size: int = 16  # scenes an optimiser step, over all devices and accumulated parts
    accumulate: int = 1  # parts that a step is split into, one after the other, to save memory
    part_tokens: int | None = None  # largest agents + map pieces of a part, padded; more: split it
    learning_rate: float = 5e-4
    weight_decay: float = 0.05  # of matrices only
    warmup_steps: int = 500
    final_learning_rate: float = 0.0  # share of learning_rate at the last step
    gradient_clip: float = 1.0  # largest gradient norm; 0 leaves gradients as they are
    ema_decay: float = 0.0  # of the averaged weights that are validated and saved; 0: no averaging
    compile: bool = False  # the model's modules, by torch.compile; worth it on long trainings
    check_largest: bool = True  # try the largest batch first: no lack of memory after hours
    val_every: int = 1_000  # steps; there is a validation after the last step in any case
    log_every: int = 50  # steps between rows of metrics.csv
    log_scenes: bool = False  # scenes.csv: which scenes each step saw
    checkpoint_every: int | None = None  # steps; None: by time alone
    checkpoint_minutes: float = 5.0  # of time, at most, between two checkpoints; 0: by steps alone
    num_workers: int = 0
    accelerator: str = "auto"
    devices: int | str = "auto"
    precision: Literal["32-true", "64-true", "bf16-mixed"] = "32-true"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("max_steps", "batch_size", "accumulate", "val_every", "log_every"):
            _at_least(name, getattr(self, name), 1)
        for name in ("part_tokens", "checkpoint_every"):
            if getattr(self, name) is not None:
                _at_least(name, getattr(self, name), 1)
        for name in ("warmup_steps", "gradient_clip", "checkpoint_minutes", "num_workers"):
            _at_least(name, getattr(self, name), 0)
        if not 0 <= self.ema_decay < 1:
            raise ConfigError(
                f"is {self.ema_decay}",
                field="trainer.ema_decay",
                remedy="Use a number from 0 (no averaging) to below 1, e.g. 0.999",
            )
        if self.accumulate > self.batch_size:
            raise ConfigError(
                f"{self.accumulate} parts of {self.batch_size} scenes",
                field="trainer.accumulate",
                remedy="Use at most batch_size",
            )


HARMLESS = frozenset(
    {
        "accumulate",
        "part_tokens",
        "compile",
        "check_largest",
        "val_every",
        "log_every",
        "log_scenes",
        "checkpoint_every",
        "checkpoint_minutes",
        "num_workers",
        "accelerator",
    }
)


def _at_least(name: str, value: float, least: float) -> None:
    if value < least:
        raise ConfigError(f"is {value}", field=f"trainer.{name}", remedy=f"Use {least} or more")


@dataclass(frozen=True)
class TrainConfig:
    """One training: data, model, optimisation, and where the result goes.

    Relative paths are relative to the caller's folder.
    """

    store: str | list[str]  # folder or folders made by ``motionpred prepare``
    model: ModelChoice
    store_weights: list[float] | None = None  # times an epoch sees each scene of a store; all 1
    val_store: str | list[str] | None = None  # without one there are no validation figures
    batch: BatchOptions = field(default_factory=BatchOptions)
    augmentation: AugmentationOptions = field(default_factory=AugmentationOptions)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    logger: LoggerConfig = field(default_factory=LoggerConfig)
    protocol: str | None = None  # of the validation; by default the dataset's first
    terms: str = ""  # licence or terms of the data, for the card of the model
    out: str = "runs"  # a run folder of its own is made in here
    name: str | None = None  # last part of the run folder's name; by default the model's
    resume: str | None = None  # run folder to go on with, in place of a new one
    reschedule: bool = False  # go on although settings that change the weights are others

    def __post_init__(self) -> None:
        if self.store_weights is None:
            return
        stores, weights = len(self.store_paths), self.store_weights
        if len(weights) != stores:
            raise ConfigError(
                f"{len(weights)} weights for {stores} stores",
                field="store_weights",
                remedy="Give one weight for each store",
            )
        if not all(math.isfinite(weight) and weight > 0 for weight in weights):
            raise ConfigError(f"is {weights}", field="store_weights", remedy="Use numbers above 0")

    @property
    def store_paths(self) -> list[Path]:
        """Folders of the training scenes, absolute."""
        return _absolute(self.store)

    @property
    def val_store_paths(self) -> list[Path]:
        """Folders of the validation scenes, absolute; may be empty."""
        return _absolute(self.val_store)


def _absolute(value: str | list[str] | None) -> list[Path]:
    paths = [value or ""] if value is None or isinstance(value, (str, Path)) else value
    return [Path(path).expanduser().absolute() for path in paths if path]
