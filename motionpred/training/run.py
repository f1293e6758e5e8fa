"""``train``: from settings to a bundle."""

from __future__ import annotations

import logging
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from motionpred.errors import ConfigError
from motionpred.models import get_model, model_names
from motionpred.models.denormals import flushed_denormals
from motionpred.prediction import Prediction
from motionpred.scene import Scene
from motionpred.training.config import TrainConfig
from motionpred.training.run_folder import BEST, LAST, SUMMARY, write_json

if TYPE_CHECKING:
    from pytorch_lightning import Trainer

    from motionpred.training.data import SceneData
    from motionpred.training.largest_batch import LargestBatchCheck
    from motionpred.training.module import ForecastTraining
    from motionpred.training.recorder import RunRecorder
    from motionpred.training.resume import ResumePoint


@dataclass(frozen=True)
class TrainResult:
    """Where a training left its result."""

    run: Path  # folder with settings, metrics, checkpoints and bundles
    bundle: Path  # the best on validation data, or the last where there was no validation
    steps: int
    scenes: int  # training scenes
    metrics: dict[str, float] = field(default_factory=dict)  # last validation, "<metric>@<K>"
    dropped: dict[str, int] = field(default_factory=dict)  # what batches left out, first epoch
    stopped_by: str | None = None  # the signal that made it leave early; resume goes on
    log_folder: Path | None = None  # of the experiment logger, e.g. for 'wandb sync'
    process: int = 0  # which of several processes this is


def train(
    config: TrainConfig,
    *,
    progress: bool = True,
    draw: Callable[[Scene, Prediction, Path], object] | None = None,
) -> TrainResult:
    """Train a model and write its bundle into a new run folder, or go on with ``config.resume``.

    SIGTERM and Ctrl-C end it after the present step, with a checkpoint.

    Args:
        config: everything there is to say; see :func:`motionpred.training.compose`.
        progress: a bar where the output is a terminal.
        draw: writes a picture of a validation scene and its forecast as a PNG file, for loggers
            that take pictures; without it there are none.

    Raises:
        ConfigError: a setting, name or clock does not fit, or the run was going elsewhere.
        StoreError: a store is unfinished or damaged, or another process trains in this run.
        BundleError: all checkpoints of the run are damaged.
        TrainingError: a loss or gradient is not finite, there is nothing to learn from, or memory
            or disk is too small.
    """
    kind = get_model(config.model.name)
    if not kind.trainable:
        trainable = [name for name in model_names() if get_model(name).trainable]
        raise ConfigError(
            f"{config.model.name} has no parameters to train",
            field="model",
            remedy=f"Use it as it is: 'motionpred evaluate STORE {config.model.name}'. "
            f"Trainable: {', '.join(trainable) or 'none'}",
        )
    with _quiet_lightning():
        return _train(config, progress, draw)


def _train(
    config: TrainConfig,
    progress: bool,
    draw: Callable[[Scene, Prediction, Path], object] | None,
) -> TrainResult:
    from motionpred.training.assembly import assemble
    from motionpred.training.interruption import TrainingStopped

    run = assemble(config, draw=draw, bar=progress and sys.stdout.isatty())
    stopped_by = None
    try:
        _fit(run.trainer, run.module, run.data, run.point)
        if run.data.val_scenes is not None and _validation_is_due(run.recorder, run.module):
            run.trainer.validate(run.module, run.data, verbose=False)
    except TrainingStopped as stop:
        stopped_by = stop.signal_name
    else:
        _finish(run.trainer, run.module, run.recorder, run.largest)
    finally:
        run.recorder.close()
    recorder, report = run.recorder, run.module.report
    best = recorder.folder / BEST
    return TrainResult(
        run=recorder.folder,
        bundle=best if recorder.best is not None else recorder.folder / LAST,
        steps=run.trainer.global_step,
        scenes=len(run.data.source.scenes),
        metrics={f"{f.metric}@{f.k}": f.value for f in report.figures} if report else {},
        dropped=dict(run.module.dropped),
        stopped_by=stopped_by,
        log_folder=None if recorder.experiment is None else recorder.experiment.folder,
        process=run.trainer.global_rank,
    )


def _fit(
    trainer: Trainer, module: ForecastTraining, data: SceneData, point: ResumePoint | None
) -> None:
    with flushed_denormals():
        if point is None:
            trainer.fit(module, data)
        else:
            trainer.fit(module, data, ckpt_path=point.path, weights_only=True)


def _validation_is_due(recorder: RunRecorder, module: ForecastTraining) -> bool:
    # A run that went on at its last step has no report of this process yet.
    return recorder.validated_step != module.trainer.global_step or module.report is None


def _finish(
    trainer: Trainer,
    module: ForecastTraining,
    recorder: RunRecorder,
    largest: LargestBatchCheck | None,
) -> None:
    import torch

    from motionpred.metrics import report_to_json
    from motionpred.training.distributed import gather, several_processes

    module.dropped = sum(gather(module.dropped), Counter())
    if trainer.is_global_zero:
        recorder.save(module, LAST)
        write_json(
            recorder.folder / SUMMARY,
            {
                **asdict(recorder.data),
                "steps": trainer.global_step,
                "steps_without_target": module.empty_steps,
                "dropped_in_first_epoch": dict(module.dropped),
                "largest_batch": asdict(largest.size) if largest and largest.size else None,
                "best_step": recorder.best_step,
                "training_cpu_seconds": round(recorder.training_seconds, 1),
                "evaluation_cpu_seconds": round(recorder.evaluation_seconds, 1),
                "validation": report_to_json(module.report) if module.report else None,
                "health": module.diagnostics,
            },
        )
    if several_processes():
        torch.distributed.barrier()  # the bundle is there before any process goes on


@contextmanager
def _quiet_lightning() -> Iterator[None]:
    """Lightning without advertisements and without advice that does not hold here."""
    import pytorch_lightning  # noqa: F401 - sets the levels of its loggers when it is first loaded

    loggers = [logging.getLogger(name) for name in ("pytorch_lightning", "lightning.pytorch")]
    loggers.append(logging.getLogger("lightning.fabric"))
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            for module in ("pytorch_lightning", "lightning_fabric"):
                warnings.filterwarnings("ignore", module=rf"{module}\..*")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
