"""``motionpred prepare``: raw files → a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from motionpred.cli import options
from motionpred.cli.console import bar, say, table, then, warn, wrote

NAME = "prepare"

Compression = Literal["zstd", "lz4"]
OnError = Literal["continue", "stop"]


def command(
    dataset: Annotated[str, typer.Argument(help="Adapter, e.g. argoverse2 (see models).")],
    root: Annotated[Path, typer.Argument(help="Folder with the publisher's files.")],
    store: Annotated[Path, typer.Argument(help="Folder to write.")],
    split: options.Split = None,
    ids: options.Ids = None,
    limit: options.Limit = None,
    filter: options.Filter = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    compression: Annotated[
        Compression | None, typer.Option(help="Smaller, slower to read; none by default.")
    ] = None,
    on_error: Annotated[OnError, typer.Option(help="What a broken scene does.")] = "continue",
) -> None:
    """Convert raw files into a store, once. Interrupted, the same command goes on."""
    from motionpred.datasets import get_adapter
    from motionpred.store import prepare

    with bar("prepare") as shown:
        report = prepare(
            get_adapter(dataset),
            root,
            store,
            split=split,
            ids=options.scene_ids(ids),
            limit=limit,
            filter=options.filters(filter),
            workers=workers,
            compression=compression,
            on_error=on_error,
            progress=lambda state: shown.update(state.done, state.total),
        )
    say(
        f"{report.scenes} scenes: {report.built} built, {report.resumed} already there, "
        f"{report.skipped} skipped by the selection, {report.failed} failed"
    )
    if report.without_lanes:
        warn(f"{report.without_lanes} of {report.scenes} scenes have a map without lanes")
    counts = {name: str(count) for name, count in report.map_report.items() if count}
    if counts:
        table(("found in the maps", "count"), counts.items())
    wrote(store, f"{report.bytes / 1e6:.1f} MB")
    if report.failed:
        warn(f"{report.failed} scenes failed: see {store / 'failures.jsonl'}")
    then("inspect", store)
    if report.failed:
        raise typer.Exit(3 if report.scenes else 1)
