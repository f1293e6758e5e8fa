"""Opening, reading and checking a store."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from pathlib import Path

import numpy as np
import pytest
from crossing_files import CrossingFiles, write_crossings

from motionpred.errors import StoreError
from motionpred.store import Store, prepare


@pytest.fixture
def store(tmp_path) -> Store:
    """Nine scenes in two shards, and one that failed."""
    raw = write_crossings(tmp_path / "raw", {f"train/{i}": str(i) for i in range(9)})
    write_crossings(raw, {"val/x": "broken"})
    prepare(CrossingFiles(), raw, tmp_path / "store", shard_size=5)
    return Store(tmp_path / "store")


def test_scenes_are_found_by_place_and_by_id(store):
    assert len(store) == 9
    assert store.scene_ids == [str(i) for i in range(9)]
    assert store[3].scene_id == store[np.int64(3)].scene_id == store.get("3").scene_id == "3"
    assert store[-1].scene_id == "8"
    assert [scene.scene_id for scene in store] == store.scene_ids


def test_a_place_that_is_not_there_is_an_index_error(store):
    for place in (9, -10):
        with pytest.raises(IndexError, match="of 9"):
            store[place]


def test_an_id_that_is_not_there_is_named(store):
    with pytest.raises(StoreError, match=r"not in the store.*scene=77"):
        store.get("77")


def test_it_knows_splits_and_failures(store):
    assert store.splits == ["train"] * 9
    assert [failure.scene for failure in store.failures()] == ["x"]


def test_a_folder_that_is_no_store_is_told_apart(store, tmp_path):
    assert Store.is_store(store.path)
    assert not Store.is_store(tmp_path / "raw")
    assert not Store.is_store(tmp_path / "nowhere")
    with pytest.raises(StoreError, match=r"is no store.*motionpred prepare"):
        Store(tmp_path / "raw")


def test_verify_accepts_what_was_written(store):
    store.verify()


@pytest.mark.parametrize(
    "name", ["shard-00001.arrow", "index.arrow", "failures.jsonl", "sources.json"]
)
def test_verify_names_the_damaged_file(store, name):
    path = store.path / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match=rf"is damaged: its SHA-256.*{name}"):
        store.verify()


def test_a_shard_that_is_gone_is_named_and_the_others_are_read(store):
    (store.path / "shard-00001.arrow").unlink()
    assert store[4].scene_id == "4"
    with pytest.raises(StoreError, match=r"is gone \[file=.*shard-00001.arrow"):
        store[5]
    with pytest.raises(StoreError, match=r"is gone \[file=.*shard-00001.arrow"):
        store.verify()


def test_a_shard_that_was_cut_is_named(store):
    path = store.path / "shard-00000.arrow"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(
        StoreError, match=r"is damaged: it has \d+ bytes, it had \d+ \[file=.*00000"
    ):
        store[0]


def test_a_damaged_shard_gives_a_scene_or_an_error_and_never_a_crash(store):
    path = store.path / "shard-00000.arrow"
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    errors = 0
    for place in rng.integers(0, len(good), 150):
        data = bytearray(good)
        data[place : place + 8] = rng.bytes(8)
        path.write_bytes(data[: len(good)])
        fresh = Store(store.path)
        for i in range(5):
            try:
                fresh[i]
            except StoreError as error:
                assert "shard-00000.arrow" in str(error)
                errors += 1
    assert errors


def test_a_manifest_of_another_format_is_refused(store):
    path = store.path / "manifest.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(StoreError, match=r"has format 99, this version reads 1.*Prepare it again"):
        Store(store.path)


@pytest.mark.parametrize(
    ("field", "value"),
    [("options", None), ("counts.map_report", []), ("shards[0].name", 5), ("extra", 1)],
)
def test_a_manifest_with_a_value_of_another_kind_is_refused_by_field(store, field, value):
    path = store.path / "manifest.json"
    values = json.loads(path.read_text())
    owner = {"counts.map_report": values["counts"], "shards[0].name": values["shards"][0]}
    owner.get(field, values)[field.rsplit(".", 1)[-1]] = value
    path.write_text(json.dumps(values))
    with pytest.raises(StoreError, match="manifest is damaged") as caught:
        Store(store.path)
    assert caught.value.field == field


def test_a_damaged_manifest_is_refused(store):
    path = store.path / "manifest.json"
    path.write_text(path.read_text()[:-50])
    with pytest.raises(StoreError, match=r"manifest cannot be read"):
        Store(store.path)


def test_a_pickled_store_holds_no_map_and_opens_its_own(store):
    _ = store[0]
    data = pickle.dumps(store)
    assert len(data) < 500
    copy = pickle.loads(data)  # noqa: S301 - our own bytes
    assert copy[7].scene_id == "7"
    assert store[1].scene_id == "1"


def test_an_unfinished_store_can_be_looked_into_and_stays_as_it_was_when_opened(tmp_path):
    raw = write_crossings(tmp_path / "raw", 9)
    opened = []

    def look(progress):
        if progress.scenes == 4 and not opened:
            opened.append(Store(tmp_path / "out", allow_partial=True))
            assert len(opened[0]) == 3

    prepare(CrossingFiles(), raw, tmp_path / "out", shard_size=3, progress=look)
    copy = pickle.loads(pickle.dumps(opened[0]))  # noqa: S301 - our own bytes
    assert copy.scene_ids == opened[0].scene_ids == ["0000", "0001", "0002"]
    assert copy[2].scene_id == "0002"


def positions(store: Store, places: list[int]) -> list[float]:
    return [float(store[place].tracks.position.sum()) for place in places]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_store_that_was_read_is_read_in_worker_processes_too(store, method, monkeypatch):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import test_reader

    places = list(range(9))
    here = positions(store, places)
    with multiprocessing.get_context(method).Pool(2) as pool:
        there = pool.starmap(test_reader.positions, [(store, places), (store, places)])
    assert there == [here, here]
