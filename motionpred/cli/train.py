"""``motionpred train``: a store → a model bundle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionpred.cli.console import say, shown, table, then, warn, wrote

if TYPE_CHECKING:
    from motionpred.prediction import Prediction
    from motionpred.scene import Scene

NAME = "train"

_STOPPED = 3  # exit code: a part is done


def command(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            help="Settings as key=value, e.g. store=STORE model=regression model.size=nano "
            "trainer.max_steps=2000; +experiment=NAME for a whole set of them; resume=RUN to go "
            "on with a run."
        ),
    ] = None,
) -> None:
    """Train a model on a store; the defaults are in configs/.

    Ctrl-C or SIGTERM ends it after the step with a checkpoint; resume=RUN goes on.
    """
    run(overrides or [])


def run(overrides: list[str]) -> Path:
    """Train by overrides; returns the bundle's path."""
    from motionpred.training import compose, train

    config = compose(overrides)
    result = train(config, draw=_draw)
    if result.process:  # the first of several speaks for all
        return shown(result.bundle)
    if result.metrics:
        table(("figure", "value"), sorted(result.metrics.items()), title="last validation")
    say(f"{result.steps} steps on {result.scenes} scenes")
    if result.dropped:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(result.dropped.items()))
        say(f"in the first epoch, batches left out: {counts}")
    wrote(result.run, "run folder: settings, log, checkpoints")
    if result.log_folder is not None:
        wrote(result.log_folder, config.logger.name)
        if config.logger.name == "wandb":
            then(f"wandb sync {shown(result.log_folder)}")
    if result.stopped_by is not None:
        warn(f"stopped by {result.stopped_by} at step {result.steps}; its checkpoint is written")
        then(f"motionpred train resume={shown(result.run)}")
        raise typer.Exit(_STOPPED)
    wrote(result.bundle, "model bundle")
    then(f"motionpred evaluate {shown(config.store_paths[0])} {shown(result.bundle)}")
    return shown(result.bundle)


def _draw(scene: Scene, prediction: Prediction, path: Path) -> None:
    from motionpred.viz import save_png

    save_png(scene, prediction, path, dpi=110)
