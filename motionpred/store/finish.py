"""The last step of a store: index, failures, list of sources, and the manifest that closes it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from motionpred.files import sha256_of, write_atomically
from motionpred.scene import TimeSpec
from motionpred.store.failures import Failure
from motionpred.store.job import Row, ShardRecord
from motionpred.store.manifest import (
    FAILURES,
    INDEX,
    SOURCES,
    Counts,
    Manifest,
    content_hash,
)
from motionpred.store.plan import Plan
from motionpred.store.selection import Seen, Selection


def finish_store(out: Path, root: Path, plan: Plan, records: Sequence[ShardRecord]) -> Manifest:
    """Write everything but the shards; the manifest comes last and makes the store a finished one.

    Raises:
        ConfigError: the selection let nothing pass.
    """
    selection = Selection.from_dict(plan.options)
    rows, failures = _index_rows(records, plan)
    failures += _missing(selection, rows, failures)
    _check_not_empty(selection, records, rows, failures, root)
    write_atomically(out / INDEX, _index_bytes(rows))
    lines = "".join(f"{failure.to_line()}\n" for failure in failures)
    write_atomically(out / FAILURES, lines.encode())
    keys = json.dumps(plan.sources, indent=0, ensure_ascii=False)
    write_atomically(out / SOURCES, f"{keys}\n".encode())
    report: Counter[str] = Counter()
    for record in records:
        report.update(record.map_report)
    shards = tuple(record.shard for record in records if record.shard is not None)
    files = {name: sha256_of(out / name) for name in (INDEX, FAILURES, SOURCES)}
    manifest = Manifest(
        format=plan.format,
        adapter=plan.adapter,
        motionpred=plan.motionpred,
        options=dict(plan.options),
        time=TimeSpec(**plan.time),
        counts=Counts(
            sources=len(plan.sources),
            scenes=len(rows),
            failed=len(failures),
            skipped=sum(record.skipped for record in records),
            splits=dict(Counter(row.split for _, _, row in rows)),
            without_lanes=sum(record.without_lanes for record in records),
            map_report={name: count for name, count in sorted(report.items()) if count},
        ),
        content_hash=content_hash(shards, files),
        shards=shards,
        files=files,
    )
    manifest.save(out)
    return manifest


def _index_rows(
    records: Sequence[ShardRecord], plan: Plan
) -> tuple[list[tuple[int, int, Row]], list[Failure]]:
    """(shard, row in it, scene) of every scene, and the failures, both in the order of the sources.

    A scene id that comes a second time is left out of the index and listed as a failure: it could
    not be told from the first.
    """
    rows: list[tuple[int, int, Row]] = []
    failures: list[Failure] = []
    first: dict[str, str] = {}
    shard = 0
    for record in records:
        found = list(record.failures)
        for place, row in enumerate(record.rows):
            if row.scene_id in first:
                found.append(_duplicate(row, first[row.scene_id]))
            else:
                first[row.scene_id] = row.source
                rows.append((shard, place, row))
        failures += found
        shard += record.shard is not None
    order = {key: i for i, key in enumerate(plan.sources)}
    failures.sort(key=lambda failure: (order[failure.source], failure.ordinal))
    return rows, failures


def _duplicate(row: Row, first: str) -> Failure:
    return Failure(
        source=row.source,
        ordinal=row.ordinal,
        message=f"the scene is already in the store, from {first}",
        scene=row.scene_id,
        field="scene_id",
        remedy="Prepare the two folders into different stores, or remove one copy",
    )


def _missing(
    selection: Selection, rows: list[tuple[int, int, Row]], failures: list[Failure]
) -> list[Failure]:
    """Wanted ids that no source gave."""
    if selection.ids is None or selection.limit is not None:
        return []
    found = {row.scene_id for _, _, row in rows} | {failure.scene for failure in failures}
    return [
        Failure(
            source="",
            ordinal=0,
            message="no scene of this id is selected",
            scene=scene_id,
            field="ids",
            remedy="Check the ids and the split",
        )
        for scene_id in selection.ids
        if scene_id not in found
    ]


def _check_not_empty(
    selection: Selection,
    records: Sequence[ShardRecord],
    rows: Sequence[Any],
    failures: Sequence[Failure],
    root: Path,
) -> None:
    if rows or any(failure.source for failure in failures):
        return
    seen = Seen(selection)
    seen.skipped = sum(record.skipped for record in records)
    for record in records:
        seen.keys.update(record.keys)
        for key, values in record.values.items():
            seen.values.setdefault(key, set()).update(values)
    seen.check(root)


def _index_bytes(rows: Sequence[tuple[int, int, Row]]) -> bytes:
    import pyarrow as pa

    table = pa.table(
        {
            "scene_id": pa.array([row.scene_id for _, _, row in rows], pa.string()),
            "split": pa.array([row.split for _, _, row in rows], pa.string()),
            "source": pa.array([row.source for _, _, row in rows], pa.string()),
            "ordinal": pa.array([row.ordinal for _, _, row in rows], pa.int32()),
            "shard": pa.array([shard for shard, _, _ in rows], pa.int32()),
            "row": pa.array([place for _, place, _ in rows], pa.int32()),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
