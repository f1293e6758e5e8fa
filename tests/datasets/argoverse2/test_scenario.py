"""Rows of a scenario file as dense tracks, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from motionpred.datasets.argoverse2 import Argoverse2, write_scene
from motionpred.errors import SceneError
from motionpred.scene import Role, Scene
from motionpred.testing import crossing_scene


def rows_of(columns, track, step):
    return np.flatnonzero((columns["track_id"] == track) & (columns["timestep"] == step))


def with_value(name, value, track="103", step=12):
    def change(columns):
        columns[name][rows_of(columns, track, step)] = value
        return columns

    return change


def chosen(columns, rows):
    return {name: values[rows] for name, values in columns.items()}


def with_a_copy(track, step, shift=0.0):
    """All rows shuffled, one of them twice; the copy's x is moved by ``shift`` metres."""

    def change(columns):
        count = len(columns["timestep"])
        order = np.random.default_rng(0).permutation(count)
        edited = chosen(columns, np.r_[order, rows_of(columns, track, step)])
        edited["position_x"][-1] += shift
        return edited

    return change


@pytest.mark.parametrize(("policy", "shift"), [("first", 0.0), ("last", 0.5)])
def test_a_policy_keeps_one_of_two_contradicting_rows_and_counts_the_other(
    folder, read, edit_rows, policy, shift
):
    plain = read(folder)
    edit_rows(folder, with_a_copy("102", 7, shift=0.5))
    scene = read(folder, duplicates=policy)
    track = plain.tracks.track_id.tolist().index("102")
    moved = scene.tracks.position - plain.tracks.position
    assert moved[track, 7, 0] == pytest.approx(shift)
    assert np.count_nonzero(moved) == (shift > 0)
    assert scene.info["read_report"] == {"conflicting_rows": 1}


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (with_value("position_x", np.nan), "position_x", "is nan at track 103, step 12"),
        (with_value("heading", np.inf), "heading", "is inf at track 103, step 12"),
        (with_value("position_x", 1e308), "position_x", r"is 1e\+308 at track 103, step 12"),
        (with_value("velocity_y", -1e39), "velocity_y", r"is -1e\+39 at track 103, step 12"),
        (with_value("timestep", 10**9), "timestep", "is 1000000000 for track 103"),
        (with_value("timestep", -1), "timestep", "is -1 for track 103"),
        (with_value("timestep", 110), "timestep", r"must lie in 0\.\.109"),
        (with_value("object_type", "bus"), "object_type", "changes within track 103"),
        (with_value("object_category", 1), "object_category", "changes within track 103"),
        (with_value("object_category", 7), "object_category", "is 7 at track 103, step 12"),
        (with_value("scenario_id", "other"), "scenario_id", "has 2 values: 'crossing', 'other'"),
        (with_value("observed", False), "observed", "is false at track 103, step 12"),
        (with_value("track_id", None), "track_id", "has empty cells"),
    ],
)
def test_a_bad_value_is_refused_by_file_scene_and_field(
    folder, read, edit_rows, change, field, message
):
    edit_rows(folder, change)
    with pytest.raises(SceneError, match=message) as caught:
        raise read(folder)
    assert caught.value.field == field
    assert caught.value.file.endswith("scenario_crossing.parquet")
    assert caught.value.scene in ("crossing", "other")


def everywhere(name, value):
    def change(columns):
        columns[name] = np.full(len(columns[name]), value)
        return columns

    return change


def without(name):
    return lambda columns: {key: values for key, values in columns.items() if key != name}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("velocity_x"), r"lacks a column \[.*field=velocity_x"),
        (without("focal_track_id"), r"lacks a column \[.*field=focal_track_id"),
        (everywhere("focal_track_id", "999"), "'999', which has no row"),
        (everywhere("focal_track_id", "102"), r"'102', yet the tracks of category 3 are \['101'\]"),
        (everywhere("object_category", 2), r"category 3 are \[\]"),
        (everywhere("position_x", "far"), "holds object values"),
        (everywhere("city", b"\xff\xfe"), r"holds bytes that are no text: .*field=city"),
        (lambda columns: columns | {"city": [{"city": 1}] * len(columns["city"])}, "field=city"),
        (everywhere("observed", False), "there is no history"),
        (lambda columns: chosen(columns, np.zeros(0, int)), "has no row"),
    ],
)
def test_a_file_that_lacks_something_is_refused(folder, read, edit_rows, change, message):
    edit_rows(folder, change)
    with pytest.raises(SceneError, match=message):
        raise read(folder)


def test_a_column_that_is_there_twice_is_refused(folder, read):
    (path,) = folder.glob("*.parquet")
    table = pq.read_table(path)
    pq.write_table(table.append_column("city", table.column("city")), path)
    with pytest.raises(SceneError, match=r"more than once \[.*field=city"):
        raise read(folder)


def test_a_truncated_file_is_refused_and_the_next_scene_is_read(tmp_path):
    for name in ("a", "b"):
        write_scene(crossing_scene(name), tmp_path)
    path = tmp_path / "train" / "a" / "scenario_a.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    adapter = Argoverse2()
    first, second = [next(adapter.read(source)) for source in adapter.find(tmp_path)]
    assert isinstance(first, SceneError)
    assert "Download the file again" in str(first)
    assert isinstance(second, Scene)


def test_a_test_split_ends_at_now_although_the_file_states_110_steps(tmp_path, read):
    scene = crossing_scene(split="").observed()
    folder = write_scene(scene, tmp_path)
    seen = read(folder)
    assert (len(seen.time), seen.now, seen.split, seen.has_future) == (50, 49, "test", False)


def test_a_scene_with_a_future_in_no_named_folder_has_no_split(tmp_path, read):
    assert read(write_scene(crossing_scene(split=""), tmp_path)).split == ""


def test_a_file_that_marks_every_row_as_observed_still_has_a_future(folder, read, edit_rows):
    edit_rows(folder, everywhere("observed", True))
    scene = read(folder)
    assert (scene.now, scene.has_future) == (49, True)
    assert scene.info["read_report"] == {"observed_ignored": 1}


def test_stamps_that_make_no_sense_are_replaced_by_the_nominal_clock_and_counted(
    folder, read, edit_rows
):
    edit_rows(folder, everywhere("end_timestamp", 0.0))
    scene = read(folder)
    assert scene.dt == 0.1
    assert scene.info["read_report"] == {"unsound_stamps": 1}


def test_track_ids_that_are_stored_as_numbers_are_read_as_strings(folder, read, edit_rows):
    def numbered(columns):
        ids = np.where(columns["track_id"] == "AV", "900", columns["track_id"])
        return {
            **columns,
            "track_id": ids.astype(np.int64),
            "focal_track_id": columns["focal_track_id"].astype(np.int64),
        }

    edit_rows(folder, numbered)
    tracks = read(folder).validate().tracks
    assert tracks.track_id.tolist() == ["101", "102", "103", "104", "105", "106", "900"]
    assert tracks.track_id[(tracks.roles & Role.FOCAL) != 0].tolist() == ["101"]


def test_headings_outside_the_range_are_wrapped(folder, read, edit_rows):
    plain = read(folder).tracks.heading

    def turned(columns):
        columns["heading"] += 2 * np.pi
        return columns

    edit_rows(folder, turned)
    np.testing.assert_allclose(read(folder).validate().tracks.heading, plain, atol=1e-6)


def test_a_heading_of_minus_pi_is_read_as_pi(folder, read, edit_rows):
    edit_rows(folder, with_value("heading", -np.pi))
    tracks = read(folder).validate().tracks
    assert tracks.heading[tracks.track_id.tolist().index("103"), 12] == np.float32(np.pi)
