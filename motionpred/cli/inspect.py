"""``motionpred inspect``: what is in a store or in raw files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from motionpred.cli import options
from motionpred.cli.console import counted, say, table, then

NAME = "inspect"

_COLUMNS = ("scene", "split", "steps", "now", "agents", "at_now", "focal", "scored", "polylines")


def command(
    source: Annotated[Path, typer.Argument(metavar="STORE|RAW", help="A store, or raw files.")],
    check: Annotated[
        bool, typer.Option("--check", help="Read everything again; compare the store's hashes.")
    ] = False,
    rows: Annotated[int, typer.Option(min=0, help="Scenes to list.")] = 20,
    dataset: options.Dataset = None,
    split: options.Split = None,
    ids: options.Ids = None,
    limit: options.Limit = None,
    filter: options.Filter = None,
) -> None:
    """Count what is in a store or in raw files, and list the first scenes."""
    from motionpred.store import Store

    is_store = Store.is_store(source)
    if is_store:
        store = Store(source)
        manifest = store.manifest
        origin = f"{manifest.adapter}, motionpred {manifest.motionpred}"
        say(f"store of {len(store)} scenes ({origin})")
        say(f"content {manifest.content_hash}")
        failures = store.failures()
        for failure in failures[:10]:
            say(f"failed: {failure.file or failure.source}: {failure.message}")
        if len(failures) > 10:
            say(f"... and {len(failures) - 10} more in {source / 'failures.jsonl'}")
        if check:
            store.verify()
            say("every shard has the hash of the manifest")
    listed: list[dict[str, Any]] = []
    totals: dict[str, Counter[str]] = {
        name: Counter() for name in ("types", "kinds", "links", "map_report")
    }
    scenes = agents = 0
    reading = options.Reading(source, dataset, split, ids, limit, filter)
    for scene in counted(reading, "inspect"):
        summary = (scene.validate() if check else scene).summary()
        scenes += 1
        agents += summary["agents"]
        for name, total in totals.items():
            total.update(summary[name])
        if len(listed) < rows:
            listed.append(summary)
    if not scenes:
        raise reading.nothing("inspect")
    table(_COLUMNS, ([row[name] for name in _COLUMNS] for row in listed), title="scenes")
    if scenes > len(listed):
        say(f"... and {scenes - len(listed)} more (--rows)")
    names = {"types": "agents", "kinds": "map", "links": "map links", "map_report": "map oddities"}
    table(
        ("what", "count"),
        [("scenes", str(scenes)), ("tracks", str(agents))]
        + [(names[name], dict(total.most_common())) for name, total in totals.items() if total],
        title="in all",
    )
    if check:
        say(f"{scenes} scenes keep the contract")
    then("evaluate", source, "constant-velocity")
    then("render", source, "--limit", 1, "--out", "scene.png")
    reading.finish()
