"""How far a run is: sums over the shards, rate, time left, and the check of the disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path

from motionpred.store.disk import ESTIMATE_AFTER, check_space
from motionpred.store.job import ShardCounts, ShardPlan, ShardRecord


@dataclass(frozen=True)
class PrepareProgress:
    """How far a run is. ``done`` of ``total`` counts sources; scenes where there is a limit."""

    done: int
    total: int
    scenes: int  # in the store so far
    failed: int
    skipped: int
    rate: float  # scenes built per second in this run
    eta: float | None  # seconds left; None while nothing can be said


class Meter:
    """Adds up what the shards report and tells the caller of it."""

    def __init__(
        self,
        out: Path,
        sources: int,
        limit: int | None,
        progress: Callable[[PrepareProgress], None] | None,
    ) -> None:
        self._out = out
        self._limit = limit
        self._progress = progress
        self._shards: dict[int, ShardCounts] = {}
        self._begun = time.monotonic()
        self._measured = False
        self.sources = sources if limit is None else min(sources, limit)
        self.counts = ShardCounts()

    def add_finished(self, shard: ShardPlan, record: ShardRecord) -> None:
        """A shard that an earlier run finished."""
        self._add(
            ShardCounts(
                resumed=len(record.rows),
                failed=len(record.failures),
                skipped=record.skipped,
                sources=len(shard.sources),
            ),
            ShardCounts(),
        )

    def watch(self, position: int, counts: ShardCounts) -> None:
        """The shard at ``position`` now is as far as ``counts`` says.

        Raises:
            DiskFullError: by the first scenes, the rest will not fit on the disk.
        """
        self._add(counts, self._shards.get(position, ShardCounts()))
        self._shards[position] = counts
        if not self._measured and self.counts.built >= ESTIMATE_AFTER:
            self._measured = True
            check_space(self._out, self.counts, self.sources)
        if self._progress is not None:
            self._progress(self._now())

    def _add(self, new: ShardCounts, old: ShardCounts) -> None:
        pairs = zip(astuple(self.counts), astuple(new), astuple(old), strict=True)
        self.counts = ShardCounts(*(total + after - before for total, after, before in pairs))

    def _now(self) -> PrepareProgress:
        counts = self.counts
        scenes = counts.built + counts.resumed
        if self._limit is None:
            done, fresh, total = counts.sources, counts.fresh_sources, self.sources
        else:
            done, fresh, total = scenes, counts.built, self._limit
        elapsed = max(time.monotonic() - self._begun, 1e-6)
        return PrepareProgress(
            done=done,
            total=total,
            scenes=scenes,
            failed=counts.failed,
            skipped=counts.skipped,
            rate=counts.built / elapsed,
            eta=(total - done) * elapsed / fresh if fresh else None,
        )
