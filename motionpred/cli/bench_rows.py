"""How fast the steps of the way of a scene run here: each as passes over the same scenes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from motionpred.graph import SceneBatch
    from motionpred.scene import Scene, TimeSpec
    from motionpred.store import Store

LEAST_PASSES = 3


@dataclass(frozen=True)
class Row:
    """One step: how many scenes a pass takes, and the seconds of every pass."""

    step: str
    scenes: int
    seconds: tuple[float, ...]

    @property
    def rate(self) -> float:
        """Scenes a second, of the median pass."""
        return self.scenes / median(self.seconds)


def measured(step: str, scenes: int, work: Callable[[], object], seconds: float) -> Row:
    """Repeat ``work``, which takes ``scenes`` scenes, for about ``seconds``.

    There are three passes at least, fewer where they take four times as long as that. A first one
    is not counted: it fills caches.
    """
    work()
    passes: list[float] = []
    while (
        not passes
        or sum(passes) < seconds
        or (len(passes) < LEAST_PASSES and sum(passes) < 4 * seconds)
    ):
        begin = time.perf_counter()
        work()
        passes.append(time.perf_counter() - begin)
    return Row(step, scenes, tuple(passes))


def raw_rows(root: Path, work: Path, count: int, seconds: float) -> Iterator[Row]:
    """Reading ``count`` raw Argoverse 2 scenes below ``root``, and preparing a store from them."""
    from motionpred.datasets import get_adapter
    from motionpred.store import prepare

    adapter = get_adapter("argoverse2")
    sources = adapter.find(root)

    def read() -> None:
        for source in sources:
            for _ in adapter.read(source):
                pass

    yield measured("read raw files", count, read, seconds)
    stores: list[Path] = []

    def prepare_anew() -> None:
        stores.append(work / f"store-{len(stores)}")
        prepare(adapter, root, stores[-1])

    yield measured("prepare a store", count, prepare_anew, seconds)


def store_rows(store: Store, indices: Sequence[int], seconds: float) -> Iterator[Row]:
    """Scenes of a store, one by one out of order."""
    shuffled = [*indices[1::2], *indices[::2]]
    yield measured("read a store", len(indices), lambda: [store[i] for i in shuffled], seconds)


def batch_rows(
    scenes: list[Scene], clock: TimeSpec, batch_size: int, seconds: float
) -> Iterator[Row]:
    """From scenes to arrays, and from those to batches."""
    from motionpred.graph import collate, encode

    yield measured(
        "encode", len(scenes), lambda: [encode(scene, clock) for scene in scenes], seconds
    )
    arrays = [encode(scene, clock) for scene in scenes]
    parts = [arrays[i : i + batch_size] for i in range(0, len(arrays), batch_size)]
    yield measured("collate", len(scenes), lambda: [collate(part) for part in parts], seconds)


def forecast_rows(
    scenes: list[Scene],
    clock: TimeSpec,
    models: dict[str, Any],
    batch_size: int,
    device: torch.device,
    seconds: float,
) -> Iterator[Row]:
    """From scenes to forecasts, with all steps between; ``models`` by what to call them."""
    from motionpred.inference import Predictor

    for name, model in models.items():
        predictor = Predictor(model.to(device), name=name, time=clock, device=device)

        def forecast(predictor: Predictor = predictor) -> None:
            for _ in predictor.predict_many(scenes, batch_size=batch_size):
                pass

        yield measured(f"forecast, {name}", len(scenes), forecast, seconds)


def train_rows(
    name: str, model: Any, batch: SceneBatch, device: torch.device, seconds: float
) -> Iterator[Row]:
    """One optimiser step on one batch: loss, gradients, AdamW."""
    import torch

    from motionpred.inference.placement import place

    model = model.to(device).train()
    placed = place(batch, device, torch.float32)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step() -> None:
        terms = model.loss(placed, seed=0, epoch=0)
        loss = torch.stack([t.sum / t.count.clamp(min=1) for t in terms.values()]).sum()
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
        if device.type != "cpu":
            loss.item()  # waits for the device

    yield measured(f"train, {name}", len(batch), step, seconds)
