"""Building one shard: read its sources, write its scenes, and continue where a kill left off."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from motionpred.datasets import Source
from motionpred.errors import SceneError
from motionpred.files import sync_folder, write_atomically
from motionpred.scene import MapKind, Scene
from motionpred.store.decoding import decode, origin
from motionpred.store.encoding import encode
from motionpred.store.failures import Failure
from motionpred.store.job import (
    BUILD,
    BuildJob,
    Row,
    ShardCounts,
    ShardPlan,
    ShardRecord,
    finished_record,
    record_path,
)
from motionpred.store.lock import exclusive
from motionpred.store.manifest import ShardInfo
from motionpred.store.raw import checked_scenes
from motionpred.store.selection import Seen
from motionpred.store.shard import Mark, ShardWriter, recovered

_ORPHAN_PATIENCE = 30.0  # seconds that a worker of a killed run may take to notice


class Stopped(Exception):
    """Raised inside a worker when the run as a whole ends early; what was built stays."""


def build_shard(
    job: BuildJob,
    plan: ShardPlan,
    limit: int | None,
    report: Callable[[ShardCounts], bool],
) -> None:
    """Build one shard, or finish one that was begun; ``limit`` caps its scenes.

    ``report`` is called after every scene and says whether to go on.

    Raises:
        SceneError: a scene is broken and the job stops on errors.
        OSError: the shard cannot be written.
        Stopped: ``report`` said so.
    """
    folder = job.out / BUILD
    with exclusive(folder / f"{plan.name}.lock", wait=_ORPHAN_PATIENCE):
        if finished_record(job.out, plan) is not None:
            return
        builder = _Builder(job, plan, limit, report)
        try:
            builder.run()
        finally:
            builder.close()


class _Builder:
    def __init__(
        self,
        job: BuildJob,
        plan: ShardPlan,
        limit: int | None,
        report: Callable[[ShardCounts], bool],
    ) -> None:
        self.job, self.plan, self.limit, self.report = job, plan, limit, report
        folder = job.out / BUILD
        self.part = folder / f"{plan.name}.part"
        self.old = folder / f"{plan.name}.old"
        self.failures_part = folder / f"{plan.name}.failures"
        self.record = ShardRecord(None)
        self.seen = Seen(job.selection)
        self.counts = ShardCounts()
        self.done: set[tuple[str, int]] = set()
        self.writer: ShardWriter | None = None
        self.failure_log: TextIO | None = None

    def run(self) -> None:
        mark, lines = self._begin()
        self.writer = ShardWriter(self.part, self.job.compression)
        self._recover(mark, lines)
        self._tell()
        place = {source.key: i for i, source in enumerate(self.plan.sources)}
        last = max((place[source] for source, _ in self.done), default=0)
        self.counts = replace(self.counts, sources=last)
        for source in self.plan.sources[last:]:
            if self._full():
                break
            self._read(source)
            self.counts = replace(
                self.counts,
                sources=self.counts.sources + 1,
                fresh_sources=self.counts.fresh_sources + 1,
            )
            self._tell()
        self._finish()

    def _begin(self) -> tuple[Mark | None, list[str]]:
        """Put what an earlier run left under its other name; its last mark and its failures.

        A run that was killed while it copied left two files: the new one is a beginning of the
        old one, or has all of it and more.
        """
        if self.part.exists() and (not self.old.exists() or _scenes(self.part) > _scenes(self.old)):
            self.part.replace(self.old)
        if not self.old.exists():
            return None, []
        mark = None
        for _, mark in recovered(self.old):  # noqa: B007 - only the last mark counts
            pass
        lines: list[str] = []
        if self.failures_part.exists():
            lines = self.failures_part.read_text(encoding="utf-8").splitlines()
        if mark is not None and len(lines) < mark.failed:
            mark = None  # a power cut lost failures that came before a scene: begin again
        return mark, lines[: mark.failed] if mark else []

    def _recover(self, mark: Mark | None, lines: list[str]) -> None:
        """Copy scenes and failures of an earlier run; failures after its last scene come again."""
        write_atomically(self.failures_part, "".join(f"{line}\n" for line in lines).encode())
        self.failure_log = self.failures_part.open("a", encoding="utf-8")
        if mark is not None:
            self._copy_scenes()
            self.counts = replace(self.counts, failed=mark.failed, skipped=mark.skipped)
            self.record.skipped = mark.skipped
        for line in lines:
            failure = Failure.from_line(line)
            self.record.failures.append(failure)
            self.done.add((failure.source, failure.ordinal))
        self.old.unlink(missing_ok=True)

    def _copy_scenes(self) -> None:
        assert self.writer is not None
        for batch, mark in recovered(self.old):
            self.writer.write(batch, failed=mark.failed, skipped=mark.skipped)
            source, ordinal = origin(batch)
            self._add(decode(batch), source, ordinal)
            self.counts = replace(self.counts, resumed=self.counts.resumed + 1)

    def _read(self, source: Source) -> None:
        with contextlib.closing(checked_scenes(self.job.adapter, source)) as items:
            for ordinal, item in items:
                if self._full():
                    return
                if (source.key, ordinal) in self.done:
                    continue
                error = self._write(item, source, ordinal) if isinstance(item, Scene) else item
                if error is not None:
                    self._fail(error, source, ordinal)
                self._tell()

    def _write(self, scene: Scene, source: Source, ordinal: int) -> SceneError | None:
        assert self.writer is not None
        if not self.seen.take(scene, source.split):
            self.record.skipped += 1
            self.counts = replace(self.counts, skipped=self.counts.skipped + 1)
            return None
        try:
            batch = encode(scene, source.key, ordinal)
        except SceneError as error:
            return error
        before = self.writer.bytes
        self.writer.write(batch, failed=self.counts.failed, skipped=self.counts.skipped)
        self._add(scene, source.key, ordinal)
        self.counts = replace(
            self.counts,
            built=self.counts.built + 1,
            bytes=self.counts.bytes + self.writer.bytes - before,
        )
        return None

    def _add(self, scene: Scene, source: str, ordinal: int) -> None:
        self.done.add((source, ordinal))
        self.record.rows.append(Row(scene.scene_id, scene.split, source, ordinal))
        self.record.without_lanes += not (scene.map.kind == MapKind.LANE).any()
        report = self.record.map_report
        for name, count in scene.map.report.items():
            report[name] = report.get(name, 0) + int(count)

    def _fail(self, error: SceneError, source: Source, ordinal: int) -> None:
        if self.job.stop_on_error:
            raise error
        failure = Failure.of(error, source.key, ordinal, self.job.root)
        assert self.failure_log is not None
        self.failure_log.write(failure.to_line() + "\n")
        self.failure_log.flush()
        self.record.failures.append(failure)
        self.counts = replace(self.counts, failed=self.counts.failed + 1)

    def _full(self) -> bool:
        return self.limit is not None and len(self.record.rows) >= self.limit

    def _tell(self) -> None:
        if not self.report(self.counts):
            raise Stopped

    def _finish(self) -> None:
        assert self.writer is not None
        self.writer.finish()
        if self.record.rows:
            self.record.shard = ShardInfo(
                self.plan.name, len(self.record.rows), self.writer.bytes, self.writer.sha256
            )
        self.record.values = {key: sorted(met) for key, met in self.seen.values.items()}
        self.record.keys = sorted(self.seen.keys)
        self.record.save(record_path(self.job.out, self.plan))
        if self.record.rows:
            self.part.replace(self.job.out / self.plan.name)
            sync_folder(self.job.out)
        else:
            self.part.unlink()
        self.close()
        self.failures_part.unlink(missing_ok=True)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.abandon()
        if self.failure_log is not None:
            self.failure_log.close()


def _scenes(path: Path) -> int:
    return sum(1 for _ in recovered(path))
