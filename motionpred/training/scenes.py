"""Scenes by number, from one store or several."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

from motionpred.scene import Scene
from motionpred.store import Store


class Scenes(Protocol):
    """Scenes by number; a list of scenes will do."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Scene: ...


class SceneFolders:
    """Scenes of one or more stores, by number. Each process opens the stores for itself."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = list(paths)
        self._stores: list[Store] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"paths": self.paths, "_stores": None}

    @property
    def stores(self) -> list[Store]:
        """The open stores."""
        if self._stores is None:
            self._stores = [Store(path) for path in self.paths]
        return self._stores

    @property
    def counts(self) -> tuple[int, ...]:
        """Scenes of each store."""
        return tuple(len(store) for store in self.stores)

    def __len__(self) -> int:
        return sum(self.counts)

    def __getitem__(self, index: int) -> Scene:
        ends = list(accumulate(self.counts))
        which = bisect_right(ends, index)
        if not 0 <= index < ends[-1]:
            raise IndexError(index)
        return self.stores[which][index - (ends[which - 1] if which else 0)]
