"""read_scenes: the same stream from a store and from raw files, and what a selection selects."""

from __future__ import annotations

from pathlib import Path

import pytest
from crossing_files import CrossingFiles, write_crossings

import motionpred.store.scenes as scenes_module
from motionpred.errors import ConfigError, SceneError, StoreError
from motionpred.scene import Scene
from motionpred.store import Selection, prepare, read_scenes


class Counting(CrossingFiles):
    """Remembers which sources were read."""

    def __init__(self):
        self.opened: list[str] = []

    def read(self, source):
        self.opened.append(source.key)
        yield from super().read(source)


@pytest.fixture
def adapter(monkeypatch) -> Counting:
    counting = Counting()
    monkeypatch.setattr(scenes_module, "get_adapter", {"crossings": counting}.__getitem__)
    monkeypatch.setattr(scenes_module, "detect", lambda path: counting)
    return counting


WORDS = {"train/a": "1", "train/b": "2", "val/c": "3", "val/d": "4", "test/many": "5 6"}


@pytest.fixture(params=["raw", "store"])
def place(request, tmp_path, adapter) -> Path:
    raw = write_crossings(tmp_path / "raw", WORDS)
    if request.param == "raw":
        return raw
    prepare(adapter, raw, tmp_path / "store")
    return tmp_path / "store"


def ids(stream) -> list[str]:
    return [scene.scene_id for scene in stream]


def test_everything_comes_in_the_order_of_the_sources(place):
    assert ids(read_scenes(place)) == ["many#0", "many#1", "a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"split": "val"}, ["c", "d"]),
        ({"limit": 2}, ["many#0", "many#1"]),
        ({"split": "train", "limit": 1}, ["a"]),
        ({"ids": ["d", "a", "a"]}, ["a", "d"]),
        ({"ids": "b"}, ["b"]),
        ({"ids": ["many#1"]}, ["many#1"]),
        ({"filter": {"city": "austin"}}, ["many#0", "b", "d"]),
        ({"filter": {"city": "miami"}, "split": "val"}, ["c"]),
        ({"filter": {"city": "miami"}, "limit": 2}, ["many#1", "a"]),
    ],
    ids=str,
)
def test_a_selection_is_the_same_from_raw_files_and_from_a_store(place, options, found):
    assert ids(read_scenes(place, **options)) == found


def test_ids_that_are_not_there_are_named(place):
    with pytest.raises(ConfigError, match=r"no scene is called x, y \[file=.*field=ids\]"):
        list(read_scenes(place, ids=["y", "x"]))


def test_an_id_outside_the_split_is_named(place):
    with pytest.raises(ConfigError, match="no scene is called a"):
        list(read_scenes(place, ids=["a", "c"], split="val"))


def test_a_filter_that_lets_nothing_pass_says_what_there_is(place):
    with pytest.raises(ConfigError, match=r"none of [26] scenes.*city=paris.*Values met: city is"):
        list(read_scenes(place, split="train", filter={"city": "paris"}))
    with pytest.raises(ConfigError, match=r"no scene has 'town' in its info.*Known: city"):
        list(read_scenes(place, filter={"town": "paris"}))


def test_the_name_of_the_dataset_has_to_be_that_of_the_store(tmp_path, adapter):
    prepare(adapter, write_crossings(tmp_path / "raw", 1), tmp_path / "store")
    assert ids(read_scenes(tmp_path / "store", dataset="crossings")) == ["0000"]
    with pytest.raises(ConfigError, match="holds crossings scenes, not waymo"):
        read_scenes(tmp_path / "store", dataset="waymo")


def test_only_the_sources_of_wanted_ids_are_read_where_ids_show_in_their_keys(tmp_path, adapter):
    raw = write_crossings(tmp_path / "raw", 50)
    assert ids(read_scenes(raw, ids=["0007", "0031"])) == ["0007", "0031"]
    assert adapter.opened == ["0007.crossing", "0031.crossing"]


def test_a_misspelt_id_among_good_ones_is_named_before_anything_is_read(tmp_path, adapter):
    raw = write_crossings(tmp_path / "raw", 5)
    with pytest.raises(ConfigError, match="no scene is called 0O02"):
        read_scenes(raw, ids=["0001", "0O02"])
    assert adapter.opened == []


def test_reading_stops_at_the_limit_and_at_the_last_wanted_id(tmp_path, adapter):
    raw = write_crossings(tmp_path / "raw", {"a": "1 2", "b": "3 4", "c": "5"})
    assert ids(read_scenes(raw, limit=1)) == ["a#0"]
    assert ids(read_scenes(raw, ids=["b#0", "a#1"])) == ["a#1", "b#0"]
    assert adapter.opened == ["a.crossing", "a.crossing", "b.crossing"]


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("val/abc-1/scenario_abc-1.parquet", True),
        ("12.csv", False),
        ("abc-1", True),
        ("abc-10", False),
    ],
)
def test_an_id_shows_in_a_key_as_a_whole_word_only(tmp_path, key, shown):
    from motionpred.datasets import Source

    sources = [Source(tmp_path, key, ""), Source(tmp_path, "z/other.txt", "")]
    narrowed = Selection.of(ids=["abc-1"]).narrow(sources)
    assert narrowed == (sources[:1] if shown else sources)


def test_a_split_that_is_not_there_is_refused_and_what_there_is_named(tmp_path, adapter):
    raw = write_crossings(tmp_path / "raw", {"train/a": "1", "val/b": "2"})
    with pytest.raises(ConfigError, match=r"nothing of split 'test'.*There is train, val"):
        read_scenes(raw, split="test")


def test_where_no_folder_tells_the_split_each_scene_does(tmp_path, adapter):
    raw = write_crossings(tmp_path / "raw", {"a": "1", "b": "unlabelled"})
    assert ids(read_scenes(raw, split="test")) == ["b"]
    assert prepare(adapter, raw, tmp_path / "out", split="test").scenes == 1


def test_a_broken_scene_ends_the_stream_or_comes_as_its_error(tmp_path, adapter):
    raw = write_crossings(tmp_path / "raw", {"a": "1", "b": "broken", "c": "crash", "d": "2"})
    stream = read_scenes(raw)
    assert next(stream).scene_id == "a"
    with pytest.raises(SceneError, match="lights are out"):
        next(stream)
    items = list(read_scenes(raw, on_error="yield"))
    assert [type(item) for item in items] == [Scene, SceneError, SceneError, Scene]
    assert "ZeroDivisionError" in str(items[2])


def test_an_unfinished_store_is_refused_with_the_way_out(tmp_path, adapter):
    raw = write_crossings(tmp_path / "raw", {"a": "1", "b": "broken"})
    with pytest.raises(SceneError):
        prepare(adapter, raw, tmp_path / "store", on_error="stop")
    with pytest.raises(StoreError, match=r"unfinished.*motionpred prepare.*again"):
        read_scenes(tmp_path / "store")


class TestPrepareSelects:
    def test_the_wanted_scenes_and_counts_the_others(self, tmp_path, adapter):
        raw = write_crossings(tmp_path / "raw", WORDS)
        report = prepare(adapter, raw, tmp_path / "a", filter={"city": "austin"})
        assert report.scenes == len(list(read_scenes(raw, filter={"city": "austin"})))
        assert report.scenes + report.skipped == 6

    def test_only_a_split(self, tmp_path, adapter):
        raw = write_crossings(tmp_path / "raw", WORDS)
        report = prepare(adapter, raw, tmp_path / "a", split="train")
        assert (report.scenes, report.skipped) == (2, 0)
        assert adapter.opened == ["train/a.crossing", "train/b.crossing"]

    @pytest.mark.parametrize("workers", [1, 2])
    def test_the_first_scenes_up_to_a_limit(self, tmp_path, adapter, workers):
        raw = write_crossings(tmp_path / "raw", 30)
        prepare(CrossingFiles(), raw, tmp_path / "a", limit=11, workers=workers)
        assert ids(read_scenes(tmp_path / "a")) == [f"{i:04d}" for i in range(11)]

    def test_ids_that_are_not_there_are_listed_as_failures(self, tmp_path, adapter):
        raw = write_crossings(tmp_path / "raw", {"a": "1 2", "b": "3 4"})
        report = prepare(adapter, raw, tmp_path / "a", ids=["a#1", "a#7"])
        assert (report.scenes, report.failed) == (1, 1)
        from motionpred.store import Store

        assert Store(tmp_path / "a").failures()[0].scene == "a#7"

    def test_nothing_and_leaves_nothing_behind(self, tmp_path, adapter):
        raw = write_crossings(tmp_path / "raw", WORDS)
        with pytest.raises(ConfigError, match="Values met: city is"):
            prepare(adapter, raw, tmp_path / "a", filter={"city": "paris"})
        assert not (tmp_path / "a").exists()
