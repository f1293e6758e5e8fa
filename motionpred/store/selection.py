"""Which scenes of a dataset or a store are wanted: split, ids, limit and filters on ``info``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from motionpred.datasets import SPLITS, Source
from motionpred.errors import ConfigError
from motionpred.registry import nearest
from motionpred.scene import Scene

_NAMED = 5  # ids in one message


@dataclass(frozen=True)
class Selection:
    """A choice of scenes; everything by default. ``limit`` counts scenes that pass the rest."""

    split: str | None = None
    ids: tuple[str, ...] | None = None  # sorted, each once
    limit: int | None = None
    filter: Mapping[str, str] = field(default_factory=dict)  # key of info -> wanted value

    @classmethod
    def of(
        cls,
        split: str | None = None,
        ids: Iterable[str] | None = None,
        limit: int | None = None,
        filter: Mapping[str, Any] | None = None,
    ) -> Selection:
        """A checked selection.

        Raises:
            ConfigError: an unknown split, a limit below 1, or an empty list of ids.
        """
        if split is not None and split not in SPLITS:
            raise ConfigError(
                f"there is no split {split!r}", field="split", remedy=nearest(split, SPLITS)
            )
        if limit is not None and limit < 1:
            raise ConfigError(f"is {limit}", field="limit", remedy="Use 1 or more")
        if isinstance(ids, str):
            ids = [ids]
        wanted = None if ids is None else tuple(sorted({str(scene_id) for scene_id in ids}))
        if wanted == ():
            raise ConfigError("no id is given", field="ids", remedy="Leave it out to take all")
        words = {str(key): str(value) for key, value in sorted((filter or {}).items())}
        return cls(split, wanted, limit, words)

    def narrow(self, sources: Sequence[Source]) -> list[Source]:
        """The sources that can hold a wanted id, where ids show in the sources' keys.

        An id shows in a key whose last part is the id, with or without a suffix or words joined
        by ``_`` before it. Where no id shows, all sources have to be read.

        Raises:
            ConfigError: some ids show and others do not: there is no source for those.
        """
        if self.ids is None:
            return list(sources)
        wanted = set(self.ids)
        hits = [(source, wanted.intersection(_names(source.key))) for source in sources]
        shown = set().union(*(names for _, names in hits))
        if not shown:
            return list(sources)
        if shown != wanted:
            raise missing_ids(sorted(wanted - shown), "the raw files")
        return [source for source, names in hits if names]

    def accepts(self, scene: Scene, source_split: str = "") -> bool:
        """Whether a scene is wanted; ``source_split`` is that of the source it was read from."""
        if self.split is not None and self.split not in (scene.split, source_split):
            return False
        if self.ids is not None and not self.wants_id(scene.scene_id):
            return False
        return all(
            key in scene.info and str(scene.info[key]) == value
            for key, value in self.filter.items()
        )

    @cached_property
    def _id_set(self) -> frozenset[str]:
        return frozenset(self.ids or ())

    def wants_id(self, scene_id: str | None) -> bool:
        """Whether ``scene_id`` is one of ``ids`` (False where none are given)."""
        return scene_id in self._id_set

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a manifest."""
        return {
            "split": self.split,
            "ids": None if self.ids is None else list(self.ids),
            "limit": self.limit,
            "filter": dict(self.filter),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Selection:
        """The inverse of :meth:`to_dict`."""
        return cls.of(values["split"], values["ids"], values["limit"], values["filter"])


def _names(key: str) -> set[str]:
    last = key.rsplit("/", 1)[-1]
    names = {last}
    for name in (last, last.split(".", 1)[0]):
        parts = name.split("_")
        names.update("_".join(parts[i:]) for i in range(len(parts)))
    return names


class Seen:
    """What a pass over the scenes met, so that a selection which found too little can say why."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.accepted = 0
        self.skipped = 0
        self.ids: set[str] = set()
        self.values: dict[str, set[str]] = {key: set() for key in selection.filter}
        self.keys: set[str] = set()

    def take(self, scene: Scene, source_split: str = "") -> bool:
        """Whether the scene is wanted, taking note of it either way."""
        for key, values in self.values.items():
            self.keys.update(scene.info)
            if key in scene.info and len(values) < _NAMED:
                values.add(str(scene.info[key]))
        wanted = self.selection.accepts(scene, source_split)
        if wanted:
            self.note_id(scene.scene_id)
        self.accepted += wanted
        self.skipped += not wanted
        return wanted

    def note_id(self, scene_id: str | None) -> None:
        """A wanted id was met, be its scene whole or broken."""
        if scene_id is not None and self.selection.wants_id(scene_id):
            self.ids.add(scene_id)

    @property
    def all_ids_met(self) -> bool:
        """Whether nothing more has to be read: every wanted id was met."""
        return self.selection.ids is not None and len(self.ids) == len(self.selection.ids)

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return self.selection.limit is not None and self.accepted >= self.selection.limit

    def check(self, place: object) -> None:
        """Called after the last scene.

        Raises:
            ConfigError: names the ids that are not at ``place``, or says which values a filter
                that let nothing pass could have had.
        """
        if self.selection.ids is not None and not self.full:
            missing = [scene_id for scene_id in self.selection.ids if scene_id not in self.ids]
            if missing:
                raise missing_ids(missing, place)
        if self.accepted or not self.skipped:
            return
        for key, values in self.values.items():
            if not values:
                raise ConfigError(
                    f"no scene has {key!r} in its info",
                    file=place,
                    field="filter",
                    remedy=nearest(key, self.keys),
                )
        wanted = ", ".join(f"{key}={value}" for key, value in self.selection.filter.items())
        found = "; ".join(
            f"{key} is {', '.join(sorted(values))}" for key, values in self.values.items()
        )
        raise ConfigError(
            f"none of {self.skipped} scenes is selected ({self._describe(wanted)})",
            file=place,
            field="filter" if wanted else "split",
            remedy=f"Values met: {found}" if found else "Leave --split out, or choose another one",
        )

    def _describe(self, wanted: str) -> str:
        split = f"split={self.selection.split}" if self.selection.split else ""
        ids = f"{len(self.selection.ids)} ids" if self.selection.ids else ""
        return ", ".join(part for part in (split, ids, wanted) if part)


def missing_ids(missing: Sequence[str], place: object) -> ConfigError:
    """The error for scene ids that are not at ``place``."""
    names = ", ".join(missing[:_NAMED])
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    return ConfigError(
        f"no scene is called {names}{more}",
        file=place,
        field="ids",
        remedy="Check the ids and the split",
    )
