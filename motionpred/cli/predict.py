"""``motionpred predict``: a model's forecasts → a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionpred.cli import options
from motionpred.cli.console import counted, say, then, wrote
from motionpred.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from motionpred.prediction import Prediction

NAME = "predict"


def command(
    model: Annotated[str, typer.Argument(help="A bundle, or a baseline's name (see models).")],
    source: Annotated[Path, typer.Argument(metavar="STORE|RAW", help="Scenes to forecast.")],
    out: Annotated[Path, typer.Option(help="Parquet file to write.")],
    agents: options.Agents = "scored",
    modes: Annotated[int, typer.Option(min=1, help="Futures a scene.")] = 6,
    seed: Annotated[int, typer.Option(help="Seed of the forecast.")] = 0,
    batch_size: Annotated[int, typer.Option(min=1, help="Scenes a batch.")] = 16,
    dataset: options.Dataset = None,
    split: options.Split = None,
    ids: options.Ids = None,
    limit: options.Limit = None,
    filter: options.Filter = None,
) -> None:
    """Forecast scenes; no future is needed and none is looked at."""
    from motionpred.inference import load
    from motionpred.prediction import save_predictions

    if out.suffix.lower() != ".parquet":
        raise ConfigError(f"is {out}", field="--out", remedy="Name a .parquet file")
    predictor = load(model)
    scenes = counted(options.read(source, dataset, split, ids, limit, filter), "predict")
    predictions = _nonempty(
        predictor.predict_many(
            scenes, modes=modes, agents=agents, seed=seed, batch_size=batch_size
        ),
        source,
    )
    count = save_predictions(out, predictions)
    for what, number in {**predictor.skipped, **predictor.dropped}.items():
        say(f"{number} {what}")
    wrote(out, f"forecasts of {count} scenes")
    then(
        f"motionpred evaluate {source} {out}",
        f"motionpred render {source} {out} --limit 1 --out scene.png",
    )


def _nonempty(predictions: Iterator[Prediction], source: Path) -> Iterator[Prediction]:
    first = next(predictions, None)
    if first is None:
        raise StoreError("has no scene to forecast", file=source)
    yield first
    yield from predictions
