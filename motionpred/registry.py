"""One registry for everything that can be added by dropping in a folder or installing a plug-in."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

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
    name. Adding either touches no list. An in-tree name cannot be taken by a plug-in: installing
    a package never changes what a name of motionpred's own means.
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
            for name, item in getattr(loaded, self.attribute, {}).items():
                if found.setdefault(name, item) is not item:
                    raise ConfigError(
                        f"there are two of the {self.kind} {name!r}, one in {loaded.__name__}",
                        remedy="Give one of them another name",
                    )
        return found

    @cached_property
    def _plug_ins(self) -> Mapping[str, list[EntryPoint]]:
        found: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=self.group):
            found.setdefault(point.name, []).append(point)
        return found

    def names(self) -> list[str]:
        """Every registered name, sorted. No plug-in is imported for that."""
        return sorted({*self._in_tree, *self._plug_ins})

    def get(self, name: str) -> T:
        """The object called ``name``, in tree first.

        Raises:
            ConfigError: there is none (names the nearest that exists), several plug-ins have it, or
                the plug-in that has it cannot be imported (names its distribution and the cause).
        """
        if name in self._in_tree:
            return self._in_tree[name]
        points = self._plug_ins.get(name, [])
        if not points:
            raise ConfigError(
                f"there is no {self.kind} called {name!r}", remedy=nearest(name, self.names())
            )
        owners = " and ".join(sorted(map(_distribution, points)))
        if len(points) > 1:
            raise ConfigError(
                f"the {self.kind} {name!r} is in more than one installed package: {owners}",
                remedy="Uninstall all but one",
            )
        try:
            loaded: T = points[0].load()
        except Exception as error:
            raise ConfigError(
                f"the {self.kind} {name!r} of the installed package {owners} cannot be loaded "
                f"({type(error).__name__}: {error})",
                remedy=f"Repair or uninstall {owners}",
            ) from error
        return loaded


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
