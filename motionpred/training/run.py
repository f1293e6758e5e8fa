"""``train``: from settings to a bundle."""

from __future__ import annotations

import logging
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motionpred.datasets import adapter_names, get_adapter
from motionpred.errors import ConfigError
from motionpred.metrics import Protocol, get_protocol
from motionpred.models import build_model, get_model, model_names
from motionpred.scene import TimeSpec
from motionpred.training.config import TrainConfig
from motionpred.training.run_folder import BEST, LAST, SUMMARY, write_json

if TYPE_CHECKING:
    from pytorch_lightning import Trainer

    from motionpred.training.data import SceneFolders
    from motionpred.training.module import ForecastTraining
    from motionpred.training.recorder import RunRecorder


@dataclass(frozen=True)
class TrainResult:
    """Where a training left its result."""

    run: Path  # folder with settings, metrics and bundles
    bundle: Path  # the best on validation data, or the last where there was no validation
    steps: int
    scenes: int  # training scenes
    metrics: dict[str, float] = field(default_factory=dict)  # last validation, "<metric>@<K>"
    dropped: dict[str, int] = field(default_factory=dict)  # what batches left out, first epoch


def train(config: TrainConfig, *, progress: bool = True) -> TrainResult:
    """Train a model and write its bundle into a new run folder.

    Args:
        config: everything there is to say; see :func:`motionpred.training.compose`.
        progress: a bar where the output is a terminal.

    Raises:
        ConfigError: a setting, name or clock does not fit.
        StoreError: a store is unfinished or damaged.
        TrainingError: a loss or gradient is not finite, or there is nothing to learn from.
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
        return _train(config, progress)


def _train(config: TrainConfig, progress: bool) -> TrainResult:
    import torch
    from pytorch_lightning import Trainer, seed_everything

    from motionpred.training.cards import DataFacts
    from motionpred.training.data import SceneData, SceneFolders
    from motionpred.training.module import ForecastTraining, gather
    from motionpred.training.order import steps_per_epoch
    from motionpred.training.recorder import RunRecorder

    scenes = SceneFolders(config.store_paths)
    val_scenes = SceneFolders(config.val_store_paths) if config.val_store_paths else None
    time = _clock(scenes, val_scenes, resample=config.batch.resample)
    _warn_of_shared_scenes(config)
    protocol = _protocol(config, scenes) if val_scenes else None

    settings = config.trainer
    seed_everything(settings.seed, workers=True, verbose=False)
    model = build_model(config.model.name, config.model.settings, time)
    module = ForecastTraining(
        model,
        settings,
        config.batch,
        protocol=protocol,
        patience=steps_per_epoch(len(scenes), settings.batch_size),
    )
    recorder = RunRecorder(config, DataFacts.of(scenes, val_scenes))
    show = progress and sys.stdout.isatty()
    trainer = _made(
        Trainer,
        max_steps=settings.max_steps,
        max_epochs=-1,
        val_check_interval=settings.val_every,
        check_val_every_n_epoch=None,
        limit_val_batches=1.0 if val_scenes else 0,
        accelerator=settings.accelerator,
        devices=settings.devices,
        precision=settings.precision,
        callbacks=[recorder, *_bar(show)],
        use_distributed_sampler=False,  # steps are shared out by their own order
        logger=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=show,
    )
    data = SceneData(scenes, val_scenes, time, config.batch, settings)
    trainer.fit(module, data)
    if val_scenes and recorder.validated_step != trainer.global_step:
        trainer.validate(module, data, verbose=False)
    dropped = sum(gather(module.dropped), Counter())
    if trainer.is_global_zero:
        recorder.save(module, LAST)
        _summarise(recorder, module, dropped)
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        trainer.strategy.barrier()  # the bundle is there before any process goes on
    figures = module.report.figures if module.report else ()
    return TrainResult(
        run=recorder.folder,
        bundle=recorder.folder / (BEST if recorder.best is not None else LAST),
        steps=trainer.global_step,
        scenes=len(scenes),
        metrics={f"{figure.metric}@{figure.k}": figure.value for figure in figures},
        dropped=dict(dropped),
    )


def _made(kind: type[Trainer], **options: Any) -> Trainer:
    """Lightning's trainer.

    Raises:
        ConfigError: there is no such accelerator here, or not so many devices.
    """
    from lightning_fabric.utilities.exceptions import MisconfigurationException

    try:
        return kind(**options)
    except (MisconfigurationException, ValueError, RuntimeError) as error:
        raise ConfigError(
            str(error).strip().splitlines()[0],
            field="trainer",
            remedy="Check trainer.accelerator, trainer.devices and trainer.precision; "
            "auto fits every machine",
        ) from error


def _clock(scenes: SceneFolders, val_scenes: SceneFolders | None, *, resample: bool) -> TimeSpec:
    """The clock of the first store; all others must share it, or are resampled to it."""
    if not scenes.paths:
        raise ConfigError("no store to train on", field="store", remedy="Name a prepared store")
    everything = [(scenes, "store"), *([(val_scenes, "val_store")] if val_scenes else [])]
    time: TimeSpec = scenes.stores[0].manifest.time
    for folders, field_name in everything:
        if len(folders) == 0:
            raise ConfigError("holds no scene", file=folders.paths[0], field=field_name)
        for path, store in zip(folders.paths, folders.stores, strict=True):
            other = store.manifest.time
            if not time.same_clock(other.dt) and not resample:
                raise ConfigError(
                    f"has a step of {other.dt:g} s, and {scenes.paths[0]} one of {time.dt:g} s",
                    file=path,
                    field=field_name,
                    remedy="Train on stores of one clock, or set batch.resample=true",
                )
    return time


def _warn_of_shared_scenes(config: TrainConfig) -> None:
    shared = {p.resolve() for p in config.store_paths} & {
        p.resolve() for p in config.val_store_paths
    }
    for path in sorted(shared):
        warnings.warn(
            f"{path} is both store and val_store: the figures are of scenes that the model has "
            "seen, they say nothing about new ones",
            stacklevel=4,
        )


def _protocol(config: TrainConfig, scenes: SceneFolders) -> Protocol:
    name = config.protocol
    if name is None:
        adapter = scenes.stores[0].manifest.adapter
        suited = get_adapter(adapter).protocols if adapter in adapter_names() else ()
        if not suited:
            raise ConfigError(
                f"no protocol is known for {adapter}",
                field="protocol",
                remedy="Name one with protocol=NAME",
            )
        name = suited[0]
    return get_protocol(name)()


def _bar(show: bool) -> list[Any]:
    from pytorch_lightning.callbacks import RichProgressBar

    return [RichProgressBar(leave=True)] if show else []


def _summarise(recorder: RunRecorder, module: ForecastTraining, dropped: Counter[str]) -> None:
    from motionpred.metrics import report_to_json

    write_json(
        recorder.folder / SUMMARY,
        {
            **asdict(recorder.data),
            "steps": module.trainer.global_step,
            "steps_without_target": module.empty_steps,
            "dropped_in_first_epoch": dict(dropped),
            "best_step": recorder.best_step,
            "training_cpu_seconds": round(recorder.training_seconds, 1),
            "evaluation_cpu_seconds": round(recorder.evaluation_seconds, 1),
            "validation": report_to_json(module.report) if module.report else None,
        },
    )


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
