"""The objects of a training, put together from its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytorch_lightning import Callback, Trainer, seed_everything
from pytorch_lightning.callbacks import RichProgressBar

from motionpred.models import build_model
from motionpred.training.averaging import AveragedWeights
from motionpred.training.cards import DataFacts
from motionpred.training.checkpointing import CheckpointKeeper
from motionpred.training.config import TrainConfig
from motionpred.training.data import SceneData
from motionpred.training.facts import facts_of
from motionpred.training.largest_batch import LargestBatchCheck
from motionpred.training.module import ForecastTraining
from motionpred.training.order import SceneOrder
from motionpred.training.recorder import Draw, RunRecorder
from motionpred.training.resume import (
    Reschedule,
    ResumePoint,
    check_settings,
    find_resume_point,
)
from motionpred.training.scenes import SceneFolders
from motionpred.training.steps import TrainScenes
from motionpred.training.store_checks import clock_of, protocol_of, warn_of_shared_scenes


@dataclass(frozen=True)
class Assembly:
    """A training that is ready to start."""

    trainer: Trainer
    module: ForecastTraining
    data: SceneData
    recorder: RunRecorder
    largest: LargestBatchCheck | None
    point: ResumePoint | None  # where a run goes on


def assemble(config: TrainConfig, *, draw: Draw | None, bar: bool) -> Assembly:
    """Everything that ``train`` needs.

    Raises:
        ConfigError, StoreError, BundleError: as ``train`` says; nothing has been written yet.
    """
    point = None if config.resume is None else find_resume_point(config)
    scenes = SceneFolders(config.store_paths)
    val_scenes = SceneFolders(config.val_store_paths) if config.val_store_paths else None
    time = clock_of(scenes, val_scenes)
    warn_of_shared_scenes(config)
    settings = config.trainer
    seed_everything(settings.seed, workers=True, verbose=False)
    model = build_model(config.model.name, config.model.settings, time)
    if settings.compile:
        model.compile()
    order = SceneOrder(
        scenes.counts, settings.batch_size, settings.seed, tuple(config.store_weights or ())
    )
    pictures = config.logger.pictures if draw is not None and config.logger.name != "csv" else 0
    module = ForecastTraining(
        model,
        settings,
        config.batch,
        protocol=None if val_scenes is None else protocol_of(config, scenes),
        patience=order.epoch_steps,
        show=pictures,
    )
    source = TrainScenes(scenes, time, config.batch, order, config.augmentation)
    average = AveragedWeights(settings.ema_decay) if settings.ema_decay else None
    recorder = RunRecorder(
        config,
        DataFacts.of(scenes, val_scenes),
        average=average,
        draw=draw,
        resumed=None if point is None else point.step,
    )
    largest = LargestBatchCheck() if settings.check_largest else None
    trainer = _trainer(config, validates=val_scenes is not None, bar=bar)
    facts = facts_of(config, recorder.data, trainer.world_size)
    change = None
    if point is not None:
        check_settings(point, facts, reschedule=config.reschedule)
        change = Reschedule(settings, facts) if config.reschedule else None
    # Each sees what those before it have done to a step; the checkpoint holds what all have.
    callbacks: list[Callback | None] = [recorder, largest, average, change]
    callbacks.append(CheckpointKeeper(recorder))
    trainer.callbacks[:0] = [callback for callback in callbacks if callback is not None]  # type: ignore[attr-defined]
    data = SceneData(source, val_scenes, settings)
    return Assembly(trainer, module, data, recorder, largest, point)


def _trainer(config: TrainConfig, *, validates: bool, bar: bool) -> Trainer:
    settings = config.trainer
    shown: list[Any] = [RichProgressBar(leave=True)] if bar else []
    return Trainer(
        max_steps=settings.max_steps,
        max_epochs=-1,
        val_check_interval=settings.val_every,
        check_val_every_n_epoch=None,
        limit_val_batches=1.0 if validates else 0,
        accelerator=settings.accelerator,
        devices=settings.devices,
        precision=settings.precision,
        callbacks=shown,
        use_distributed_sampler=False,  # steps are shared out by their own order
        logger=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=bar,
    )
