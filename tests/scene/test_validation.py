"""Every check of the Scene contract, each with the smallest scene that breaks it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.errors import SceneError
from motionpred.scene import EdgeKind, MapKind, Role, Scene, Signals, SignalState
from motionpred.testing import make_map, make_scene, make_tracks

PI = np.float32(np.pi)


def sound() -> Scene:
    """Two agents over three steps, the second without its last state; two lanes, one signal."""
    position = np.zeros((2, 3, 2))
    position[..., 0] = [[0, 1, 2], [10, 12, 0]]
    lanes = [(MapKind.LANE, [(0, 0), (9, 0)]), (MapKind.LANE, [(9, 0), (18, 0)])]
    road = make_map(lanes, edges=[(0, 1, EdgeKind.SUCCESSOR)])
    return make_scene(
        make_tracks(position, valid=[[True] * 3, [True, True, False]], size=[[4.0, 2.0]] * 2),
        now=1,
        map=replace(road, edge_range=np.array([[1, 1, 0, 0]])),
        signals=Signals(np.array([0]), np.full((1, 3), SignalState.GO, np.int8), np.ones((1, 3))),
        info={"city": "austin"},
    )


def put(index, value):
    """The array with ``value`` at ``index``."""

    def change(values):
        values = values.copy()
        values[index] = value
        return values

    return change


def always(value):
    return lambda _: value


SCENE = [
    ("scene_id", lambda _: 5, "must be text"),
    ("now", lambda _: 1.5, "must lie in"),
    ("dt", lambda _: None, "must be positive"),
    ("scene_id", always(""), "must be text"),
    ("dt", always(0.0), "must be positive"),
    ("dt", always(np.nan), "must be positive"),
    ("now", always(3), r"must lie in 0\.\.2"),
    ("time", lambda a: a.astype(np.float32), "must be float64"),
    ("time", put(1, np.inf), r"not finite .*field=time\[1\]"),
    ("time", put(2, 0.1), "does not increase after step 1"),
    ("info", always({"city": np.zeros(2)}), "is no JSON"),
    ("info", always({"share": np.nan}), "is no JSON"),
]
TRACKS = [
    ("valid", lambda values: values.tolist(), "must be an array"),
    ("heading", lambda a: a.astype(np.float64), "must be float32"),
    ("velocity", lambda a: a[:, :-1], "has shape"),
    ("track_id", lambda a: a.astype(object), "is object, it must be text"),
    ("track_id", always(np.array(["0", "0"])), "'0' occurs 2 times"),
    ("raw_type", lambda a: np.array([b"car", b"car"]), "must be text"),
    ("raw_type", lambda a: a[:1], "has shape"),
    ("type", put(1, 99), r"is no AgentType .*type\[1\]"),
    ("roles", put(0, Role.FOCAL), "is FOCAL, not SCORED"),
    ("measured", put((1, 2), True), "set where there is no state"),
    ("velocity_valid", put((1, 2), True), "set where there is no state"),
    ("heading_valid", put((1, 2), True), "set where there is no state"),
    ("position", put((0, 1, 1), np.nan), r"not finite .*tracks.position\[0, 1, 1\]"),
    ("position", put((0, 1, 0), 1e308), r"is larger than 1e\+08"),
    ("position", put((1, 2, 0), 1.0), "not 0 where it is invalid"),
    ("position", put((0, 1, 2), 1.0), "has a z though has_z is False"),
    ("velocity", put((0, 2, 1), np.inf), "is not finite"),
    ("velocity", put((0, 2, 1), 1e20), r"is larger than 1e\+08"),
    ("velocity", put((0, 0, 0), 1.0), "not 0 where it is invalid"),
    ("heading", put((0, 0), 1.0), "not 0 where it is invalid"),
    ("heading", put((0, 1), np.nextafter(PI, PI + 1)), r"outside \(-pi, pi\]"),
    ("heading", put((0, 1), -PI), r"outside \(-pi, pi\]"),
    ("size", put((1, 2, 0), 1.0), "not 0 where it is invalid"),
    ("size", put((0, 1, 0), -1.0), "is negative"),
]
MAP = [
    ("points", lambda a: a[:, :2], "has shape"),
    ("points", put((1, 0), np.nan), r"not finite .*map.points\[1, 0\]"),
    ("points", put((1, 0), 1e9), r"is larger than 1e\+08"),
    ("points", put((3, 2), 7.0), r"has a z though has_z is False .*map.points\[3\]"),
    ("start", put(2, 3), "must run from 0 to 4"),
    ("start", put(1, 0), r"has no point .*map.start\[0\]"),
    ("kind", put(0, 99), "is no MapKind"),
    ("polyline_id", lambda a: np.arange(2), "must be text"),
    ("polyline_id", lambda a: a[:1], "has shape"),
    ("lane_type", put(0, 99), "is no LaneType"),
    ("marking", put(0, 99), "is no Marking"),
    ("edge_kind", put(0, 99), "is no EdgeKind"),
    ("edges", put((1, 0), 2), r"links a polyline that is not in the map .*map.edges\[0\]"),
    ("edges", put((1, 0), 0), "links a polyline to itself"),
    ("hole_of", put(0, 2), "is no polyline"),
    ("width", lambda a: a.astype(np.float64), "must be float32"),
    ("edge_range", lambda a: a[:, :2], "has shape"),
    ("edge_range", lambda a: a.astype(np.int32), "must be int64"),
]
SIGNALS = [
    ("state", lambda a: a[:, :2], "has shape"),
    ("state", put((0, 1), 99), r"is no SignalState .*state\[0, 1\]"),
    ("stop_point", put((0, 2), np.nan), "is not finite"),
    ("stop_point", put((0, 2), 1e9), r"is larger than 1e\+08"),
    ("lane", put(0, 2), "is no polyline"),
    ("lane", lambda a: a.astype(np.int32), "must be int64"),
]


def test_the_scene_that_the_cases_break_is_sound():
    scene = sound()
    scene.validate()
    turned = put((0, 1), PI)(scene.tracks.heading)
    replace(scene, tracks=replace(scene.tracks, heading=turned)).validate()
    replace(scene, map=replace(scene.map, edge_range=None)).validate()


@pytest.mark.parametrize(("field", "change", "message"), SCENE)
def test_a_fault_of_the_scene_itself_is_named(field, change, message):
    scene = sound()
    broken = replace(scene, **{field: change(getattr(scene, field))})
    with pytest.raises(SceneError, match=message) as caught:
        broken.validate()
    assert str(caught.value.field).startswith(field)


@pytest.mark.parametrize(
    ("part", "field", "change", "message"),
    [
        (part, *case)
        for part, cases in (("tracks", TRACKS), ("map", MAP), ("signals", SIGNALS))
        for case in cases
    ],
)
def test_a_fault_in_a_part_is_named_by_field_and_index(part, field, change, message):
    scene = sound()
    whole = getattr(scene, part)
    broken = replace(scene, **{part: replace(whole, **{field: change(getattr(whole, field))})})
    with pytest.raises(SceneError, match=message) as caught:
        broken.validate()
    assert str(caught.value.field).startswith(f"{part}.{field}")
