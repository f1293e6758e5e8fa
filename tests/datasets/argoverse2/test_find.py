"""Where Argoverse 2 scenarios are found, under which key and split."""

from __future__ import annotations

import shutil

import pytest

from motionpred.datasets.argoverse2 import Argoverse2, write_scene
from motionpred.errors import SceneError
from motionpred.testing import crossing_scene


@pytest.fixture
def dataset(tmp_path):
    root = tmp_path / "AV2 data"
    for split, name in (("val", "b"), ("train", "c"), ("train", "a")):
        write_scene(crossing_scene(name, split=split), root)
    return root


def keys(root, split=None):
    return [source.key for source in Argoverse2().find(root, split)]


def test_sources_are_sorted_by_a_key_relative_to_the_root(dataset):
    assert keys(dataset) == [
        "train/a/scenario_a.parquet",
        "train/c/scenario_c.parquet",
        "val/b/scenario_b.parquet",
    ]


def test_a_split_a_scenario_folder_or_its_file_may_be_the_root(dataset):
    assert keys(dataset / "train") == ["a/scenario_a.parquet", "c/scenario_c.parquet"]
    assert keys(dataset / "val" / "b") == ["scenario_b.parquet"]
    assert keys(dataset / "val" / "b" / "scenario_b.parquet") == ["scenario_b.parquet"]


def test_the_split_comes_from_the_nearest_folder_of_that_name_also_above_the_root(dataset):
    splits = {source.key: source.split for source in Argoverse2().find(dataset)}
    assert splits["val/b/scenario_b.parquet"] == "val"
    assert [source.split for source in Argoverse2().find(dataset / "val" / "b")] == ["val"]
    assert keys(dataset, "val") == ["val/b/scenario_b.parquet"]
    assert keys(dataset, "test") == []


def test_nothing_is_opened_to_find_sources(dataset):
    (dataset / "val" / "b" / "scenario_b.parquet").write_bytes(b"")
    (dataset / "val" / "b" / "log_map_archive_b.json").unlink()
    assert len(keys(dataset)) == 3


def test_letter_case_of_the_file_names_does_not_matter(dataset, read):
    folder = dataset / "val" / "b"
    (folder / "scenario_b.parquet").rename(folder / "Scenario_b.PARQUET")
    (folder / "log_map_archive_b.json").rename(folder / "LOG_MAP_ARCHIVE_b.JSON")
    assert keys(folder) == ["Scenario_b.PARQUET"]
    assert len(read(folder).map) > 0


def test_hidden_folders_are_passed_over_and_linked_ones_followed_once(dataset):
    (dataset / "train" / "a").rename(dataset / "train" / ".partial-a")
    (dataset / "test").symlink_to(dataset / "val", target_is_directory=True)
    (dataset / "val" / "loop").symlink_to(dataset, target_is_directory=True)
    assert keys(dataset) == [
        "test/b/scenario_b.parquet",
        "train/c/scenario_c.parquet",
        "val/b/scenario_b.parquet",
    ]


def test_a_root_without_scenarios_is_an_error_that_says_what_is_looked_for(tmp_path):
    with pytest.raises(SceneError, match=r"scenario_<id>\.parquet.*train, val or test"):
        Argoverse2().find(tmp_path)
    with pytest.raises(SceneError, match="cannot be listed"):
        Argoverse2().find(tmp_path / "nowhere")


def test_sniff_knows_the_layout_at_every_level_and_no_other(dataset, tmp_path):
    adapter = Argoverse2()
    scenario = dataset / "val" / "b"
    for path in (dataset, dataset / "val", scenario, scenario / "scenario_b.parquet"):
        assert adapter.sniff(path)
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(scenario / "scenario_b.parquet", other / "tracks.parquet")
    for path in (other, other / "tracks.parquet", tmp_path / "nowhere"):
        assert not adapter.sniff(path)


def test_sniff_finds_a_split_among_many_other_folders(dataset):
    for number in range(50):
        (dataset / f"a{number:02}").mkdir()
    assert Argoverse2().sniff(dataset)


def test_a_split_keeps_sources_whose_path_does_not_tell_theirs(dataset):
    (dataset / "val" / "b").rename(dataset / "b")
    assert keys(dataset, "test") == ["b/scenario_b.parquet"]
    assert keys(dataset, "train") == [
        "b/scenario_b.parquet",
        "train/a/scenario_a.parquet",
        "train/c/scenario_c.parquet",
    ]
