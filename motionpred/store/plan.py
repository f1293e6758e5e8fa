"""The plan of a store: its options and the list of its sources, cut into shards.

Both are kept, so that a later run into the same folder continues the same work or says what
differs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import motionpred
from motionpred.datasets import Adapter, Source
from motionpred.errors import ConfigError, StoreError
from motionpred.files import write_atomically
from motionpred.store.job import BUILD, ShardPlan
from motionpred.store.layout import FORMAT
from motionpred.store.manifest import FAILURES, INDEX, MANIFEST, SOURCES, Manifest
from motionpred.store.selection import Selection

LOCK = "prepare.lock"
_PLAN = "plan.json"
_LARGEST_SHARD = 2000  # scenes
_SMALLEST_SHARD = 8  # sources
_SHARDS = 8  # at least so many where there are sources enough, so that workers have work
_NAMED = 3  # sources in one message


@dataclass(frozen=True)
class Plan:
    """What identifies the work: equal plans give equal bytes."""

    format: int
    adapter: str
    motionpred: str
    time: Mapping[str, Any]
    options: Mapping[str, Any]
    sources: tuple[str, ...]  # keys, sorted as the adapter found them

    @classmethod
    def of(
        cls,
        adapter: Adapter,
        sources: Sequence[Source],
        selection: Selection,
        compression: str | None,
        shard_size: int | None,
    ) -> Plan:
        """The plan for these sources.

        Raises:
            ConfigError: ``shard_size`` is below 1.
        """
        if shard_size is None:
            shard_size = _shard_size(len(sources), adapter.scenes_per_source)
        if shard_size < 1:
            raise ConfigError(f"is {shard_size}", field="shard_size", remedy="Use 1 or more")
        return cls(
            format=FORMAT,
            adapter=adapter.name,
            motionpred=motionpred.__version__,
            time=asdict(adapter.time),
            options={
                **selection.to_dict(),
                "compression": compression,
                "shard_size": shard_size,
            },
            sources=tuple(source.key for source in sources),
        )

    @property
    def shard_size(self) -> int:
        """Sources per shard."""
        return int(self.options["shard_size"])

    def shards(self, sources: Sequence[Source]) -> list[ShardPlan]:
        """``sources`` in ranges of ``shard_size``."""
        size = self.shard_size
        return [
            ShardPlan(number, tuple(sources[start : start + size]))
            for number, start in enumerate(range(0, len(sources), size))
        ]

    def save(self, out: Path) -> None:
        """Keep the plan in the build folder."""
        write_atomically(out / BUILD / _PLAN, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, out: Path) -> Plan | None:
        """The plan that the folder was begun or finished with; None where it holds no store."""
        if (out / MANIFEST).exists():
            manifest = Manifest.load(out)
            return cls(
                manifest.format,
                manifest.adapter,
                manifest.motionpred,
                asdict(manifest.time),
                manifest.options,
                _sources(_read_json(out / SOURCES), out / SOURCES),
            )
        path = out / BUILD / _PLAN
        if not path.exists():
            return None
        values = _read_json(path)
        try:
            return cls(**{**values, "sources": _sources(values["sources"], path)})
        except (TypeError, KeyError) as error:
            raise _damaged(path, error) from error

    def check_continues(self, begun: Plan, out: Path) -> None:
        """Whether this plan is the one that ``out`` was begun with.

        Raises:
            StoreError: names every setting that differs, or the sources that came or went.
        """
        mine, theirs = self._settings(), begun._settings()
        differing = [
            f"{name} was {_short(theirs.get(name))} and is {_short(mine.get(name))}"
            for name in sorted({*mine, *theirs})
            if mine.get(name) != theirs.get(name)
        ]
        same_sources = self.sources == begun.sources
        if not same_sources:  # the default shard size follows the number of sources
            differing = [text for text in differing if not text.startswith("shard_size ")]
        if differing:
            raise StoreError(
                f"the folder holds a store made otherwise: {'; '.join(differing)}",
                file=out,
                remedy="Use the same settings, choose another folder, or remove this one",
            )
        if not same_sources:
            raise StoreError(
                f"the raw files have changed since: {_changes(begun.sources, self.sources)}",
                file=out,
                remedy="Choose another folder, or remove this one to prepare anew",
            )

    def _settings(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "adapter": self.adapter,
            "motionpred": self.motionpred,
            "time": dict(self.time),
            **self.options,
        }


def _shard_size(sources: int, scenes_per_source: int) -> int:
    most = max(_LARGEST_SHARD // max(scenes_per_source, 1), 1)
    return min(most, max(_SMALLEST_SHARD, -(-sources // _SHARDS)))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _changes(before: Sequence[str], now: Sequence[str]) -> str:
    gone = [key for key in before if key not in set(now)]
    new = [key for key in now if key not in set(before)]
    parts = [
        f"{len(keys)} {word} ({', '.join(keys[:_NAMED])}{', ...' if len(keys) > _NAMED else ''})"
        for keys, word in ((new, "new"), (gone, "gone"))
        if keys
    ]
    return ", ".join(parts) or "their order"


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, error) from error


def _sources(values: Any, path: Path) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(key, str) for key in values):
        raise _damaged(path, TypeError("sources must be a list of texts"))
    return tuple(values)


def _damaged(path: Path, error: Exception) -> StoreError:
    return StoreError(
        f"cannot be read ({type(error).__name__}: {error})",
        file=path,
        remedy="Remove the folder and prepare again",
    )


def check_folder(out: Path) -> None:
    """Refuse a folder that holds something which is no store.

    Raises:
        StoreError: ``out`` is a file, or a folder with other files in it.
    """
    if out.exists() and not out.is_dir():
        raise StoreError("is a file", file=out, remedy="Name a folder for the store")
    if not out.is_dir() or (out / MANIFEST).exists() or (out / BUILD).is_dir():
        return
    others = sorted(path.name for path in out.iterdir() if path.name != LOCK)
    if others:
        raise StoreError(
            f"the folder holds other files ({', '.join(others[:_NAMED])}) and no store",
            file=out,
            remedy="Name a new or an empty folder",
        )


def clear_store(out: Path, shards: Sequence[ShardPlan]) -> None:
    """Remove everything that a run has written."""
    clear_build(out)
    for name in (MANIFEST, INDEX, FAILURES, SOURCES, *(plan.name for plan in shards)):
        (out / name).unlink(missing_ok=True)


def clear_build(out: Path) -> None:
    """Remove the build folder."""
    shutil.rmtree(out / BUILD, ignore_errors=True)


def drop_parts(out: Path, shards: Sequence[ShardPlan]) -> bool:
    """Remove every unfinished shard; whether a finished one is left."""
    for pattern in ("*.part", "*.old", "*.failures", "*.lock"):
        for path in (out / BUILD).glob(pattern):
            path.unlink(missing_ok=True)
    return any((out / plan.name).exists() for plan in shards)
