"""``motionpred synthesize``: scenes of synthetic traffic → files in the Argoverse 2 layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from motionpred.cli.console import bar, say, then, wrote
from motionpred.errors import StoreError

NAME = "synthesize"

Split = Literal["train", "val", "test"]
Layout = Literal["argoverse2", "synthetic"]

_CHUNK = 10  # scenes that a process makes before it reports


def command(
    out: Annotated[Path, typer.Argument(help="Folder to write.")],
    split: Annotated[Split, typer.Option(help="Split, and with it seed and count.")] = "train",
    count: Annotated[
        int | None, typer.Option(min=1, help="Scenes; by default those of the data set.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed; by default that of the split.")
    ] = None,
    layout: Annotated[
        Layout,
        typer.Option(
            help="argoverse2: files like the publisher's; synthetic: a small file that says which "
            "scenes, they are made when they are read."
        ),
    ] = "argoverse2",
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
) -> None:
    """Make scenes of synthetic traffic. Interrupted, the same command goes on."""
    from motionpred.datasets.synthetic import SPLITS, VERSION, write_spec

    own_seed, own_count = SPLITS[split]
    count = own_count if count is None else count
    seed = own_seed if seed is None else seed
    try:
        if layout == "synthetic":
            wrote(write_spec(out, split, seed, count), f"{count} scenes of seed {seed}")
        else:
            _write(out, split, seed, count, workers)
            wrote(out / split, f"{count} scenes of {VERSION}, seed {seed}")
    except OSError as error:
        raise StoreError(
            f"cannot be written: {error.strerror or error}",
            file=out,
            remedy="Free some space or name another folder; what is finished is kept",
        ) from error
    then(f"motionpred prepare {layout} {out} store/{split} --split {split}")


def _write(out: Path, split: Split, seed: int, count: int, workers: int) -> None:
    from motionpred.datasets.synthetic import scene_id

    # A folder is there only when it is complete, and its name holds version, seed and index.
    missing = [i for i in range(count) if not (out / split / scene_id(seed, i)).is_dir()]
    if len(missing) < count:
        say(f"{count - len(missing)} scenes are there already")
    chunks = [missing[i : i + _CHUNK] for i in range(0, len(missing), _CHUNK)]
    left_out: Counter[str] = Counter()
    with bar("synthesize", len(missing)) as shown:
        done = 0
        for made, lost in _made(out, split, seed, chunks, workers):
            done += made
            left_out.update(lost)
            shown.update(done, len(missing))
    if left_out:
        words = ", ".join(f"{name} (in {n} scenes)" for name, n in sorted(left_out.items()))
        say(f"no place in the layout for: {words}")


def _made(
    out: Path, split: Split, seed: int, chunks: list[list[int]], workers: int
) -> Iterator[tuple[int, Counter[str]]]:
    if workers == 1 or len(chunks) < 2:
        for chunk in chunks:
            yield write_chunk(out, split, seed, chunk)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        waiting = [pool.submit(write_chunk, out, split, seed, chunk) for chunk in chunks]
        for finished in as_completed(waiting):
            yield finished.result()
    finally:
        pool.shutdown(cancel_futures=True)


def write_chunk(out: Path, split: str, seed: int, indices: list[int]) -> tuple[int, Counter[str]]:
    """Make and write some scenes; how many, and in how many the layout lacks a place for what."""
    import warnings

    from motionpred.datasets.argoverse2 import left_out, write_scene
    from motionpred.datasets.synthetic import generate

    lost: Counter[str] = Counter()
    for index in indices:
        scene = generate(seed, index, split=split)
        lost.update(left_out(scene).keys())
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Argoverse 2 has no place")  # said once, at the end
            write_scene(scene, out)
    return len(indices), lost
