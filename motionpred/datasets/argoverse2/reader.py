"""The Argoverse 2 adapter: scenario files and their maps as scenes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from motionpred.datasets.adapter import Adapter, Source, of_split, split_of
from motionpred.datasets.argoverse2.layout import (
    holds_scenario,
    map_file,
    scenario_files,
    scenario_id,
)
from motionpred.datasets.argoverse2.road_map import read_map
from motionpred.datasets.argoverse2.scenario import CLOCK, Duplicates, read_scenario
from motionpred.errors import SceneError
from motionpred.scene import Scene, Signals, TimeSpec


class Argoverse2(Adapter):
    """Reads Argoverse 2 motion forecasting scenarios of every split.

    ``duplicates`` says what happens to rows of one track and step that contradict each other:
    ``error`` refuses the scene, ``first`` and ``last`` keep that row and count the rest.
    """

    name: ClassVar[str] = "argoverse2"
    time: ClassVar[TimeSpec] = CLOCK
    protocols: ClassVar[tuple[str, ...]] = ("argoverse2-multi", "argoverse2-single", "joint")

    def __init__(self, duplicates: Duplicates = "error") -> None:
        self.duplicates: Duplicates = duplicates

    def find(self, root: Path, split: str | None = None) -> list[Source]:
        """Scenario files below ``root`` (all splits, one split, one scenario's folder or file)."""
        root = Path(root)
        try:
            files = [root] if _is_scenario_file(root) else list(scenario_files(root))
        except OSError as error:
            raise SceneError(
                f"cannot be listed: {error.strerror or error}",
                file=root,
                remedy="Give the folder that holds the scenarios",
            ) from error
        if not files:
            raise SceneError(
                "holds no Argoverse 2 scenario (scenario_<id>.parquet)",
                file=root,
                remedy="Give the folder with train, val or test, or one of those",
            )
        base = root.parent if root.is_file() else root
        sources = [
            Source(path, path.relative_to(base).as_posix(), split_of(path.absolute().parent))
            for path in files
        ]
        return sorted(of_split(sources, split), key=lambda source: source.key)

    def sniff(self, path: Path) -> bool:
        """Whether there is a scenario file at ``path`` or a few folders below it."""
        try:
            return _is_scenario_file(path) or holds_scenario(path)
        except OSError:
            return False

    def read(self, source: Source) -> Iterator[Scene | SceneError]:
        """The one scene of a scenario file, or what is wrong with it."""
        try:
            yield self._read(source)
        except SceneError as error:
            yield error

    def _read(self, source: Source) -> Scene:
        scenario = read_scenario(source.path, self.duplicates)
        road = read_map(map_file(source.path), scenario.scene_id)
        has_future = scenario.tracks.valid[:, scenario.now + 1 :].any()
        return Scene(
            scene_id=scenario.scene_id,
            dataset=self.name,
            split=source.split or ("" if has_future else "test"),
            time=scenario.time,
            dt=scenario.dt,
            now=scenario.now,
            tracks=scenario.tracks,
            map=road,
            signals=Signals.empty(len(scenario.time)),
            info=scenario.info,
        )


def _is_scenario_file(path: Path) -> bool:
    return scenario_id(path.name) is not None and path.is_file()
