"""The adapter of synthetic-v1.json, and the way of its scenes into Argoverse 2's layout."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from motionpred.datasets import detect, get_adapter
from motionpred.datasets.argoverse2 import Argoverse2, write_scene
from motionpred.datasets.synthetic import SPLITS, Synthetic, generate, write_spec
from motionpred.errors import SceneError
from motionpred.scene import MapKind
from motionpred.testing import check_adapter, differences


@pytest.fixture
def root(tmp_path):
    write_spec(tmp_path, "train", seed=77, count=2)
    write_spec(tmp_path, "val", seed=78, count=1)
    return tmp_path


def test_the_adapter_keeps_its_contract(root):
    check_adapter(Synthetic(), root)


def test_it_is_found_by_name_and_by_its_file(root):
    assert get_adapter("synthetic").name == "synthetic"
    assert detect(root).name == "synthetic"
    assert detect(root / "train" / "synthetic-v1.json").name == "synthetic"


def test_scenes_are_those_of_generate_with_the_split_of_the_file(root):
    (source,) = Synthetic().find(root, "train")
    found = list(Synthetic().read(source))
    assert [scene.split for scene in found] == ["train", "train"]
    assert not differences(found[1], generate(77, 1, split="train"))


def test_a_large_set_comes_in_ranges_that_cover_it_once(tmp_path):
    write_spec(tmp_path, "train")
    sources = Synthetic().find(tmp_path)
    ranges = [source.key.split("@")[1].split("-") for source in sources]
    covered = [index for start, stop in ranges for index in range(int(start), int(stop))]
    assert covered == list(range(5000))


def test_one_scene_is_made_without_those_before_it(tmp_path):
    write_spec(tmp_path, "test")
    source = Synthetic().find(tmp_path)[-1]
    scene = Synthetic().read_one(source, "synthetic-v1-2-000999")
    assert scene.scene_id == "synthetic-v1-2-000999"


def test_the_splits_of_the_data_set_share_no_seed():
    assert SPLITS == {"train": (0, 5000), "val": (1, 500), "test": (2, 1000)}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"version": "synthetic-v0"}, "version"),
        ({"seed": -1}, "seed"),
        ({"count": "many"}, "count"),
        ({"split": "dev"}, "split"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused_by_field(root, change, field):
    path = root / "train" / "synthetic-v1.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(SceneError, match=f"field={field}"):
        Synthetic().find(root)


def test_a_file_that_is_no_json_is_refused(root):
    (root / "val" / "synthetic-v1.json").write_text("{")
    with pytest.raises(SceneError, match="cannot be read"):
        Synthetic().find(root)


def test_a_scene_survives_the_argoverse2_layout(made, tmp_path):
    for scene in made[:3]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sizes, signals and stop lines have no place there
            folder = write_scene(scene, tmp_path)
        (source,) = Argoverse2().find(folder)
        back = Argoverse2().read_one(source, scene.scene_id)
        order = np.argsort(scene.tracks.track_id)
        for name in ("track_id", "type", "roles", "valid", "position", "heading", "velocity"):
            expected = getattr(scene.tracks, name)[order]
            np.testing.assert_array_equal(getattr(back.tracks, name), expected, err_msg=name)
        carried = (MapKind.LANE, MapKind.LANE_BOUNDARY, MapKind.CROSSWALK, MapKind.DRIVABLE_AREA)
        count = int(np.isin(scene.map.kind, carried).sum())
        np.testing.assert_array_equal(back.map.polyline_id, scene.map.polyline_id[:count])
        np.testing.assert_array_equal(back.map.points, scene.map.points[: len(back.map.points)])
        assert back.map.report["side_conflicts"] == 0
        assert back.map.report["dangling_links"] == 0
