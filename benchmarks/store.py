"""Row "store": size against the raw files, random access against one ``torch.save`` file per scene.

    python benchmarks/store.py --data ROOT [--out DIR] [--scenes N] [--repeats N]

ROOT holds Argoverse 2 scenarios; they are replicated under new ids. Random access reads the same
scenes in the same random order, in turns, in one process of one thread with a warm page cache.
The peer is a file per scene that holds the same dense arrays as tensors, read by ``torch.load`` as
it is by default (which unpickles safely); the figure for ``weights_only=False``, which runs
whatever the file says, is given beside it.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from record import hash_of_files, write_result
from replicated import Replicated, bytes_of

from motionpred.scene import Scene
from motionpred.store import Store, prepare

SEED = 0
READS = 300  # scenes per reader and repeat


def as_tensors(value: Any) -> Any:
    """A Scene as nested dicts of tensors and plain values: what a user would give to torch.save."""
    if is_dataclass(value):
        return {field.name: as_tensors(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind == "U" else torch.from_numpy(value.copy())
    if isinstance(value, dict):
        return {key: as_tensors(item) for key, item in value.items()}
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def rates(
    readers: dict[str, Callable[[int], object]], count: int, repeats: int
) -> dict[str, list[float]]:
    """Scenes per second of every reader, one figure per repeat, after one pass to warm up."""
    rng = random.Random(SEED)
    found: dict[str, list[float]] = {name: [] for name in readers}
    for repeat in range(repeats + 1):
        places = [rng.randrange(count) for _ in range(READS)]
        for name, read in readers.items():
            start = time.perf_counter()
            for place in places:
                read(place)
            if repeat:
                found[name].append(round(READS / (time.perf_counter() - start), 1))
    return found


def save_files(scenes: Sequence[Scene] | Store, folder: Path) -> list[Path]:
    """One ``torch.save`` file per scene."""
    folder.mkdir()
    paths = []
    for place in range(len(scenes)):
        paths.append(folder / f"{place:06d}.pt")
        torch.save(as_tensors(scenes[place]), paths[-1])
    return paths


def prepared(data: Path, folder: Path, scenes: int) -> dict[str, int]:
    """Stores below ``folder``, by name of their compression; their sizes."""
    adapter = Replicated("argoverse2", scenes)
    return {
        name: prepare(adapter, data, folder / name, compression=compression).bytes
        for name, compression in (("plain", None), ("lz4", "lz4"), ("zstd", "zstd"))
    }


def main() -> None:
    """Run the benchmark and write its result."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of Argoverse 2 scenarios")
    parser.add_argument("--out", type=Path, help="default benchmarks/results")
    parser.add_argument("--scenes", type=int, default=600)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        raw_bytes = bytes_of(Replicated("argoverse2", options.scenes).find(options.data))
        sizes = prepared(options.data, folder, options.scenes)
        plain, lz4, zstd = (Store(folder / name) for name in ("plain", "lz4", "zstd"))
        files = save_files(plain, folder / "files")
        peer_bytes = sum(path.stat().st_size for path in files)
        access = rates(
            {
                "store": plain.__getitem__,
                "store lz4": lz4.__getitem__,
                "store zstd": zstd.__getitem__,
                "torch.load": lambda i: torch.load(files[i]),
                "torch.load weights_only=False": lambda i: torch.load(files[i], weights_only=False),
            },
            options.scenes,
            options.repeats,
        )
    middle = {reader: statistics.median(values) for reader, values in access.items()}
    summary = {
        "scenes": options.scenes,
        "size_over_raw": round(sizes["plain"] / raw_bytes, 3),
        "size_over_raw_lz4": round(sizes["lz4"] / raw_bytes, 3),
        "size_over_raw_zstd": round(sizes["zstd"] / raw_bytes, 3),
        "size_over_raw_torch_files": round(peer_bytes / raw_bytes, 3),
        "access_over_torch_load": round(middle["store"] / middle["torch.load"], 2),
        "access_over_torch_load_unsafe": round(
            middle["store"] / middle["torch.load weights_only=False"], 2
        ),
        "access_over_torch_load_lz4": round(middle["store lz4"] / middle["torch.load"], 2),
        "access_over_torch_load_zstd": round(middle["store zstd"] / middle["torch.load"], 2),
        "targets": {
            "size_over_raw": 0.75,
            "size_over_raw_zstd": 0.4,
            "access_over_torch_load": 8,
        },
    }
    raw = {
        "raw_bytes": raw_bytes,
        "store_bytes": sizes,
        "torch_file_bytes": peer_bytes,
        "access_scenes_per_s": access,
    }
    path = write_result(
        "store",
        options.out,
        raw,
        summary,
        data_hash=hash_of_files(options.data),
        seed=SEED,
        packages=("numpy", "pyarrow", "torch"),
    )
    print(json.dumps(summary, indent=2))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
