"""What is written is read back; half a scene is never there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from motionpred.datasets.argoverse2 import Argoverse2, left_out, write_scene
from motionpred.datasets.argoverse2 import writer as writing
from motionpred.errors import SceneError
from motionpred.scene import AgentType, MapKind, Role
from motionpred.testing import crossing_scene, differences, make_map


def by_id(scene):
    return replace(scene, tracks=scene.tracks.take(np.argsort(scene.tracks.track_id)))


def test_a_written_scene_is_read_back_with_tracks_sorted_by_id(tmp_path, read):
    scene = crossing_scene()
    found = read(write_scene(scene, tmp_path))
    expected = by_id(scene)
    assert differences(expected.tracks, found.tracks) == []
    assert found.time.tolist() == expected.time.tolist()
    assert (found.scene_id, found.split, found.now) == ("crossing", "train", 49)
    assert differences(expected.map.points, found.map.points) == []
    assert left_out(scene) == {}


def test_every_real_scene_survives_writing_and_reading_bit_for_bit(argoverse2_root, tmp_path, read):
    adapter = Argoverse2()
    for source in adapter.find(argoverse2_root):
        scene = next(adapter.read(source))
        assert left_out(scene) == {}
        found = read(write_scene(scene, tmp_path))
        # Links that left the map are gone from the scene, so there is nothing to count again.
        assert all("dangling" in name for name in differences(scene, found))


def test_the_rows_have_the_publishers_columns_and_types(argoverse2_root, tmp_path):
    adapter = Argoverse2()
    for source in adapter.find(argoverse2_root):
        folder = write_scene(next(adapter.read(source)), tmp_path)
        (path,) = folder.glob("*.parquet")
        ours, theirs = pq.read_table(path), pq.read_table(source.path)
        assert ours.schema.remove_metadata() == theirs.schema.remove_metadata()
        assert ours.num_rows == theirs.num_rows


def test_a_word_of_another_publisher_becomes_the_word_of_the_type(tmp_path, read):
    scene = crossing_scene()
    raw = np.array(["TYPE_VEHICLE"] * 3 + ["walker"] + ["vehicle"] * 3)
    kinds = scene.tracks.type.copy()
    kinds[6] = AgentType.OTHER
    raw[6] = "scooter"
    folder = write_scene(
        replace(scene, tracks=replace(scene.tracks, raw_type=raw, type=kinds)), tmp_path
    )
    words = dict(
        zip(
            *(read(folder).tracks.__getattribute__(n).tolist() for n in ("track_id", "raw_type")),
            strict=True,
        )
    )
    assert words["101"] == "vehicle"
    assert words["103"] == "pedestrian"
    assert words["106"] == "scooter"


def test_what_the_layout_has_no_place_for_is_named_in_a_warning(tmp_path):
    scene = crossing_scene()
    size = np.ones_like(scene.tracks.size)
    signs = make_map([(MapKind.LANE, [(0, 0), (9, 0)]), (MapKind.STOP_SIGN, [(9, 2)])])
    rich = replace(scene, tracks=replace(scene.tracks, size=size), map=signs)
    assert left_out(rich) == {"tracks.size": 7, "map.kind": 1}
    with pytest.warns(UserWarning, match=r"no place for map\.kind, tracks\.size"):
        write_scene(rich, tmp_path)


def test_a_scene_without_a_focal_track_or_at_another_rate_is_refused(tmp_path):
    scene = crossing_scene()
    roles = scene.tracks.roles & ~np.int16(Role.FOCAL)
    with pytest.raises(SceneError, match=r"has 0 focal tracks.*tracks\.roles"):
        write_scene(replace(scene, tracks=replace(scene.tracks, roles=roles)), tmp_path)
    with pytest.raises(SceneError, match=r"steps of 0\.5 s"):
        write_scene(replace(scene, time=scene.time * 5, dt=0.5), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_scene_that_is_there_is_replaced(tmp_path, read):
    write_scene(crossing_scene(seed=0), tmp_path)
    folder = write_scene(crossing_scene(seed=1), tmp_path)
    expected = by_id(crossing_scene(seed=1)).tracks
    assert differences(expected, read(folder).tracks) == []
    assert [path.name for path in folder.parent.iterdir()] == ["crossing"]


def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_scene(crossing_scene(), tmp_path)
    assert list((tmp_path / "train").iterdir()) == []


@pytest.mark.parametrize("scene_id", ["recording@49", "a/b", "..", ".hidden", "C:\\x"])
def test_an_id_that_is_no_file_name_is_kept_in_the_scene(tmp_path, read, scene_id):
    folder = write_scene(crossing_scene(scene_id), tmp_path)
    assert folder.parent == tmp_path / "train"
    assert read(folder).scene_id == scene_id
