"""A few real scenes under many ids: what benchmarks of the store and of preparing run on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from motionpred.datasets import Adapter, Source, get_adapter
from motionpred.errors import SceneError
from motionpred.scene import Scene


class Replicated(Adapter):
    """The first ``count`` scenes of a dataset of one-scene sources, taken round and round."""

    name = "replicated"
    protocols = ()

    def __init__(self, dataset: str, count: int) -> None:
        self.inner = get_adapter(dataset)
        self.time = self.inner.time  # type: ignore[misc]
        self.count = count

    def find(self, root: Path, split: str | None = None) -> list[Source]:
        """``count`` sources; every one is read from its file again."""
        found = self.inner.find(root, split)
        return [
            replace(found[i % len(found)], key=f"{i:06d}/{found[i % len(found)].key}")
            for i in range(self.count)
        ]

    def sniff(self, path: Path) -> bool:
        """Never found by looking."""
        return False

    def read(self, source: Source) -> Iterator[Scene | SceneError]:
        """The scene of the file, called after its place and its own id."""
        place = source.key.split("/", 1)[0]
        for item in self.inner.read(source):
            if isinstance(item, Scene):
                yield replace(item, scene_id=f"{place}-{item.scene_id}")
            else:
                yield item


def bytes_of(sources: list[Source]) -> int:
    """Size of the folders that the sources lie in (a scenario and its map), once per source."""
    sizes: dict[Path, int] = {}
    for source in sources:
        folder = source.path.parent
        if folder not in sizes:
            sizes[folder] = sum(p.stat().st_size for p in folder.iterdir() if p.is_file())
    return sum(sizes[source.path.parent] for source in sources)
