"""A dataset of tiny text files, for tests of the store: each names the scenes that are in it.

A file ``*.crossing`` has one word per scene: a seed, ``tiny`` (two agents, five steps),
``unlabelled`` (no future), ``broken`` (a SceneError), ``crash`` (a fault of the adapter), or
``invalid`` (a scene that breaks the contract). Scenes are called after the file, with ``#0``,
``#1`` ... where it holds more than one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from motionpred.datasets import Adapter, Source, split_of
from motionpred.errors import SceneError
from motionpred.scene import Scene, TimeSpec
from motionpred.testing import crossing_scene, make_scene, make_tracks


class CrossingFiles(Adapter):
    name = "crossings"
    time = TimeSpec(0.1, 50, 60)
    protocols = ()

    def find(self, root: Path, split: str | None = None) -> list[Source]:
        if not root.exists():
            raise SceneError("does not exist", file=root)
        keys = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.crossing"))
        sources = [Source(root / key, key, split_of(Path(key))) for key in keys]
        found = [source for source in sources if split in (None, source.split)]
        if not sources:
            raise SceneError("holds no crossing", file=root)
        return found

    def sniff(self, path: Path) -> bool:
        return path.is_dir() and any(path.rglob("*.crossing"))

    def read(self, source: Source) -> Iterator[Scene | SceneError]:
        words = source.path.read_text(encoding="utf-8").split()
        for i, word in enumerate(words):
            name = source.path.stem + (f"#{i}" if len(words) > 1 else "")
            time.sleep(float(os.environ.get("CROSSING_SECONDS", "0")))
            yield self._scene(word, name, source)

    def _scene(self, word: str, name: str, source: Source) -> Scene | SceneError:
        if word == "broken":
            return SceneError("the lights are out", scene=name, field="signals", remedy="Fix it")
        if word == "tiny":
            return replace(tiny_scene(), scene_id=name)
        if word == "crash":
            raise ZeroDivisionError("division by zero")
        if word == "unlabelled":
            return replace(crossing_scene(name, steps=50), split=source.split or "test")
        scene = crossing_scene(name, seed=0 if word == "invalid" else int(word))
        city = ("austin", "miami")[sum(map(ord, name)) % 2]
        scene = replace(scene, split=source.split, info={**scene.info, "city": city})
        if word == "invalid":
            return replace(scene, now=999)
        return scene


@cache
def tiny_scene() -> Scene:
    position = [[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)], [(9.0, 9.0)] * 5]
    return make_scene(make_tracks(position), now=2)


def write_crossings(root: Path, words: dict[str, str] | int) -> Path:
    """Files below ``root``: name -> words, or so many files of one good scene each."""
    if isinstance(words, int):
        words = {f"{i:04d}": str(i) for i in range(words)}
    for name, text in words.items():
        path = root / f"{name}.crossing"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
