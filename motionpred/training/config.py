"""Everything that a training can be told, as typed dataclasses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from motionpred.errors import ConfigError
from motionpred.graph import BatchOptions


@dataclass(frozen=True)
class ModelChoice:
    """A model of the registry and its own settings (the fields of its ``Config``)."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainerConfig:
    """How long, how fast, on what."""

    max_steps: int = 20_000  # optimiser steps
    batch_size: int = 16  # scenes an optimiser step, over all devices and accumulated parts
    accumulate: int = 1  # parts that a step is split into, one after the other, to save memory
    learning_rate: float = 5e-4
    weight_decay: float = 0.05  # of matrices only
    warmup_steps: int = 500
    final_learning_rate: float = 0.0  # share of learning_rate at the last step
    gradient_clip: float = 1.0  # largest gradient norm; 0 leaves gradients as they are
    val_every: int = 1_000  # steps; there is a validation after the last step in any case
    log_every: int = 50  # steps between rows of metrics.csv
    num_workers: int = 0
    accelerator: str = "auto"
    devices: int | str = "auto"
    precision: Literal["32-true", "64-true", "bf16-mixed"] = "32-true"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("max_steps", "batch_size", "accumulate", "val_every", "log_every"):
            if getattr(self, name) < 1:
                raise ConfigError(
                    f"is {getattr(self, name)}", field=f"trainer.{name}", remedy="Use 1 or more"
                )
        for name in ("learning_rate", "weight_decay", "final_learning_rate", "gradient_clip"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigError(
                    f"is {getattr(self, name)}",
                    field=f"trainer.{name}",
                    remedy="Use 0 or a finite number above it",
                )
        for name in ("warmup_steps", "num_workers"):
            if getattr(self, name) < 0:
                raise ConfigError(
                    f"is {getattr(self, name)}", field=f"trainer.{name}", remedy="Use 0 or more"
                )
        if not 0 <= self.seed < 2**32:  # what Lightning and numpy take
            raise ConfigError(f"is {self.seed}", field="trainer.seed", remedy="Use 0 to 4294967295")
        if self.accumulate > self.batch_size:
            raise ConfigError(
                f"{self.accumulate} parts of {self.batch_size} scenes",
                field="trainer.accumulate",
                remedy="Use at most batch_size",
            )


@dataclass(frozen=True)
class TrainConfig:
    """One training: data, model, optimisation, and where the result goes.

    Relative paths are relative to the caller's folder.
    """

    store: str | list[str]  # folder or folders made by ``motionpred prepare``
    model: ModelChoice
    val_store: str | list[str] | None = None  # without one there are no validation figures
    batch: BatchOptions = field(default_factory=BatchOptions)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    protocol: str | None = None  # of the validation; by default the dataset's first
    terms: str = ""  # licence or terms of the data, for the card of the model
    out: str = "runs"  # a run folder of its own is made in here
    name: str | None = None  # last part of the run folder's name; by default the model's

    def __post_init__(self) -> None:
        if self.name is not None and (not self.name or Path(self.name).name != self.name):
            raise ConfigError(
                f"is {self.name!r}", field="name", remedy="Give one word; 'out' says where"
            )
        for field_name in ("store", "val_store"):
            paths = _absolute(getattr(self, field_name))
            if len(set(paths)) < len(paths):
                raise ConfigError("names a folder twice", field=field_name)

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
