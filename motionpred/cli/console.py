"""What every command says, in one voice: tables, bars, what was written, what to run next."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

T = TypeVar("T")

# In a file or a pipe there is no window to fit: ids must not be folded.
_PIPE_WIDTH = 160


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() else _PIPE_WIDTH)


out = _console(stderr=False)
err = _console(stderr=True)


def say(text: str) -> None:
    """One line of plain text, never wrapped, so that paths can be copied."""
    out.print(text, highlight=False, soft_wrap=True, markup=False)


def warn(text: str) -> None:
    """One line on stderr."""
    err.print(f"warning: {text}", style="yellow", highlight=False, soft_wrap=True, markup=False)


def shown(path: Path) -> Path:
    """The path as the user would type it: relative where it lies below the current folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path


def wrote(path: Path, what: str = "") -> None:
    """Say that a file or folder is there now."""
    say(f"wrote {shown(path)}" + (f" ({what})" if what else ""))


def then(*words: object) -> None:
    """Say what to run next: a command of motionpred, quoted so that it can be pasted."""
    texts = [str(shown(word)) if isinstance(word, Path) else str(word) for word in words]
    say(f"next: {shlex.join(['motionpred', *texts])}")


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "") -> None:
    """A table; columns whose values are all numbers are aligned to the right."""
    listed = [list(row) for row in rows]
    grid = Table(title=title or None, title_justify="left", header_style="bold")
    for i, column in enumerate(columns):
        numeric = bool(listed) and all(isinstance(row[i], (int, float)) for row in listed)
        grid.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in listed:
        grid.add_row(*(_cell(value) for value in row))
    out.print(grid, markup=False)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "-"
    return str(value)


class Bar:
    """A progress bar with rate and time left."""

    def __init__(self, progress: Progress, task: Any) -> None:
        self._progress, self._task = progress, task

    def update(self, done: int, total: int | None = None) -> None:
        """``done`` of ``total`` items are finished."""
        task = self._progress.tasks[0]
        speed = task.speed or 0.0
        self._progress.update(self._task, completed=done, total=total, rate=f"{speed:.1f}/s")


@contextmanager
def bar(title: str, total: int | None = None) -> Iterator[Bar]:
    """A progress bar on stderr; quiet when stderr is no terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, disable=not err.is_terminal, transient=True) as progress:
        yield Bar(progress, progress.add_task(title, total=total, rate=""))


def counted(items: Iterable[T], title: str, total: int | None = None) -> Iterator[T]:
    """The same items, with a bar."""
    with bar(title, total) as progress:
        for done, item in enumerate(items, 1):
            yield item
            progress.update(done, total)
