"""One registry for everything that can be added by dropping in a folder or installing a plug-in."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from motionpred.errors import ConfigError


def nearest(name: str, known: Iterable[str]) -> str:
    """``"Did you mean 'x'?"`` and the list of what there is, for an unknown ``name``."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    return f"{hint}Known: {', '.join(names) or 'none'}"


T = TypeVar("T")


class Registry(Generic[T]):
    """Named objects of one kind: from in-tree modules that are scanned lazily, and entry points.

    Each module or sub-package of ``package`` may have a mapping called ``attribute``
    (name -> object). A plug-in declares an entry point of ``group`` whose name is the object's
    name. Adding either touches no list.
    """

    def __init__(self, kind: str, *, package: str, attribute: str, group: str) -> None:
        self.kind = kind
        self.package = package
        self.attribute = attribute
        self.group = group

    @cached_property
    def _in_tree(self) -> Mapping[str, T]:
        found: dict[str, T] = {}
        root = importlib.import_module(self.package)
        for module in pkgutil.iter_modules(root.__path__):
            loaded = importlib.import_module(f"{self.package}.{module.name}")
            found.update(getattr(loaded, self.attribute, {}))
        return found

    @cached_property
    def _plug_ins(self) -> Mapping[str, Any]:
        return {point.name: point for point in entry_points(group=self.group)}

    def names(self) -> list[str]:
        """Every registered name, sorted."""
        return sorted({*self._in_tree, *self._plug_ins})

    def get(self, name: str) -> T:
        """The object called ``name``; a ConfigError names the nearest one that exists."""
        if name in self._in_tree:
            return self._in_tree[name]
        if name in self._plug_ins:
            loaded: T = self._plug_ins[name].load()
            return loaded
        raise ConfigError(
            f"there is no {self.kind} called {name!r}", remedy=nearest(name, self.names())
        )
