"""What a trained model's card says about its data, its making and its figures."""

from __future__ import annotations

import platform
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import torch

from motionpred.metrics import Figure, Report
from motionpred.models import Card
from motionpred.training.config import TrainConfig
from motionpred.training.scenes import SceneFolders


@dataclass(frozen=True)
class StoreFacts:
    """One store, without the path that it has on this machine."""

    name: str
    adapter: str
    scenes: int
    splits: dict[str, int]
    content_hash: str

    def __str__(self) -> str:
        splits = ", ".join(f"{count} {split or 'unnamed'}" for split, count in self.splits.items())
        return f"{self.adapter}: {self.scenes} scenes ({splits}), content {self.content_hash[:12]}"


@dataclass(frozen=True)
class DataFacts:
    """The stores of a training."""

    trained_on: tuple[StoreFacts, ...]
    validated_on: tuple[StoreFacts, ...]

    @classmethod
    def of(cls, scenes: SceneFolders, val_scenes: SceneFolders | None) -> DataFacts:
        """The facts in the manifests."""
        return cls(_facts(scenes), _facts(val_scenes) if val_scenes else ())


def _facts(folders: SceneFolders) -> tuple[StoreFacts, ...]:
    return tuple(
        StoreFacts(
            name=path.name,
            adapter=store.manifest.adapter,
            scenes=len(store),
            splits=dict(store.manifest.counts.splits),
            content_hash=store.manifest.content_hash,
        )
        for path, store in zip(folders.paths, folders.stores, strict=True)
    )


def make_card(
    config: TrainConfig, data: DataFacts, report: Report | None, *, step: int, cpu_minutes: float
) -> Card:
    """The card of the weights at ``step``; ``report`` is the latest validation."""
    seen = {facts.content_hash for facts in data.trained_on}
    learned = any(facts.content_hash in seen for facts in data.validated_on)
    warning = "The figures are of scenes that the model was trained on. " if learned else ""
    figures = report.figures if report else ()
    return Card(
        data="; ".join(map(str, data.trained_on)),
        terms=config.terms,
        command=_command(),
        seed=config.trainer.seed,
        duration=f"{step} steps, {cpu_minutes:.2f} CPU minutes on {platform.machine()}, "
        f"torch {torch.__version__}",
        split="; ".join(map(str, data.validated_on)) if report else "",
        figures={_title(report, figure): figure.value for figure in figures if report},
        limits=f"{warning}Research use; not for driving.",
    )


def _title(report: Report, figure: Figure) -> str:
    return (
        f"{report.protocol} {figure.metric} K={figure.k} "
        f"({figure.horizon:g} s, {figure.agents}, n={figure.n} {figure.over})"
    )


def _command() -> str:
    """The command line, where there is one that can be given again."""
    program = Path(sys.argv[0]).name if sys.argv else ""
    return shlex.join([program, *sys.argv[1:]]) if program == "motionpred" else ""
