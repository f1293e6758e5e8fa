"""The callback that keeps a run's folder: settings, metrics, the best bundle, times."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pytorch_lightning import Callback, LightningModule, Trainer

from motionpred.metrics import Figure, Report
from motionpred.models import ForecastModel, save_bundle
from motionpred.prediction import Prediction
from motionpred.scene import Scene
from motionpred.settings import to_mapping
from motionpred.store.lock import exclusive
from motionpred.training.averaging import AveragedWeights
from motionpred.training.cards import DataFacts, make_card
from motionpred.training.config import TrainConfig
from motionpred.training.distributed import gather
from motionpred.training.loggers import GuardedLog, start_log
from motionpred.training.module import ForecastTraining
from motionpred.training.run_folder import (
    BEST,
    LOCK,
    METRICS,
    PICTURES,
    SCENES,
    append_metrics,
    append_scenes,
    go_on,
    make_run_folder,
    write_settings,
)
from motionpred.training.steps import TrainStep

Draw = Callable[[Scene, Prediction, Path], object]  # writes a PNG file


class RunRecorder(Callback):
    """Makes the run's folder on one process for all, and writes into it on that process only.

    ``resumed`` is the step that a run goes on from, in its own folder.
    """

    def __init__(
        self,
        config: TrainConfig,
        data: DataFacts,
        *,
        average: AveragedWeights | None = None,
        draw: Draw | None = None,
        resumed: int | None = None,
    ) -> None:
        self.config = config
        self.data = data
        self.average = average
        self.draw = draw
        self.resumed = resumed
        self.best: float | None = None
        self.best_step: int | None = None
        self.validated_step: int | None = None
        self.validations = 0
        self.evaluation_seconds = 0.0  # CPU
        self.experiment: GuardedLog | None = None
        self._folder: Path | None = None
        self._earlier_seconds = 0.0  # CPU, of the processes that this run was in before
        self._started = cpu_seconds()
        self._evaluation_started = 0.0
        self._rate = 0.0
        self._open = ExitStack()

    @property
    def folder(self) -> Path:
        """The run's folder; the same on every process."""
        assert self._folder is not None, "the training has not started"
        return self._folder

    @property
    def training_seconds(self) -> float:
        """CPU seconds of this process and its workers so far, without validations."""
        here = cpu_seconds() - self._started
        return self._earlier_seconds + here - self.evaluation_seconds

    def state_dict(self) -> dict[str, Any]:
        """What a run that goes on has to know."""
        return {
            "best": self.best,
            "best_step": self.best_step,
            "validated_step": self.validated_step,
            "validations": self.validations,
            "training_seconds": self.training_seconds,
            "evaluation_seconds": self.evaluation_seconds,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from there."""
        for name in ("best", "best_step", "validated_step", "validations", "evaluation_seconds"):
            setattr(self, name, state_dict[name])
        self._earlier_seconds = state_dict["training_seconds"] + self.evaluation_seconds

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """The first process decides where everything goes.

        Raises:
            StoreError: another process trains in this folder.
        """
        if self._folder is not None:
            return
        folder = None
        if trainer.is_global_zero:
            folder = self._make_folder()
        self._folder = trainer.strategy.broadcast(folder)

    def _make_folder(self) -> Path:
        if self.config.resume is None:
            out = Path(self.config.out).expanduser().absolute()
            folder = make_run_folder(out, self.config.name or self.config.model.name)
        else:
            folder = Path(self.config.resume).expanduser().absolute()
        self._open.enter_context(exclusive(folder / LOCK))
        if self.config.resume is None:
            write_settings(folder, self.config)
        else:
            go_on(folder, self.config, self.resumed or 0)
        settings = {**to_mapping(self.config), "data": [str(f) for f in self.data.trained_on]}
        for private in ("store", "val_store", "out", "resume"):  # paths of this machine
            settings.pop(private)
        self.experiment = start_log(
            self.config.logger, folder, settings, first_step=(self.resumed or -1) + 1
        )
        return folder

    def close(self) -> None:
        """Leave the folder: the logger has what it can take, others may go on with the run."""
        if self.experiment is not None:
            self.experiment.close()
        self._open.close()

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """The learning rate of this step; afterwards it is that of the next."""
        self._rate = trainer.optimizers[0].param_groups[0]["lr"]

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """A few rows of ``metrics.csv``, and of ``scenes.csv`` where it is asked for."""
        step = trainer.global_step
        if self.config.trainer.log_scenes:
            self._write_scenes(trainer, batch, step)
        if trainer.is_global_zero and (step % self.config.trainer.log_every == 0 or step == 1):
            values = {
                name: float(value)
                for name, value in trainer.callback_metrics.items()
                if name.startswith("train/")
            }
            values["train/learning_rate"] = self._rate
            self._write(step, values)

    def _write_scenes(self, trainer: Trainer, batch: TrainStep, step: int) -> None:
        own = [] if batch.ghost else batch.scene_id
        everyone = [name for names in gather(own) for name in names]
        if trainer.is_global_zero:
            append_scenes(self.folder / SCENES, step, batch.epoch, everyone)

    def _write(self, step: int, values: Mapping[str, float]) -> None:
        append_metrics(self.folder / METRICS, step, values)
        if self.experiment is not None:
            self.experiment.values(step, values)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Validation is not training time."""
        self._evaluation_started = cpu_seconds()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Rows of ``metrics.csv``; the bundle ``best`` where the figure is lower than ever."""
        assert isinstance(pl_module, ForecastTraining)
        report = pl_module.report
        if not trainer.sanity_checking and report is not None:
            step = trainer.global_step
            self.validated_step = step
            self.validations += 1
            leading = headline(report)
            better = self.best is None or leading.value < self.best
            if better:
                self.best, self.best_step = leading.value, step
            if trainer.is_global_zero:
                values = {f"val/{f.metric}@{f.k}": f.value for f in report.figures}
                self._write(step, {**values, **pl_module.diagnostics})
                if better:
                    self.save(pl_module, BEST)
                self._show(pl_module, step)
                if better and self.experiment is not None and self.config.logger.bundle:
                    self.experiment.bundle(step, self.folder / BEST)
        self.evaluation_seconds += cpu_seconds() - self._evaluation_started

    def _show(self, module: ForecastTraining, step: int) -> None:
        """Pictures of the first scenes, every so many validations, for a logger."""
        every = self.config.logger.pictures_every
        if self.draw is None or self.experiment is None or not every or self.validations % every:
            return
        (self.folder / PICTURES).mkdir(exist_ok=True)
        for number, (scene, prediction) in enumerate(module.shown):
            path = self.folder / PICTURES / f"step{step:08d}-{number}.png"
            try:
                self.draw(scene, prediction, path)
            except Exception as error:  # noqa: BLE001 - a picture must not end a training
                self.draw = None
                warnings.warn(f"no more pictures of validations: {error}", stacklevel=2)
                return
            self.experiment.picture(step, str(number), path)

    def save(self, module: ForecastTraining, name: str) -> None:
        """Write the bundle ``name`` with what is known now; averaged weights where there are."""
        card = make_card(
            self.config,
            self.data,
            module.report,
            step=module.trainer.global_step,
            cpu_minutes=self.training_seconds / 120,
        )
        save_bundle(self.folder / name, self.weights(module), card=card, options=module.options)

    def weights(self, module: ForecastTraining) -> ForecastModel:
        """The model as it is validated and saved."""
        averaged = None if self.average is None else self.average.model
        return module.model if averaged is None else averaged


def headline(report: Report) -> Figure:
    """The figure that says which weights are best, lower is better: minFDE at the largest K."""
    most = max(figure.k for figure in report.figures)
    at_most = [figure for figure in report.figures if figure.k == most]
    return next((f for f in at_most if "minfde" in f.metric.lower()), at_most[0])


def cpu_seconds() -> float:
    """User and system time of this process and of its workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
