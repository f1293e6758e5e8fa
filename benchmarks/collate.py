"""From prepared scenes to one SceneBatch, against PyTorch Geometric doing the same.

    python benchmarks/collate.py --data ROOT [--out DIR] [--copies N] [--repeats N]

Two rows, in turns, on the same scenes, in one process on one thread; CPU time. *collate*: encoded
scenes into a batch, against ``Batch.from_data_list`` on the same scenes as HeteroData. *store*:
from the store to a SceneBatch, against the PyG path from the same store: read, ``build_graph``,
``from_data_list``, ``to_dense_batch`` of every array of agents, map pieces and links. The scenes
below ROOT (Argoverse 2) are prepared under new ids, so that no reader meets a scene twice in a
pass.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from record import command_line, hash_of_files, write_result
from replicated import Replicated
from torch_geometric.data import Batch
from torch_geometric.utils import to_dense_batch

from motionpred.datasets import get_adapter
from motionpred.graph import build_graph, collate, collate_scenes, encode, to_graph
from motionpred.scene import EdgeKind
from motionpred.store import Store, prepare

SEED = 0
BATCH_SIZES = (16, 32)
ARGOVERSE2 = get_adapter("argoverse2")
CLOCK = ARGOVERSE2.time


def dense(batch: Batch) -> dict[str, torch.Tensor]:
    """What a SceneBatch holds, padded by PyG."""
    count = batch.num_graphs
    padded = {}
    for kind in ("agent", "map"):
        store = batch[kind]
        for name, value in store.items():
            if isinstance(value, torch.Tensor) and name not in ("batch", "ptr"):
                padded[f"{kind}.{name}"], mask = to_dense_batch(
                    value, store.batch, batch_size=count
                )
        padded[f"{kind}.mask"] = mask
    pieces = batch["map"]
    links, owner = [], []
    for kind in EdgeKind:
        store = batch["map", kind.name.lower(), "map"]
        scene = pieces.batch[store.edge_index[0]]
        ends = store.edge_index - pieces.ptr[scene]
        columns = (*ends, torch.full_like(scene, int(kind)), store.opposite)
        links.append(torch.stack(columns, dim=-1))
        owner.append(scene)
    scene, order = torch.cat(owner).sort(stable=True)
    padded["links"], _ = to_dense_batch(torch.cat(links)[order], scene, -1, batch_size=count)
    return padded


def in_batches(indices: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """``indices`` in order, ``size`` at a time; the last few are left out."""
    for start in range(0, len(indices) - size + 1, size):
        yield indices[start : start + size]


def ways(store: Store, indices: list[int], size: int) -> dict[str, Callable[[], Any]]:
    """The four passes over the scenes that are timed."""
    rows = [encode(store[index], CLOCK) for index in indices]
    graphs = [to_graph(row) for row in rows]
    places = list(in_batches(range(len(indices)), size))
    batches = list(in_batches(indices, size))

    def collate_ours() -> None:
        for batch in places:
            collate([rows[place] for place in batch])

    def collate_pyg() -> None:
        for batch in places:
            Batch.from_data_list([graphs[place] for place in batch])

    def store_ours() -> None:
        for batch in batches:
            collate_scenes((store[index] for index in batch), CLOCK)

    def store_pyg() -> None:
        for batch in batches:
            dense(Batch.from_data_list([build_graph(store[index], CLOCK) for index in batch]))

    return {
        "collate": collate_ours,
        "collate_pyg": collate_pyg,
        "store": store_ours,
        "store_pyg": store_pyg,
    }


def check_equal(store: Store, indices: list[int]) -> None:
    """Both ways hold the same numbers."""
    ours = collate_scenes((store[index] for index in indices), CLOCK)
    theirs = dense(Batch.from_data_list([build_graph(store[index], CLOCK) for index in indices]))
    pairs = {
        "agent.history_state": ours.history.state,
        "agent.target_state": ours.target.state,
        "map.points": ours.map_points,
        "links": ours.lane_edges,
    }
    for name, tensor in pairs.items():
        size = theirs[name].shape[1]
        if not torch.equal(theirs[name], tensor[:, :size]):
            raise RuntimeError(f"both ways differ in {name}")


def measure(passes: dict[str, Callable[[], Any]], scenes: int, repeats: int) -> dict[str, Any]:
    """CPU milliseconds a scene of every pass, one figure a repeat, after one pass to warm up.

    Every other repeat goes backwards: who comes second finds the scenes in the processor's cache.
    """
    times: dict[str, list[float]] = {name: [] for name in passes}
    for repeat in range(repeats + 1):
        for name in list(passes)[:: 1 if repeat % 2 else -1]:
            start = time.process_time()
            passes[name]()
            if repeat:
                times[name].append(round((time.process_time() - start) * 1e3 / scenes, 4))
    return times


def summarise(times: dict[str, list[float]]) -> dict[str, float]:
    """Medians of times and of ratios within a repeat."""
    figures = {f"{name}_cpu_ms": statistics.median(values) for name, values in times.items()}
    for name in ("collate", "store"):
        ratios = [b / a for a, b in zip(times[name], times[f"{name}_pyg"], strict=True)]
        figures[f"{name}_ratio"] = round(statistics.median(ratios), 2)
        figures[f"{name}_ratio_least"] = round(min(ratios), 2)
    return figures


def main() -> None:
    """Run the benchmark and write its result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of Argoverse 2 scenarios")
    parser.add_argument("--out", type=Path, help="default benchmarks/results")
    parser.add_argument("--copies", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    torch.set_num_threads(1)
    raw, summary = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        count = options.copies * len(ARGOVERSE2.find(options.data))
        adapter = Replicated(ARGOVERSE2.name, count)
        prepare(adapter, options.data, Path(folder) / "store", on_error="stop")
        store = Store(Path(folder) / "store")
        indices = list(range(len(store)))
        random.Random(SEED).shuffle(indices)
        check_equal(store, indices[: BATCH_SIZES[0]])
        for size in BATCH_SIZES:
            scenes = len(indices) // size * size
            raw[f"batch_{size}"] = measure(ways(store, indices, size), scenes, options.repeats)
            summary[f"batch_{size}"] = summarise(raw[f"batch_{size}"])
    summary |= {
        "scenes": len(indices),
        "target": {"collate_ratio": 3.0, "store_ratio": 2.0, "store_cpu_ms": 3.0},
    }
    path = write_result(
        "collate",
        options.out,
        {"cpu_ms_per_scene": raw},
        summary,
        command_line(),
        hash_of_files(options.data),
        SEED,
        packages=("numpy", "pyarrow", "torch", "torch-geometric"),
    )
    print(json.dumps(summary, indent=2))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
