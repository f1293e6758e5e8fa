"""What is built and what became of it: the job, its shards, and the record of a finished one."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from motionpred.datasets import Adapter, Source
from motionpred.files import write_atomically
from motionpred.store.failures import Failure
from motionpred.store.manifest import ShardInfo
from motionpred.store.selection import Selection

BUILD = ".build"  # everything unfinished lies in this folder of the store


@dataclass(frozen=True)
class BuildJob:
    """What every shard of one run has in common; sent to workers by pickle."""

    adapter: Adapter
    root: Path
    out: Path
    selection: Selection
    compression: str | None
    stop_on_error: bool


@dataclass(frozen=True)
class ShardPlan:
    """A fixed range of the sources: the same whatever the number of workers."""

    number: int
    sources: tuple[Source, ...]

    @property
    def name(self) -> str:
        """File name of the shard."""
        return f"shard-{self.number:05d}.arrow"


@dataclass(frozen=True)
class ShardCounts:
    """How far a shard is."""

    built: int = 0
    resumed: int = 0
    failed: int = 0
    skipped: int = 0
    sources: int = 0  # read to their end, or known from before
    fresh_sources: int = 0  # those of them read in this run
    bytes: int = 0  # of the scenes built in this run


@dataclass(frozen=True)
class Row:
    """One scene in the index of a store."""

    scene_id: str
    split: str
    source: str
    ordinal: int


@dataclass
class ShardRecord:
    """Everything about a finished shard; lies as JSON in the build folder until the store is."""

    shard: ShardInfo | None  # None where no scene was left
    rows: list[Row] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    skipped: int = 0
    without_lanes: int = 0
    map_report: dict[str, int] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)  # met, per key of the filter
    keys: list[str] = field(default_factory=list)  # of info

    def save(self, path: Path) -> None:
        """Write the record; it appears whole or not at all."""
        write_atomically(path, json.dumps(asdict(self), ensure_ascii=False).encode())

    @classmethod
    def of(cls, out: Path, plan: ShardPlan) -> ShardRecord:
        """The record of a shard that is finished."""
        return cls.load(record_path(out, plan))

    @classmethod
    def load(cls, path: Path) -> ShardRecord:
        """The record at ``path``."""
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        shard = values["shard"]
        return cls(
            **{
                **values,
                "shard": None if shard is None else ShardInfo(**shard),
                "rows": [Row(**row) for row in values["rows"]],
                "failures": [Failure(**failure) for failure in values["failures"]],
            }
        )


def record_path(out: Path, plan: ShardPlan) -> Path:
    """Where the record of a finished shard lies."""
    return out / BUILD / f"{plan.name}.json"


def finished_record(out: Path, plan: ShardPlan) -> ShardRecord | None:
    """The record of a shard that is finished, else None."""
    path = record_path(out, plan)
    if not path.exists():
        return None
    record = ShardRecord.load(path)
    # The record is written just before its shard gets its name.
    return record if record.shard is None or (out / plan.name).exists() else None


def finished_records(out: Path) -> list[ShardRecord]:
    """Records of every finished shard of an unfinished store, in order."""
    records = []
    for path in sorted((out / BUILD).glob("shard-*.arrow.json")):
        # The run may finish the store, and remove what lies here, while we look.
        with contextlib.suppress(FileNotFoundError):
            records.append(ShardRecord.load(path))
    return [r for r in records if r.shard is None or (out / r.shard.name).exists()]
