"""F37: Windows paths and letter case, processes that are spawned."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from motionpred.datasets.argoverse2 import Argoverse2, write_scene
from motionpred.store import Store, prepare
from motionpred.testing import crossing_scene
from motionpred.training import compose, train

FOLDER = r"C:\data\AV2 val"  # a path on Windows, one name with a blank elsewhere


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    root = tmp_path / FOLDER
    for seed in range(4):
        write_scene(crossing_scene(f"s{seed}", seed=seed, split="val"), root)
    for path in [*root.rglob("*.parquet"), *root.rglob("*.json")]:
        path.rename(path.with_suffix(path.suffix.upper()))
    assert len(list(root.rglob("*.PARQUET"))) == 4
    return root


@pytest.mark.slow
def test_f37_upper_case_suffixes_are_read_and_trained_on_by_two_spawned_workers(
    raw: Path, tmp_path: Path
) -> None:
    store = tmp_path / FOLDER / "store of scenes"
    before = multiprocessing.active_children()

    prepare(Argoverse2(), raw, store, workers=2, shard_size=2)
    assert sorted(Store(store).scene_ids) == [f"s{i}" for i in range(4)]
    config = compose(
        [
            f"store='{store}'",
            f"out='{tmp_path / FOLDER / 'runs'}'",
            "trainer=smoke",
            "trainer.max_steps=2",
            "trainer.num_workers=2",
            "trainer.accelerator=cpu",
            "model.size=nano",
        ]
    )
    result = train(config)

    assert (result.steps, result.scenes) == (2, 4)
    assert result.run.parent == tmp_path / FOLDER / "runs"
    assert multiprocessing.active_children() == before


def test_f37_a_suffix_in_capitals_is_found(raw: Path) -> None:
    sources = Argoverse2().find(raw)

    scenes = [scene for source in sources for scene in Argoverse2().read(source)]
    assert [getattr(scene, "scene_id", scene) for scene in scenes] == [f"s{i}" for i in range(4)]
