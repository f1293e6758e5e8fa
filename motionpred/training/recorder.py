"""The callback that keeps a run's folder: settings, metrics, the best bundle, times."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from pytorch_lightning import Callback, LightningModule, Trainer

from motionpred.models import save_bundle
from motionpred.training.cards import DataFacts, make_card
from motionpred.training.config import TrainConfig
from motionpred.training.module import ForecastTraining
from motionpred.training.run_folder import (
    BEST,
    METRICS,
    append_metrics,
    make_run_folder,
    write_settings,
)


class RunRecorder(Callback):
    """Makes the run's folder on one process for all, and writes into it on that process only."""

    def __init__(self, config: TrainConfig, data: DataFacts) -> None:
        self.config = config
        self.data = data
        self.best: float | None = None
        self.best_step: int | None = None
        self.validated_step: int | None = None
        self.evaluation_seconds = 0.0  # CPU
        self._folder: Path | None = None
        self._started = cpu_seconds()
        self._evaluation_started = 0.0

    @property
    def folder(self) -> Path:
        """The run's folder; the same on every process."""
        assert self._folder is not None, "the training has not started"
        return self._folder

    @property
    def training_seconds(self) -> float:
        """CPU seconds of this process and its workers so far, without validations."""
        return cpu_seconds() - self._started - self.evaluation_seconds

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """The first process decides where everything goes."""
        if self._folder is not None:
            return
        folder = None
        if trainer.is_global_zero:
            out = Path(self.config.out).expanduser().absolute()
            folder = make_run_folder(out, self.config.name or self.config.model.name)
            write_settings(folder, self.config)
        self._folder = trainer.strategy.broadcast(folder)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """A few rows of ``metrics.csv``."""
        step = trainer.global_step
        if trainer.is_global_zero and (step % self.config.trainer.log_every == 0 or step == 1):
            values = {
                name: float(value)
                for name, value in trainer.callback_metrics.items()
                if name.startswith("train/")
            }
            values["train/learning_rate"] = trainer.optimizers[0].param_groups[0]["lr"]
            append_metrics(self.folder / METRICS, step, values)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Validation is not training time."""
        self._evaluation_started = cpu_seconds()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Rows of ``metrics.csv``; the bundle ``best`` where the headline is better than ever."""
        assert isinstance(pl_module, ForecastTraining)
        report, protocol = pl_module.report, pl_module.protocol
        if not trainer.sanity_checking and report is not None and protocol is not None:
            step = trainer.global_step
            self.validated_step = step
            value = protocol.leading(report).value
            _, lower = protocol.headline
            # A figure without a single entry is NaN: nothing could ever be better.
            better = math.isfinite(value) and (
                self.best is None or (value < self.best if lower else value > self.best)
            )
            if better:
                self.best, self.best_step = value, step
            if trainer.is_global_zero:
                values = {f"val/{f.metric}@{f.k}": f.value for f in report.figures}
                append_metrics(self.folder / METRICS, step, values)
                if better:
                    self.save(pl_module, BEST)
        self.evaluation_seconds += cpu_seconds() - self._evaluation_started

    def save(self, module: ForecastTraining, name: str) -> None:
        """Write the bundle ``name`` with what is known now."""
        card = make_card(
            self.config,
            self.data,
            module.report,
            step=module.trainer.global_step,
            cpu_minutes=self.training_seconds / 120,
        )
        save_bundle(self.folder / name, module.model, card=card, options=module.options)


def cpu_seconds() -> float:
    """User and system time of this process and of its workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
