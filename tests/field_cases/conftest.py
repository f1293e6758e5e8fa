"""Field cases are written as files of a publisher, and read by the adapter a user has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from motionpred.datasets.argoverse2 import Argoverse2, write_scene
from motionpred.errors import SceneError
from motionpred.scene import Scene
from motionpred.store import prepare
from motionpred.testing import crossing_scene


@pytest.fixture
def read_argoverse2(tmp_path: Path) -> Callable[..., Scene | SceneError]:
    """Writes a scene as Argoverse 2 files and reads it.

    ``map`` replaces the whole map document; ``rows`` edits the rows of the scenario file.
    """

    def read(
        scene: Scene | None = None,
        *,
        map: dict[str, Any] | None = None,
        rows: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] | None = None,
    ) -> Scene | SceneError:
        folder = write_scene(scene or crossing_scene(), tmp_path)
        if map is not None:
            (document,) = folder.glob("*.json")
            document.write_text(json.dumps(map))
        if rows is not None:
            (parquet,) = folder.glob("*.parquet")
            table = pq.read_table(parquet)
            edited = rows(table.to_pylist())
            pq.write_table(pa.Table.from_pylist(edited, schema=table.schema), parquet)
        adapter = Argoverse2()
        (source,) = adapter.find(folder)
        return next(adapter.read(source))

    return read


@pytest.fixture
def av2_lane() -> Callable[..., dict[str, Any]]:
    """A lane object of the map document; a straight lane along x unless its centreline is given."""

    def lane(name: int, centerline: list[tuple[float, float]] | None = None, **fields: Any) -> Any:
        def line(points: list[tuple[float, float]]) -> list[dict[str, float]]:
            return [{"x": x, "y": y, "z": 0.0} for x, y in points]

        return {
            "id": name,
            "is_intersection": False,
            "lane_type": "VEHICLE",
            "centerline": line(centerline or [(0.0, 0.0), (10.0, 0.0)]),
            "left_lane_boundary": line([(0.0, 1.75), (10.0, 1.75)]),
            "right_lane_boundary": line([(0.0, -1.75), (10.0, -1.75)]),
            "left_lane_mark_type": "NONE",
            "right_lane_mark_type": "NONE",
            "left_neighbor_id": None,
            "right_neighbor_id": None,
            "predecessors": [],
            "successors": [],
            **fields,
        }

    return lane


@pytest.fixture
def crossing_store(tmp_path: Path) -> Callable[..., Path]:
    """A store of ``count`` scenes of a split; ids ``<split>0``, ``<split>1``, ..."""

    def make(count: int, split: str = "train", seed: int = 0) -> Path:
        raw, store = tmp_path / f"raw-{split}", tmp_path / f"store-{split}"
        for i in range(count):
            write_scene(crossing_scene(f"{split}{i}", seed=seed + i, split=split), raw)
        prepare(Argoverse2(), raw, store)
        return store

    return make
