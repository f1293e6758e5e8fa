"""``motionpred demo``: the whole chain on scenes made by hand; needs no data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from motionpred.cli import evaluate, inspect, predict, prepare, render, train
from motionpred.cli.console import out as console
from motionpred.cli.console import say, then, wrote

NAME = "demo"

_SCENES = {"train": 48, "val": 6}


def command(
    out: Annotated[Path, typer.Option(help="Folder to write.")] = Path("demo"),
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = 600,
) -> None:
    """Raw files, store, training, figures, forecasts, picture: the whole chain in minutes.

    The scenes are made by hand and written in the Argoverse 2 layout, so each step is the command
    that you would run on the real files.
    """
    from motionpred.datasets.argoverse2 import write_scene
    from motionpred.testing import crossing_scene

    raw, store, val = out / "raw", out / "store", out / "store-val"
    seed = 0
    for split, count in _SCENES.items():
        for _ in range(count):
            write_scene(crossing_scene(f"crossing-{seed:02d}", seed=seed, split=split), raw)
            seed += 1
    wrote(raw, f"{seed} scenes in the Argoverse 2 layout")

    for split, folder in (("train", store), ("val", val)):
        _announce(f"prepare argoverse2 {raw} {folder} --split {split}")
        prepare.command("argoverse2", raw, folder, split=split)
    _announce(f"inspect {store}")
    inspect.command(store, rows=3)

    run = out / "run"
    overrides = [
        f"store={store}",
        f"val_store={val}",
        "model=regression",
        "model.size=nano",
        f"trainer.max_steps={steps}",
        f"out={run}",
    ]
    _announce(f"train {' '.join(overrides)}")
    bundle = train.run(overrides)

    for model in ("constant-velocity", str(bundle)):
        _announce(f"evaluate {val} {model} --protocol argoverse2-multi")
        evaluate.command(val, model, protocol=["argoverse2-multi"])
    forecasts, picture = out / "forecasts.parquet", out / "scene.png"
    _announce(f"predict {bundle} {val} --out {forecasts}")
    predict.command(str(bundle), val, out=forecasts)
    _announce(f"render {val} {forecasts} --limit 1 --out {picture}")
    render.command(val, [str(forecasts)], out=picture, limit=1)
    console.rule()
    say(f"the picture is {picture}, the tables above compare constant velocity with the model")
    then("motionpred models", "motionpred prepare argoverse2 ROOT STORE")


def _announce(line: str) -> None:
    console.rule()
    say(f"$ motionpred {line}")
