"""``motionpred predict``: a model's forecasts → a file."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from motionpred.cli import options
from motionpred.cli.console import counted, then, wrote
from motionpred.cli.forecaster import Forecaster
from motionpred.errors import ConfigError

NAME = "predict"


def command(
    model: Annotated[str, typer.Argument(help="A bundle, or a baseline's name (see models).")],
    source: Annotated[Path, typer.Argument(metavar="STORE|RAW", help="Scenes to forecast.")],
    out: Annotated[Path, typer.Option(help="Parquet file to write.")],
    agents: options.Agents = "scored",
    modes: Annotated[int, typer.Option(min=1, help="Futures a scene.")] = 6,
    seed: Annotated[int, typer.Option(help="Seed of the forecast.")] = 0,
    batch_size: Annotated[int, typer.Option(min=1, help="Scenes a batch.")] = 16,
    device: options.Device = "auto",
    dataset: options.Dataset = None,
    split: options.Split = None,
    ids: options.Ids = None,
    limit: options.Limit = None,
    filter: options.Filter = None,
) -> None:
    """Forecast scenes; no future is needed and none is looked at."""
    from motionpred.prediction import save_predictions

    options.check_file(out, ".parquet")
    reading = options.Reading(source, dataset, split, ids, limit, filter)
    forecaster = Forecaster(
        model, modes=modes, agents=agents, seed=seed, batch_size=batch_size, device=device
    )
    if forecaster.predictor is None:
        raise ConfigError("is a forecast file", file=model, field="MODEL", remedy="Name a model")
    pairs = forecaster.pairs(counted(reading, "predict"))
    first = next(pairs, None)
    if first is None:
        raise reading.nothing("forecast")
    count = save_predictions(out, (item for _, item in chain([first], pairs) if item is not None))
    forecaster.report()
    wrote(out, f"forecasts of {count} scenes")
    then("evaluate", source, out)
    then("render", source, out, "--limit", 1, "--out", "scene.png")
    reading.finish()
