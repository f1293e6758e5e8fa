"""The engine of one machine: shards in this process, or in a pool of worker processes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import astuple, fields
from multiprocessing import connection, get_context, parent_process
from typing import Any

from motionpred.errors import StoreError
from motionpred.store.build import Stopped, build_shard
from motionpred.store.engines import Watch
from motionpred.store.job import BuildJob, ShardCounts, ShardPlan, finished_record

_POLL = 0.1  # seconds between two looks at the workers' counters
_SLOTS = len(fields(ShardCounts))


def build(job: BuildJob, shards: Sequence[ShardPlan], *, workers: int, watch: Watch) -> None:
    """Build ``shards``; with a limit one after another, since each needs to know what came before.

    Raises:
        StoreError: a worker process died.
    """
    if job.selection.limit is not None or workers == 1 or len(shards) == 1:
        _build_here(job, shards, watch)
    else:
        _build_in_pool(job, shards, min(workers, len(shards)), watch)


def _build_here(job: BuildJob, shards: Sequence[ShardPlan], watch: Watch) -> None:
    left = job.selection.limit
    for position, plan in enumerate(shards):

        def report(counts: ShardCounts, position: int = position) -> bool:
            watch(position, counts)
            return True

        build_shard(job, plan, left, report)
        if left is not None:
            record = finished_record(job.out, plan)
            left -= 0 if record is None else len(record.rows)


def _build_in_pool(job: BuildJob, shards: Sequence[ShardPlan], workers: int, watch: Watch) -> None:
    context = get_context("spawn")  # fork would copy the threads of torch in an unknown state
    # Plain shared memory, one writer per slot: a worker that is killed cannot leave a lock behind.
    board = context.RawArray("q", 1 + _SLOTS * len(shards))
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_begin_worker, initargs=(job, board)
    )
    seen: dict[int, ShardCounts] = {}
    pending: set[Future[None]] = set()
    try:
        pending = {pool.submit(_run_shard, plan, i) for i, plan in enumerate(shards)}
        while pending:
            done, pending = wait(pending, timeout=_POLL, return_when=FIRST_EXCEPTION)
            _look(board, len(shards), seen, watch)
            for future in done:
                future.result()
    except BrokenProcessPool as error:
        raise StoreError(
            "a worker process died: it was killed, ran out of memory, or could not start",
            file=job.out,
            remedy="Run it again, it continues where it stopped; with fewer workers if memory is "
            "short. A script has to call prepare under `if __name__ == '__main__':`",
        ) from error
    finally:
        board[0] = 1
        pool.shutdown(wait=True, cancel_futures=True)


def _look(board: Any, shards: int, seen: dict[int, ShardCounts], watch: Watch) -> None:
    for position in range(shards):
        start = 1 + position * _SLOTS
        counts = ShardCounts(*board[start : start + _SLOTS])
        if seen.get(position, ShardCounts()) != counts:
            seen[position] = counts
            watch(position, counts)


_worker: tuple[BuildJob, Any] | None = None


def _begin_worker(job: BuildJob, board: Any) -> None:
    global _worker
    _worker = (job, board)
    # Ctrl-C reaches the whole group; the main process alone decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    """End this worker when the main process is gone: a rerun must not meet it still writing."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _run_shard(plan: ShardPlan, position: int) -> None:
    assert _worker is not None
    job, board = _worker
    start = 1 + position * _SLOTS

    def report(counts: ShardCounts) -> bool:
        board[start : start + _SLOTS] = astuple(counts)
        return not board[0]

    try:
        build_shard(job, plan, None, report)
    except Stopped:
        return
