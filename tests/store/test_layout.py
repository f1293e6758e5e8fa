"""A scene comes back from the store as it went in, bit for bit."""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import replace

import numpy as np
import pytest
from crossing_files import CrossingFiles

from motionpred.datasets import Source, get_adapter
from motionpred.errors import SceneError
from motionpred.scene import EdgeKind, FieldSource, MapKind, Scene, Signals, SignalState, Tracks
from motionpred.store import Store, prepare
from motionpred.testing import crossing_scene, make_map, make_scene, make_tracks


class Given(CrossingFiles):
    """The scenes that it is given, from one source."""

    name = "given"

    def __init__(self, *scenes):
        self.scenes = scenes

    def find(self, root, split=None):
        return [Source(root / "all", "all", "")]

    def read(self, source):
        yield from self.scenes


def through_a_store(tmp_path, *scenes: Scene, compression=None) -> list[Scene]:
    report = prepare(Given(*scenes), tmp_path, tmp_path / "store", compression=compression)
    assert (report.scenes, report.failed) == (len(scenes), 0), Store(report.path).failures()
    return list(Store(report.path))


def assert_same(found, wanted, place="scene"):
    assert type(found) is type(wanted), place
    if dataclasses.is_dataclass(wanted):
        for field in dataclasses.fields(wanted):
            name = field.name
            assert_same(getattr(found, name), getattr(wanted, name), f"{place}.{name}")
    elif isinstance(wanted, np.ndarray):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), place
        assert found.tobytes() == wanted.tobytes(), place
    else:
        assert found == wanted, place


def nobody(steps: int = 5) -> Tracks:
    return make_tracks(np.zeros((0, steps, 2)))


def rich_scene() -> Scene:
    """Every optional field set, and holes in every mask."""
    rng = np.random.default_rng(0)
    position = 5e5 + rng.normal(0, 30, (5, 12, 3))
    valid = rng.random((5, 12)) < 0.6
    valid[2] = False
    size = np.array([(4.6, 1.9, 1.5)] * 4 + [(0.5, 0.5, 1.8)])
    tracks = make_tracks(
        position,
        valid=valid,
        size=size,
        heading=rng.uniform(-3, 3, (5, 12)),
        track_id=["1", "AV", "früher", "路人", "x" * 30],
    )
    tracks = replace(tracks, measured=valid & (rng.random((5, 12)) < 0.5))
    road = make_map(
        [
            (MapKind.LANE, rng.normal(0, 50, (4, 3))),
            (MapKind.LANE, rng.normal(0, 50, (1, 2))),
            (MapKind.DRIVABLE_AREA, rng.normal(0, 50, (6, 2))),
        ],
        polyline_id=["9", "ü", "10"],
        edges=[(0, 1, EdgeKind.SUCCESSOR), (1, 0, EdgeKind.LEFT)],
        opposite=[False, True],
        attributes={"width": [3.5, 0, 0], "speed_limit": [13.9, 0, 0], "hole_of": [-1, -1, 0]},
        report={"dangling_links": 2, "self_links": 0},
    )
    road = replace(road, edge_range=np.array([[0, 3, 0, 0], [0, 0, 1, 2]]))
    state = rng.integers(0, len(SignalState), (2, 12)).astype(np.int8)
    signals = Signals(np.array([0, -1]), state, rng.normal(0, 9, (2, 3)))
    return make_scene(
        tracks,
        now=6,
        map=road,
        signals=signals,
        scene_id="szene ß/1",
        split="val",
        time=np.cumsum(rng.uniform(0.05, 0.2, 12)),
        dataset="made up",
        info={"city": "Zürich", "ids": [1, 2], "nested": {"a": None, "b": 1.5}},
    )


SCENES = {
    "a crossing": crossing_scene(),
    "everything set": rich_scene(),
    "a test scene without a future": crossing_scene("t", steps=50, split="test"),
    "no agent": make_scene(nobody(), now=2),
    "nothing at all": make_scene(nobody(1), now=0),
    "no map": make_scene(make_tracks(np.ones((1, 4, 2))), now=1),
    "an agent without a state": make_scene(
        make_tracks(np.zeros((1, 4, 2)), valid=np.zeros((1, 4), bool)), now=1
    ),
    "an empty edge range": replace(
        (one := make_scene(nobody(), now=1, map=make_map([(MapKind.LANE, [(0, 0), (1, 0)])]))),
        map=replace(one.map, edge_range=np.zeros((0, 4), np.int64)),
    ),
    "more ids than letters in them": make_scene(make_tracks(np.zeros((300, 3, 2))), now=1),
    "wide ids, as cut from a longer list": make_scene(
        make_tracks(np.zeros((3, 3, 2)), track_id=["a" * 40, "b", ""]).take(np.array([1, 2])), now=1
    ),
}


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_a_scene_comes_back_bit_for_bit(tmp_path, name, compression):
    (found,) = through_a_store(tmp_path, SCENES[name], compression=compression)
    assert_same(found, SCENES[name])
    found.validate()


@pytest.mark.parametrize(("compression", "most"), [(None, 0.75), ("zstd", 0.4)])
def test_real_scenes_come_back_bit_for_bit_in_less_space(
    argoverse2_root, tmp_path, compression, most
):
    adapter = get_adapter("argoverse2")
    report = prepare(adapter, argoverse2_root, tmp_path / "store", compression=compression)
    sources = adapter.find(argoverse2_root)
    assert report.scenes == len(sources)
    raw_bytes = 0
    for source, found in zip(sources, Store(report.path), strict=True):
        (wanted,) = adapter.read(source)
        assert_same(found, wanted)
        raw_bytes += sum(path.stat().st_size for path in source.path.parent.iterdir())
    assert report.bytes <= most * raw_bytes


def test_centimetre_points_come_back_as_the_nearest_float_and_others_untouched(tmp_path):
    centimetres = np.array([(1234.56, -0.01, 0.0), (99999.99, 0.29, -26.35)])
    fine = np.array([(1234.567, 0.1 + 0.2, 0.0), (-0.0, 1e7, 3e7)])
    maps = [make_map([(MapKind.LANE, points)]) for points in (centimetres, fine)]
    scenes = [make_scene(nobody(), now=1, map=road, scene_id=str(i)) for i, road in enumerate(maps)]
    for found, wanted in zip(through_a_store(tmp_path, *scenes), scenes, strict=True):
        assert found.map.points.tobytes() == wanted.map.points.tobytes()


def test_the_source_of_a_field_is_still_a_source(tmp_path):
    (found,) = through_a_store(tmp_path, crossing_scene())
    assert found.tracks.source["size"] is FieldSource.ABSENT


def test_uncompressed_arrays_are_views_of_the_file(tmp_path):
    (found,) = through_a_store(tmp_path, crossing_scene())
    for array in (found.time, found.map.kind, found.tracks.roles):
        assert not array.flags.writeable and not array.flags.owndata


def test_a_scene_from_the_store_can_be_sent_by_pickle(tmp_path):
    (found,) = through_a_store(tmp_path, rich_scene())
    assert_same(pickle.loads(pickle.dumps(found)), rich_scene())  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    "info", [{"a": (1, 2)}, {1: "a"}, {"a": np.float64}, {"a": float("nan")}], ids=str
)
def test_info_that_would_not_come_back_as_it_is_is_refused(tmp_path, info):
    scene = replace(crossing_scene(), info=info)
    with pytest.raises(SceneError, match=r"not JSON.*field=info"):
        prepare(Given(scene), tmp_path, tmp_path / "store", on_error="stop")


def test_the_format_version_is_in_the_file(tmp_path):
    import pyarrow as pa

    through_a_store(tmp_path, crossing_scene())
    with pa.ipc.open_file(str(tmp_path / "store" / "shard-00000.arrow")) as reader:
        assert reader.schema.metadata[b"format"] == b"motionpred.scenes/1"
        assert reader.num_record_batches == 1
