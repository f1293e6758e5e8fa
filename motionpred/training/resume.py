"""Going on with a run: which checkpoint, and whether the settings are still those of its weights.

A run goes on exactly: order, learning rate and weights are those of a run that never stopped. So
whatever would change them has to stay, or the change has to be asked for with ``reschedule=true``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytorch_lightning import Callback, LightningModule, Trainer

from motionpred.errors import BundleError, ConfigError
from motionpred.training.checkpoint_files import FOLDER, newest
from motionpred.training.config import TrainConfig, TrainerConfig
from motionpred.training.facts import FACTS
from motionpred.training.module import ForecastTraining
from motionpred.training.optimiser import learning_rate_factor, parameter_groups
from motionpred.training.run_folder import CONFIG


@dataclass(frozen=True)
class ResumePoint:
    """A checkpoint to go on from."""

    path: Path
    step: int
    facts: Mapping[str, Any]


def find_resume_point(config: TrainConfig) -> ResumePoint | None:
    """The newest whole checkpoint of the run ``config.resume``; None where it has none yet.

    Raises:
        ConfigError: there is no run.
        BundleError: all its checkpoints are damaged, or one is no checkpoint of a run.
    """
    assert config.resume is not None
    run = Path(config.resume).expanduser().absolute()
    if not (run / CONFIG).is_file():
        raise ConfigError(
            f"holds no {CONFIG}: it is no run folder",
            file=run,
            field="resume",
            remedy="Name a folder that 'motionpred train' made, e.g. resume=runs/NAME",
        )
    found = newest(run / FOLDER)
    if found is None:
        warnings.warn(f"{run} has no checkpoint yet: it starts from the beginning", stacklevel=2)
        return None
    path, content = found
    facts = content.get(FACTS)
    if not isinstance(facts, dict):
        raise BundleError("is no checkpoint of a training run", file=path, field=FACTS)
    return ResumePoint(path, facts["step"], facts)


def check_settings(point: ResumePoint, facts: Mapping[str, Any], *, reschedule: bool) -> None:
    """Refuse settings that would lead elsewhere than the run was going.

    Raises:
        ConfigError: names what changed and from what to what.
    """
    changes = list(_changes(point.facts, facts))
    for name, before, now in changes:
        if name.startswith("model."):
            raise ConfigError(
                f"was {before!r} and is {now!r}: these weights fit one model only",
                field=name,
                remedy="Start a new run for another model",
            )
    if changes and not reschedule:
        told = "; ".join(f"{name} was {before!r}, is {now!r}" for name, before, now in changes)
        raise ConfigError(
            f"the run was going elsewhere: {told}",
            field=changes[0][0],
            remedy="Leave these as they were, or add reschedule=true to go on in the new way",
        )


def _changes(
    before: Mapping[str, Any], now: Mapping[str, Any], place: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    for name in now:
        here, old, new = f"{place}{name}", before.get(name), now[name]
        if isinstance(new, Mapping) and isinstance(old, Mapping):
            yield from _changes(old, {**dict.fromkeys(old), **new}, f"{here}.")
        elif old != new:
            yield here, old, new


class Reschedule(Callback):
    """Loads a checkpoint with the settings of now: learning rate, decay, and validation anew."""

    def __init__(self, config: TrainerConfig, facts: Mapping[str, Any]) -> None:
        """``facts`` are those of now."""
        self.config = config
        self.facts = facts

    def on_load_checkpoint(
        self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Change what is about to be loaded."""
        config, step = self.config, checkpoint[FACTS]["step"]
        factor = learning_rate_factor(
            step,
            warmup=config.warmup_steps,
            total=config.max_steps,
            final=config.final_learning_rate,
        )
        assert isinstance(pl_module, ForecastTraining)
        wanted = parameter_groups(pl_module.model, config.weight_decay)
        for state in checkpoint["optimizer_states"]:
            for group, new in zip(state["param_groups"], wanted, strict=True):
                group["initial_lr"] = config.learning_rate
                group["lr"] = config.learning_rate * factor
                group["weight_decay"] = new["weight_decay"]
        for schedule in checkpoint["lr_schedulers"]:
            schedule["base_lrs"] = [config.learning_rate] * len(schedule["base_lrs"])
        if checkpoint[FACTS]["data"] != self.facts["data"]:
            # Figures of other scenes cannot be compared.
            recorder = checkpoint["callbacks"]["RunRecorder"]
            recorder.update(best=None, best_step=None, validated_step=None)
