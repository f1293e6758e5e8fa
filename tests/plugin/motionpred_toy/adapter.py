"""Scenes of the toy dataset: one ``*.toy.json`` a scene, agents as lists of x, y or null."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from motionpred.datasets import Adapter, Source, of_split, split_of
from motionpred.errors import SceneError
from motionpred.scene import Role, Scene, TimeSpec
from motionpred.testing import make_scene, make_tracks

SUFFIX = ".toy.json"


class Toy(Adapter):
    """20 + 30 steps at 10 Hz; every agent is scored."""

    name = "toy"
    time = TimeSpec(dt=0.1, history=20, future=30)
    protocols = ("joint",)

    def find(self, root: Path, split: str | None = None) -> list[Source]:
        files = sorted(Path(root).rglob(f"*{SUFFIX}"))
        if not files:
            raise SceneError(f"holds no *{SUFFIX} file", file=root)
        sources = [
            Source(path, path.relative_to(root).as_posix(), split_of(path.parent)) for path in files
        ]
        return of_split(sources, split)

    def sniff(self, path: Path) -> bool:
        path = Path(path)
        return path.is_dir() and next(path.rglob(f"*{SUFFIX}"), None) is not None

    def read(self, source: Source) -> Iterator[Scene | SceneError]:
        scene_id = source.path.name.removesuffix(SUFFIX)
        try:
            agents = json.loads(source.path.read_text(encoding="utf-8"))
            valid = np.array([[p is not None for p in path] for path in agents.values()])
            position = np.array([[p or (0.0, 0.0) for p in path] for path in agents.values()])
            tracks = make_tracks(
                position,
                valid=valid,
                track_id=list(agents),
                roles=[Role.SCORED] * len(agents),
            )
            yield make_scene(
                tracks,
                self.time.history - 1,
                scene_id=scene_id,
                dataset=self.name,
                split=source.split,
            )
        except (ValueError, TypeError, AttributeError) as error:
            yield SceneError(f"is no toy scene: {error}", file=source.path, scene=scene_id)


ADAPTER = Toy()
