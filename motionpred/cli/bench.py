"""``motionpred bench``: how fast this machine is at each step, in a few seconds."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionpred.cli.console import bar, say, table, then, wrote
from motionpred.cli.json_file import save_json
from motionpred.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from motionpred.cli.bench_rows import Row
    from motionpred.scene import Scene, TimeSpec

NAME = "bench"

_MADE = 16  # hand-made scenes
_PACKAGES = ("motionpred", "numpy", "pyarrow", "torch", "pytorch-lightning", "torch-geometric")


def command(
    store: Annotated[
        Path | None, typer.Argument(metavar="[STORE]", help="Scenes; hand-made ones by default.")
    ] = None,
    model: Annotated[str, typer.Option(help="Model to forecast with and to train.")] = "regression",
    size: Annotated[str, typer.Option(help="Its size: nano, small or base.")] = "nano",
    batch_size: Annotated[int, typer.Option(min=1, help="Scenes a batch.")] = 16,
    limit: Annotated[int, typer.Option(min=1, help="Scenes of a store to use.")] = 64,
    seconds: Annotated[float, typer.Option(min=0.0, help="Seconds a row, about.")] = 0.5,
    device: Annotated[str, typer.Option(help="cpu, cuda, … or auto.")] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="Also write figures and machine as JSON.")
    ] = None,
) -> None:
    """Measure reading, preparing, batches, forecasts and training steps on this machine.

    Rates of different machines or versions can be compared if scenes, model, size and batch size
    are the same. With a STORE the rows of raw files are left out.
    """
    if not math.isfinite(seconds):
        raise ConfigError(f"is {seconds}", field="--seconds", remedy="Use a number of seconds")
    import torch

    from motionpred.cli.checkup.machine import machine_facts
    from motionpred.inference.placement import resolve_device

    where = resolve_device(device)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="motionpred-bench-") as folder, bar("bench") as shown:
        setting = {"model": model, "size": size, "batch_size": batch_size}
        for row in _rows(store, limit, model, size, batch_size, seconds, where, Path(folder)):
            rows.append(row)
            shown.update(len(rows))
    facts = machine_facts()
    scenes = f"{rows[-2].scenes} scenes of {store}" if store else f"{_MADE} hand-made scenes"
    table(
        ("step", "scenes/s", "ms a scene", "passes"),
        [(r.step, _rounded(r.rate), 1e3 / r.rate, len(r.seconds)) for r in rows],
        title=f"{scenes}, batches of {batch_size}",
    )
    threads = torch.get_num_threads()
    say(
        f"{facts['processor']}, {facts['usable_cores']:g} usable cores, torch threads: {threads}, "
        f"{_device_name(where)}, torch {torch.__version__}"
    )
    if out is not None:
        plain = {
            "machine": {**facts, "threads": threads, "device": _device_name(where)},
            "packages": {name: _version(name) for name in _PACKAGES},
            "scenes": "hand-made" if store is None else str(store),
            **setting,
            "rows": [
                {"step": r.step, "scenes": r.scenes, "seconds": r.seconds, "rate": r.rate}
                for r in rows
            ],
        }
        save_json(out, plain)
        wrote(out, "figures")
    then("motionpred doctor")


def _rows(
    store: Path | None,
    limit: int,
    model: str,
    size: str,
    batch_size: int,
    seconds: float,
    device: Any,
    folder: Path,
) -> Iterator[Row]:
    from motionpred.cli import bench_rows
    from motionpred.graph import collate_scenes
    from motionpred.models import build_model, get_model
    from motionpred.store import Store

    if not get_model(model).trainable:
        raise ConfigError(
            f"{model} has nothing to train", field="--model", remedy="See 'motionpred models'"
        )
    if store is None:
        raw = _hand_made(folder / "raw")
        yield from bench_rows.raw_rows(raw, folder, _MADE, seconds)
        store = folder / "store-0"
    opened = Store(store)
    indices = range(min(len(opened), limit))
    if not indices:
        raise StoreError("has no scene to measure with", file=store)
    yield from bench_rows.store_rows(opened, indices, seconds)
    scenes: list[Scene] = [opened[i] for i in indices]
    clock: TimeSpec = opened.manifest.time
    yield from bench_rows.batch_rows(scenes, clock, batch_size, seconds)
    settings = {"size": size}
    baseline = build_model("constant-velocity", {}, clock)
    learned = build_model(model, settings, clock)
    models = {"constant-velocity": baseline, f"{model} {size}": learned}
    yield from bench_rows.forecast_rows(scenes, clock, models, batch_size, device, seconds)
    batch = collate_scenes(scenes[:batch_size], clock)
    yield from bench_rows.train_rows(f"{model} {size}", learned, batch, device, seconds)


def _hand_made(root: Path) -> Path:
    from motionpred.datasets.argoverse2 import write_scene
    from motionpred.testing import crossing_scene

    for seed in range(_MADE):
        write_scene(crossing_scene(f"crossing-{seed:02d}", seed=seed), root)
    return root


def _rounded(rate: float) -> float:
    return round(rate) if rate >= 100 else rate


def _device_name(device: Any) -> str:
    import torch

    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
