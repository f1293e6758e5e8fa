"""``manifest.json``: what a finished store holds, and the lists beside it. No wall-clock times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from motionpred.errors import ConfigError, StoreError
from motionpred.files import write_atomically
from motionpred.scene import TimeSpec
from motionpred.settings import from_mapping
from motionpred.store.layout import FORMAT

MANIFEST = "manifest.json"
INDEX = "index.arrow"
FAILURES = "failures.jsonl"
SOURCES = "sources.json"
REMEDY = "Remove the folder of the store and prepare it again"  # a rerun alone repairs nothing


@dataclass(frozen=True)
class ShardInfo:
    """One shard: its file, what is in it and the SHA-256 of its bytes."""

    name: str
    scenes: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Counts:
    """How many scenes there are, and what happened to the others."""

    sources: int  # files or folders that were read
    scenes: int
    failed: int  # scenes that could not be read; listed in failures.jsonl
    skipped: int  # scenes that the selection left out
    splits: Mapping[str, int]  # scenes per split
    without_lanes: int  # scenes whose map has no lane
    map_report: Mapping[str, int]  # sums of what reading the maps dropped or found odd


@dataclass(frozen=True)
class Manifest:
    """Everything that is said about a store; equal stores have equal manifests."""

    format: int
    adapter: str
    motionpred: str  # version that wrote it
    options: Mapping[str, Any]  # selection, compression, shard_size
    time: TimeSpec
    counts: Counts
    content_hash: str  # over the hashes of shards, index, failures and sources
    shards: tuple[ShardInfo, ...]
    files: Mapping[str, str]  # SHA-256 of the lists beside the shards

    def save(self, folder: Path) -> None:
        """Write ``manifest.json``: this makes the store a finished one."""
        text = json.dumps(asdict(self), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        write_atomically(folder / MANIFEST, text.encode())

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """The manifest of the store in ``folder``.

        Raises:
            StoreError: there is none, it is damaged, or of another format version.
        """
        path = folder / MANIFEST
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            found = values["format"]
            if found == FORMAT:
                return from_mapping(cls, values)
        except FileNotFoundError as error:
            raise StoreError("there is no manifest", file=path) from error
        except ConfigError as error:
            raise StoreError(
                f"the manifest is damaged: {error.message}",
                file=path,
                field=error.field,
                remedy=REMEDY,
            ) from error
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(
                f"the manifest cannot be read ({type(error).__name__}: {error})",
                file=path,
                remedy=REMEDY,
            ) from error
        raise StoreError(
            f"the store has format {found}, this version reads {FORMAT}",
            file=path,
            remedy="Prepare it again, or use the version that wrote it",
        )


def check_there(folder: Path, manifest: Manifest) -> None:
    """Whether every file of a finished store is there, with the size that it had.

    Raises:
        StoreError: names the first that is not.
    """
    wanted = dict.fromkeys(manifest.files)
    for name, size in (wanted | {shard.name: shard.bytes for shard in manifest.shards}).items():
        path = folder / name
        if not path.is_file():
            raise StoreError("is gone", file=path, remedy=REMEDY)
        found = path.stat().st_size
        if size not in (None, found):
            raise StoreError(
                f"is damaged: it has {found} bytes, it had {size}", file=path, remedy=REMEDY
            )


def content_hash(shards: tuple[ShardInfo, ...], files: Mapping[str, str]) -> str:
    """One SHA-256 over everything in the store but the manifest itself."""
    lines = [f"{shard.name} {shard.sha256}" for shard in shards]
    lines += [f"{name} {files[name]}" for name in sorted(files)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
