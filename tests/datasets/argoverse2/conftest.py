"""Argoverse 2 files whose rows or map are edited by hand before they are read."""

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
from motionpred.testing import crossing_scene


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of one made scenario, called ``crossing``."""
    return write_scene(crossing_scene(), tmp_path)


@pytest.fixture
def read() -> Callable[..., Scene | SceneError]:
    """Reads the one scenario of a folder."""

    def read_folder(folder: Path, **options: Any) -> Scene | SceneError:
        adapter = Argoverse2(**options)
        (source,) = adapter.find(folder)
        return next(adapter.read(source))

    return read_folder


@pytest.fixture
def edit_rows() -> Callable[..., None]:
    """Passes the columns of a scenario file, as numpy arrays by name, through a function."""

    def edit(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        (path,) = folder.glob("*.parquet")
        table = pq.read_table(path)
        columns = {
            name: table[name].to_numpy(zero_copy_only=False).copy() for name in table.column_names
        }
        pq.write_table(pa.table(change(columns)), path)

    return edit


@pytest.fixture
def edit_map() -> Callable[..., None]:
    """Passes the map document through a function."""

    def edit(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
        (path,) = folder.glob("*.json")
        path.write_text(json.dumps(change(json.loads(path.read_text()))))

    return edit
