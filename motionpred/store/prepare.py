"""Raw files into a store: plan, build the shards, put the pieces together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Literal

from motionpred.datasets import Adapter
from motionpred.errors import ConfigError
from motionpred.registry import nearest
from motionpred.store.disk import (
    ESTIMATE_AFTER,
    DiskFullError,
    check_space,
    disk_full,
    is_disk_full,
)
from motionpred.store.engines import get_engine
from motionpred.store.finish import finish_store
from motionpred.store.job import BUILD, BuildJob, ShardCounts, finished_record
from motionpred.store.lock import exclusive
from motionpred.store.manifest import MANIFEST, Manifest
from motionpred.store.plan import Plan, clear_build, drop_parts
from motionpred.store.selection import Selection
from motionpred.store.shard import COMPRESSIONS


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
