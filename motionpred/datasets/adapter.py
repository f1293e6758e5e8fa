"""What a dataset adapter is, and how one is found by name or by looking at files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import ClassVar

from motionpred.errors import ConfigError, SceneError
from motionpred.registry import Registry
from motionpred.scene import Scene, TimeSpec

SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class Source:
    """A file or folder that holds one or more scenes."""

    path: Path
    key: str  # the same on every machine: the path relative to the root, with forward slashes
    split: str  # from a folder called train, val or test on the path, else ""


class Adapter(ABC):
    """Finds the scenes of one publisher's layout and reads them. Stateless.

    An adapter caches nothing, filters nothing and knows no model. In tree: a folder
    ``motionpred/datasets/<name>/`` whose ``__init__`` has ``ADAPTERS = {"<name>": <instance>}``.
    Plug-in: an entry point of group ``motionpred.adapters`` that names an instance.
    ``motionpred.testing.check_adapter`` says whether it keeps this contract.
    """

    name: ClassVar[str]
    time: ClassVar[TimeSpec]
    protocols: ClassVar[tuple[str, ...]]  # names of the protocols that suit this dataset
    # About how many scenes a source holds, so that a store cuts its shards to size. 1 is exact:
    # a source never holds more.
    scenes_per_source: ClassVar[int] = 1

    @abstractmethod
    def find(self, root: Path, split: str | None = None) -> list[Source]:
        """Sources below ``root``, sorted by key, none opened; of one split where it is given.

        A source whose path does not tell its split may belong to any: only reading it tells, so
        it is kept (see :func:`of_split`).

        Raises:
            SceneError: ``root`` does not exist or holds nothing of this layout.
        """

    @abstractmethod
    def sniff(self, path: Path) -> bool:
        """Whether ``path`` (file or folder) looks like this layout; cheap, never raises."""

    @abstractmethod
    def read(self, source: Source) -> Iterator[Scene | SceneError]:
        """Scenes of a source in a fixed order; a scene that is broken comes as its error."""

    def read_one(self, source: Source, scene_id: str) -> Scene:
        """The scene called ``scene_id``.

        Raises:
            SceneError: it is broken, or not in this source.
        """
        last: SceneError | None = None
        for item in self.read(source):
            if isinstance(item, Scene) and item.scene_id == scene_id:
                return item
            if isinstance(item, SceneError) and item.scene in (scene_id, None):
                last = item
        raise last or SceneError("is not in this source", file=source.path, scene=scene_id)


def split_of(path: PurePath) -> str:
    """``train``, ``val`` or ``test``: the nearest folder on the path of that name, else ``""``."""
    return next((part for part in reversed(path.parts) if part in SPLITS), "")


def of_split(sources: Iterable[Source], split: str | None) -> list[Source]:
    """The sources that may hold scenes of ``split``; all of them where it is None."""
    return [source for source in sources if split is None or source.split in ("", split)]


registry: Registry[Adapter] = Registry(
    "dataset adapter",
    package="motionpred.datasets",
    attribute="ADAPTERS",
    group="motionpred.adapters",
)


def adapter_names() -> list[str]:
    """Names of every adapter, in tree and plugged in."""
    return registry.names()


def get_adapter(name: str) -> Adapter:
    """The adapter called ``name``; a ConfigError names the nearest one."""
    return registry.get(name)


def detect(path: Path) -> Adapter:
    """The one adapter whose layout ``path`` has.

    Raises:
        ConfigError: none or more than one matches; names those that do.
    """
    matches = [name for name in registry.names() if registry.get(name).sniff(path)]
    if len(matches) == 1:
        return registry.get(matches[0])
    found = f"matches {' and '.join(matches)}" if matches else "matches no known layout"
    raise ConfigError(
        found, file=path, remedy=f"Name one with --dataset ({', '.join(registry.names())})"
    )
