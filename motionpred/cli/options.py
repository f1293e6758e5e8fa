"""Options that mean the same in every command that reads scenes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from motionpred.cli.console import warn
from motionpred.errors import ConfigError, MotionpredError, StoreError

if TYPE_CHECKING:
    from motionpred.scene import Scene

_NAMED = 5  # broken scenes that are named; the others are counted

Dataset = Annotated[
    str | None,
    typer.Option("--dataset", help="Adapter of raw files; guessed from the files by default."),
]
Split = Annotated[str | None, typer.Option("--split", help="Only this split: train, val, test.")]
Ids = Annotated[
    str | None,
    typer.Option("--ids", help="Only these scenes: comma-separated, or @FILE with one per line."),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="At most this many scenes.")]
Filter = Annotated[
    list[str] | None,
    typer.Option("--filter", help="Only scenes whose info says so, e.g. city=austin; repeatable."),
]
Agents = Annotated[
    Literal["scored", "all"],
    typer.Option("--agents", help="scored: those that the benchmark asks about; all: every agent."),
]
Device = Annotated[
    str,
    typer.Option("--device", help="cpu, cuda, cuda:1, mps; auto: an accelerator if there is one."),
]


def scene_ids(text: str | None) -> list[str] | None:
    """The value of ``--ids``.

    Raises:
        ConfigError: the list is empty, or its file cannot be read.
    """
    if text is None:
        return None
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot be read: {error}", file=path, field="--ids") from error
        ids = [line.strip() for line in lines]
    else:
        ids = [part.strip() for part in text.split(",")]
    ids = [scene_id for scene_id in ids if scene_id]
    if not ids:
        raise ConfigError("names no scene", field="--ids")
    return ids


def filters(values: list[str] | None) -> dict[str, str] | None:
    """The values of ``--filter``.

    Raises:
        ConfigError: a value is not ``key=value``.
    """
    if not values:
        return None
    result = {}
    for value in values:
        key, separator, wanted = value.partition("=")
        if not separator or not key:
            raise ConfigError(f"is {value!r}", field="--filter", remedy="Write key=value")
        result[key] = wanted
    return result


def check_file(path: Path, suffix: str) -> None:
    """Refuse a name for an output file before any work is done.

    Raises:
        ConfigError: it has another suffix, or is a folder.
    """
    if path.suffix.lower() != suffix or path.is_dir():
        raise ConfigError(f"is {path}", field="--out", remedy=f"Name a {suffix} file")


class Reading:
    """Scenes of a store or of raw files, as the shared options say.

    What is wrong with single scenes is kept in ``errors`` and the others go on.
    """

    def __init__(
        self,
        path: Path,
        dataset: str | None,
        split: str | None,
        ids: str | None,
        limit: int | None,
        filter: list[str] | None,
    ) -> None:
        from motionpred.store import read_scenes

        self.path = path
        self.errors: list[MotionpredError] = []
        self._items = read_scenes(
            path,
            dataset=dataset,
            split=split,
            ids=scene_ids(ids),
            limit=limit,
            filter=filters(filter),
            on_error="yield",
        )

    def __iter__(self) -> Iterator[Scene]:
        for item in self._items:
            if isinstance(item, MotionpredError):
                self.errors.append(item)
            else:
                yield item

    def nothing(self, purpose: str) -> MotionpredError:
        """Why there is no scene at all: what broke the first one, if one was broken."""
        if self.errors:
            return self.errors[0]
        return StoreError(f"has no scene to {purpose}", file=self.path)

    def finish(self) -> None:
        """Name the scenes that failed; if there are any, the command ends with "done in part"."""
        for error in self.errors[:_NAMED]:
            warn(str(error))
        if len(self.errors) > _NAMED:
            warn(f"... and {len(self.errors) - _NAMED} more scenes")
        if self.errors:
            raise typer.Exit(3)
