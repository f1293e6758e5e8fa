"""Raw files into a store: plan, build the shards, put the pieces together."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from motionpred.datasets import Adapter
from motionpred.errors import ConfigError, StoreError
from motionpred.registry import nearest
from motionpred.store.disk import DiskFullError, disk_full, is_disk_full
from motionpred.store.engines import Engine, get_engine
from motionpred.store.finish import finish_store
from motionpred.store.job import (
    BUILD,
    BuildJob,
    ShardCounts,
    ShardPlan,
    ShardRecord,
    finished_record,
)
from motionpred.store.lock import exclusive
from motionpred.store.manifest import MANIFEST, Manifest, check_there
from motionpred.store.plan import LOCK, Plan, check_folder, clear_build, clear_store, drop_parts
from motionpred.store.progress import Meter, PrepareProgress
from motionpred.store.raw import find_sources
from motionpred.store.selection import Selection
from motionpred.store.shard import COMPRESSIONS


@dataclass(frozen=True)
class PrepareReport:
    """What a run of :func:`prepare` did, and what the store now holds."""

    path: Path
    scenes: int
    built: int  # by this run
    resumed: int  # were there before
    failed: int  # see failures.jsonl
    skipped: int  # left out by the selection
    bytes: int  # of the whole store
    without_lanes: int  # scenes whose map has no lane
    map_report: Mapping[str, int] = field(default_factory=dict)
    content_hash: str = ""

    @property
    def nothing_to_do(self) -> bool:
        """Whether the store was complete before."""
        return self.built == 0 and self.resumed == self.scenes


def prepare(
    adapter: Adapter,
    root: str | Path,
    out: str | Path,
    *,
    split: str | None = None,
    ids: Iterable[str] | None = None,
    limit: int | None = None,
    filter: Mapping[str, Any] | None = None,
    workers: int = 1,
    compression: Literal["zstd", "lz4"] | None = None,
    on_error: Literal["continue", "stop"] = "continue",
    engine: str = "local",
    shard_size: int | None = None,
    progress: Callable[[PrepareProgress], None] | None = None,
) -> PrepareReport:
    """Read the raw files below ``root`` and write the scenes as a store into ``out``.

    Interrupted at any point, the same call continues and gives the same bytes, whatever the
    number of ``workers``. Broken scenes are listed in ``failures.jsonl``; the others go on, unless
    ``on_error`` is "stop". ``filter`` maps keys of ``Scene.info`` to wanted values. With a
    ``limit`` shards are built one after another. ``shard_size`` counts sources; by default it
    follows their number.

    Raises:
        SceneError: nothing is found below ``root``, or the first broken scene with "stop".
        ConfigError: a setting does not exist or does not fit, or nothing is selected.
        StoreError: ``out`` holds something else, or a store made otherwise; another process is
            writing it; it does not fit on the disk; a worker process died.
    """
    root, out = Path(root), Path(out)
    _check_choices(compression, on_error, workers)
    build = get_engine(engine)
    selection = Selection.of(split, ids, limit, filter)
    check_folder(out)
    sources = find_sources(adapter, root, selection)
    plan = Plan.of(adapter, sources, selection, compression, shard_size)
    job = BuildJob(adapter, root, out, selection, compression, on_error == "stop")
    meter = Meter(out, len(sources), selection.limit, progress)
    created = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_writable(out, error) from error
    try:
        with exclusive(out / LOCK):
            manifest = _continue(job, plan, plan.shards(sources), build, workers, meter)
    finally:
        if created:
            with contextlib.suppress(OSError):  # not empty: there is something to continue from
                out.rmdir()
    return _report(out, manifest, meter.counts)


def _not_writable(out: Path, error: OSError) -> StoreError:
    return StoreError(
        f"cannot be written: {error}", file=out, remedy="Check the path, its permissions and disk"
    )


def _check_choices(compression: str | None, on_error: str, workers: int) -> None:
    choices: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
        ("compression", compression, COMPRESSIONS),
        ("on_error", on_error, ("continue", "stop")),
    )
    for name, value, known in choices:
        if value is not None and value not in known:
            raise ConfigError(f"is {value!r}", field=name, remedy=nearest(value, known))
    if workers < 1:
        raise ConfigError(f"is {workers}", field="workers", remedy="Use 1 or more")


def _continue(
    job: BuildJob,
    plan: Plan,
    shards: list[ShardPlan],
    build: Engine,
    workers: int,
    meter: Meter,
) -> Manifest:
    """Do what is left to do; the folder is ours alone."""
    out = job.out
    begun = Plan.load(out)
    if begun is not None:
        plan.check_continues(begun, out)
    if (out / MANIFEST).exists():
        clear_build(out)  # of a run that was killed in its very last moment
        manifest = Manifest.load(out)
        check_there(out, manifest)
        return manifest
    try:
        (out / BUILD).mkdir(exist_ok=True)
        if begun is None:
            plan.save(out)
        _build_rest(job, shards, build, workers, meter)
        manifest = finish_store(
            out, job.root, plan, [ShardRecord.of(out, shard) for shard in shards]
        )
    except ConfigError:
        # Nothing is selected: an empty beginning would only be in the way of the next try.
        clear_store(out, shards)
        raise
    except (OSError, DiskFullError) as error:
        if isinstance(error, OSError) and not is_disk_full(error):
            raise _not_writable(out, error) from error
        if not drop_parts(out, shards):
            clear_store(out, shards)
        if isinstance(error, OSError):
            raise disk_full(error, out, meter.counts, meter.sources) from error
        raise
    clear_build(out)
    return manifest


def _build_rest(
    job: BuildJob, shards: list[ShardPlan], build: Engine, workers: int, meter: Meter
) -> None:
    records = [finished_record(job.out, shard) for shard in shards]
    for shard, record in zip(shards, records, strict=True):
        if record is not None:
            meter.add_finished(shard, record)
    pending = shards
    if job.selection.limit is None:  # else the finished ones count towards the limit
        pending = [s for s, record in zip(shards, records, strict=True) if record is None]
    if pending:
        build(job, pending, workers=workers, watch=meter.watch)


def _report(out: Path, manifest: Manifest, done: ShardCounts) -> PrepareReport:
    names = (MANIFEST, *manifest.files, *(shard.name for shard in manifest.shards))
    counts = manifest.counts
    return PrepareReport(
        path=out,
        scenes=counts.scenes,
        built=done.built,
        resumed=done.resumed if done.sources else counts.scenes,
        failed=counts.failed,
        skipped=counts.skipped,
        bytes=sum((out / name).stat().st_size for name in names),
        without_lanes=counts.without_lanes,
        map_report=counts.map_report,
        content_hash=manifest.content_hash,
    )
