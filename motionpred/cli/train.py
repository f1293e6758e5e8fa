"""``motionpred train``: a store → a model bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from motionpred.cli.console import say, shown, table, then, wrote

NAME = "train"


def command(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            help="Settings as key=value, e.g. store=STORE model=regression model.size=nano "
            "trainer.max_steps=2000; experiment=NAME for a whole set of them."
        ),
    ] = None,
) -> None:
    """Train a model on a store; the defaults are in configs/."""
    run(overrides or [])


def run(overrides: list[str]) -> Path:
    """Train by overrides; returns the bundle's path."""
    from motionpred.inference import describe
    from motionpred.training import compose, train

    config = compose(overrides)
    result = train(config)
    if result.metrics:
        table(("figure", "value"), sorted(result.metrics.items()), title="last validation")
    say(f"{result.steps} steps on {result.scenes} scenes")
    for line in describe(result.dropped):
        say(f"first epoch: {line}")
    wrote(result.run, "run folder: settings, log")
    wrote(result.bundle, "model bundle")
    scenes = (config.val_store_paths or config.store_paths)[0]
    then("evaluate", scenes, result.bundle)
    return shown(result.bundle)
