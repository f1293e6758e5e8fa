"""A forecast file that is damaged, foreign or does not fit together is an error that says where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from motionpred.errors import StoreError
from motionpred.prediction import ForecastFile, Prediction, load_predictions, save_predictions

Rows = list[dict[str, Any]]


def forecast(scene_id: str, tracks: tuple[str, ...], *, joint: bool = True) -> Prediction:
    """Two modes of two steps; tracks at 0."""
    full = (2, len(tracks), 2)
    plain = Prediction(
        scene_id,
        np.array(tracks, np.str_),
        np.array([0.5, 1.0]),
        np.zeros((*full, 2)),
        np.array([0.75, 0.25]),
        joint=True,
        heading=np.zeros(full),
        scale=np.ones((*full, 2)),
    )
    return plain if joint else plain.marginal()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Rows 0..3 are scene "s" (mode 0: "a", "b"; mode 1: "a", "b"), 4 and 5 are "nobody"."""
    save_predictions(
        tmp_path / "f.parquet", [forecast("s", ("a", "b")), forecast("nobody", (), joint=False)]
    )
    return tmp_path / "f.parquet"


def edit(path: Path, change: Callable[[Rows], Rows | None]) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    pq.write_table(pa.Table.from_pylist(change(rows) or rows, schema=table.schema), path)


def put(row: int, column: str, value: Any) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        rows[row][column] = value

    return change


def order(*places: int) -> Callable[[Rows], Rows]:
    return lambda rows: [rows[i] for i in places]


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (put(1, "dataset", None), "dataset", "has empty cells"),
        (put(1, "source", "other"), "source", "not the same"),
        (put(2, "joint", None), "joint", "has empty cells"),
        (put(2, "joint", False), "joint", "not the same"),
        (put(0, "mode", None), "mode", "has empty cells"),
        (put(0, "mode", -1), "mode", "is -1"),
        (put(3, "mode", 2**31 - 1), "mode", "missing, double or not in order"),
        (put(3, "mode", 0), "mode", "missing, double or not in order"),
        (order(0, 1, 2), "mode", "missing, double or not in order"),
        (order(0, 1, 3), "mode", "missing, double or not in order"),
        (order(2, 3), "mode", "missing, double or not in order"),
        (order(2, 3, 0, 1), "mode", "missing, double or not in order"),
        (order(0, 1, 2, 3, 3), "mode", "missing, double or not in order"),
        (order(0, 0, 1, 2, 2, 3), "prediction.track_id", "holds a track twice"),
        (order(0, 1, 3, 2), "track_id", "not the same in every mode"),
        (put(1, "track_id", None), "track_id", "has empty cells"),
        (put(1, "time", None), "time", "has empty cells"),
        (put(1, "time", [0.5]), "time", "has 1 steps in a row, it must have 2"),
        (put(1, "time", [0.5, 1.1]), "time", "not the same"),
        (put(1, "time", [0.5, None]), "time", "has an empty step"),
        (put(1, "time", [0.5, np.nan]), "time", "not the same"),
        (put(1, "x", [0.0]), "x", "has 1 steps in a row, it must have 2"),
        (put(1, "x", None), "x", "is empty in some rows"),
        (put(1, "y", [0.0, None]), "y", "has an empty step"),
        (put(1, "x", [0.0, np.inf]), "prediction.position", "not finite at"),
        (put(1, "heading", None), "heading", "is empty in some rows"),
        (put(1, "heading", [0.0, np.nan]), "prediction.heading", "not finite"),
        (put(1, "scale_x", [1.0, 0.0]), "prediction.scale", "above 0"),
        (put(1, "probability", None), "probability", "has empty cells"),
        (put(1, "probability", 0.5), "probability", "not the same for all agents"),
        (put(1, "probability", np.nan), "probability", "not the same for all agents"),
    ],
)
def test_rows_that_do_not_fit_name_file_scene_and_column(path, change, field, message):
    edit(path, change)
    with ForecastFile(path) as file, pytest.raises(StoreError, match=message) as caught:
        file.get("s")
    error = caught.value
    assert (error.file, error.scene, error.field) == (str(path), "s", field)
    assert "motionpred predict" in str(error)


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (put(4, "x", [0.0, 0.0]), "x", "is empty in some rows"),
        (lambda rows: [{**row, "x": [0.0, 0.0]} for row in rows], "x", "has 2 steps in a row"),
        (put(4, "track_id", "a"), "track_id", "has empty cells"),
        (put(5, "heading", None), "heading", "is empty in some rows"),
        (put(5, "time", [0.5]), "time", "has 1 steps"),
        (order(0, 1, 2, 3, 5), "mode", "missing, double or not in order"),
        (put(5, "mode", -5), "mode", "is -5"),
    ],
)
def test_rows_of_a_scene_without_agents_are_checked_too(path, change, field, message):
    edit(path, change)
    with ForecastFile(path) as file, pytest.raises(StoreError, match=message) as caught:
        file.get("nobody")
    assert (caught.value.scene, caught.value.field) == ("nobody", field)


def test_the_other_scenes_of_a_file_with_a_broken_one_can_be_read(path):
    edit(path, put(0, "mode", 7))
    with ForecastFile(path) as file:
        assert file.get("nobody").modes == 2


@pytest.mark.parametrize("places", [(0, 1, 4, 5, 2, 3), (0, 1, 2, 3, 4, 5, 0, 1, 2, 3)])
def test_a_scene_whose_rows_are_in_two_places_is_refused(path, places):
    edit(path, order(*places))
    with pytest.raises(StoreError, match="twice, or its rows are not together") as caught:
        list(load_predictions(path))
    assert caught.value.scene == "s"


def test_a_row_of_no_scene_is_refused(path):
    edit(path, put(1, "scene_id", None))
    with pytest.raises(StoreError, match="has empty cells") as caught:
        ForecastFile(path)
    assert caught.value.field == "scene_id"


def test_one_axis_of_the_scale_alone_is_refused(path):
    edit(path, lambda rows: [{**row, "scale_y": None} for row in rows])
    with ForecastFile(path) as file, pytest.raises(StoreError, match="is empty") as caught:
        file.get("s")
    assert caught.value.field == "scale_y"


def test_a_column_that_is_missing_double_or_of_another_type_is_named(path):
    table = pq.read_table(path)
    texts = table.set_column(4, "mode", pa.array(["0"] * 6))
    for other, message in (
        (table.drop_columns(["mode"]), "no single column"),
        (table.append_column("mode", table.column("mode")), "no single column"),
        (texts, "is string, it must be int32"),
    ):
        pq.write_table(other, path)
        with pytest.raises(StoreError, match=message) as caught:
            ForecastFile(path)
        assert (caught.value.file, caught.value.field) == (str(path), "mode")


def test_columns_that_nobody_knows_do_no_harm(path):
    table = pq.read_table(path)
    pq.write_table(table.append_column("comment", pa.array(["x"] * 6)), path)
    assert [p.scene_id for p in load_predictions(path)] == ["s", "nobody"]


def test_a_parquet_file_of_something_else_is_refused(tmp_path):
    pq.write_table(pa.table({"scene_id": ["s"]}), tmp_path / "other.parquet")
    with pytest.raises(StoreError, match="is no forecast file"):
        ForecastFile(tmp_path / "other.parquet")


@pytest.mark.parametrize("content", [None, b"", b"PAR1", b"hello world, no parquet here"])
def test_what_is_no_parquet_file_is_refused_by_name(tmp_path, content):
    path = tmp_path / "f.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StoreError, match="cannot be read as Parquet") as caught:
        list(load_predictions(path))
    assert caught.value.file == str(path)


def test_a_cut_file_and_every_flipped_bit_that_changes_a_forecast_is_noticed(path):
    whole = path.read_bytes()
    wanted = [(p.scene_id, p.position.tobytes(), p.time.tobytes()) for p in load_predictions(path)]
    for place in range(0, len(whole), 11):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        for content in (bytes(damaged), whole[:place]):
            path.write_bytes(content)
            try:
                found = list(load_predictions(path))
            except StoreError:
                continue
            assert wanted == [(p.scene_id, p.position.tobytes(), p.time.tobytes()) for p in found]


def test_a_footer_that_forgets_rows_is_noticed(path):
    whole = path.read_bytes()
    rows = b"\x16\x0c"  # a number of rows, 6, as the footer writes it: of the file, of the group
    places = [i for i in range(len(whole)) if whole.startswith(rows, i)]
    refused = 0
    for place in places:
        path.write_bytes(whole[:place] + b"\x16\x00" + whole[place + 2 :])
        try:
            found = [p.scene_id for p in load_predictions(path)]
        except StoreError:
            refused += 1
        else:
            assert found == ["s", "nobody"]
    assert refused >= 2


def test_bytes_that_are_no_text_are_refused(path):
    table = pq.read_table(path)
    for column in ("scene_id", "track_id", "dataset"):
        values = [value and value.encode() for value in table.column(column).to_pylist()]
        values[1] = b"\xff\xfe"
        place = table.column_names.index(column)
        foreign = pa.array(values, pa.binary()).view(pa.string())
        pq.write_table(table.set_column(place, column, foreign), path)
        with pytest.raises(StoreError, match="is damaged"):
            list(load_predictions(path))
