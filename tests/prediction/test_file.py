"""Forecast files: what was written comes back, by scene or in order, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motionpred.errors import SceneError, StoreError
from motionpred.prediction import (
    ForecastFile,
    Prediction,
    is_forecast_file,
    load_predictions,
    save_predictions,
)


def forecast(scene_id: str = "s", tracks: tuple[str, ...] = ("a", "b")) -> Prediction:
    """Two joint modes of two steps; every number is another."""
    position = np.arange(2.0 * len(tracks) * 4).reshape(2, len(tracks), 2, 2)
    return Prediction(
        scene_id,
        np.array(tracks, np.str_),
        np.array([0.5, 1.0]),
        position,
        np.array([0.75, 0.25]),
        joint=True,
    )


def assert_same(found: Prediction, wanted: Prediction) -> None:
    for name in ("scene_id", "dataset", "source", "joint"):
        assert getattr(found, name) == getattr(wanted, name), name
    for name in ("track_id", "time", "position", "probability", "heading", "scale"):
        one, other = getattr(found, name), getattr(wanted, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert (one.shape, one.dtype.kind) == (other.shape, other.dtype.kind), name
            np.testing.assert_array_equal(one, other, err_msg=name)


# NUL ends a text in numpy, so no track id of an array ends with it; UTF-8 has no lone surrogates.
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def predictions(draw: st.DrawFn) -> Prediction:
    modes, agents, steps = (draw(st.integers(least, 3)) for least in (1, 0, 0))
    joint = draw(st.booleans())

    def numbers(shape: tuple[int, ...], of: st.SearchStrategy[float] = NUMBERS) -> np.ndarray:
        size = int(np.prod(shape))
        return np.array(draw(st.lists(of, min_size=size, max_size=size)), float).reshape(shape)

    chance = numbers((modes,) if joint else (agents, modes), st.floats(0.01, 1.0))
    tracks = draw(st.lists(WORDS, min_size=agents, max_size=agents, unique=True))
    full = (modes, agents, steps)
    return Prediction(
        scene_id=draw(WORDS),
        dataset=draw(WORDS),
        source=draw(WORDS),
        track_id=np.array(tracks, np.str_),
        time=np.cumsum(numbers((steps,), st.floats(0.01, 1e6))),
        position=numbers((*full, 2)),
        probability=chance / chance.sum(axis=-1, keepdims=True),
        joint=joint,
        heading=numbers(full) if draw(st.booleans()) else None,
        scale=numbers((*full, 2), st.floats(5e-324, 1.7e308)) if draw(st.booleans()) else None,
    )


@given(written=st.lists(predictions(), max_size=4, unique_by=lambda p: p.scene_id))
def test_any_valid_forecasts_come_back_exactly_and_in_order(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("any") / "f.parquet"
    assert save_predictions(path, written) == len(written)
    found = list(load_predictions(path))
    assert len(found) == len(written)
    for one, other in zip(found, written, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("extra", [True, False])
def test_a_scene_in_which_nobody_is_forecast_is_kept(tmp_path, joint, extra):
    nobody = replace(
        forecast("empty", tracks=()),
        heading=np.zeros((2, 0, 2)) if extra else None,
        scale=np.zeros((2, 0, 2, 2)) if extra else None,
        source="model",
    )
    nobody = nobody if joint else nobody.marginal()
    assert save_predictions(tmp_path / "f.parquet", [nobody]) == 1
    (found,) = load_predictions(tmp_path / "f.parquet")
    assert_same(found, nobody)
    assert found.modes == 2


def test_extreme_values_come_back_bit_for_bit(tmp_path):
    values = [1e308, -5e-324, -0.0, 1 / 3, 7e6 + 1e-9, np.nextafter(1, 2), np.pi, -1e-300]
    extreme = replace(forecast(tracks=("ü\n,'\"",)), position=np.reshape(values, (2, 1, 2, 2)))
    extreme.save(tmp_path / "f.parquet")
    (found,) = Prediction.load(tmp_path / "f.parquet")
    assert found.position.tobytes() == extreme.position.tobytes()
    assert found.track_id.tolist() == ["ü\n,'\""]


def test_scenes_are_found_by_id_in_any_order_and_listed_in_that_of_the_file(tmp_path):
    path = tmp_path / "f.parquet"
    save_predictions(path, (forecast(name, (name,)) for name in ("z", "a", "m")))
    with ForecastFile(path) as file:
        assert len(file) == 3
        assert file.scene_ids == ["z", "a", "m"]
        assert [p.track_id.tolist() for p in file] == [["z"], ["a"], ["m"]]
        for name in ("m", "z", "a", "z"):
            assert_same(file.get(name), forecast(name, (name,)))
        assert "a" in file
        assert "b" not in file
        assert file.get("b") is None


def test_a_file_of_no_scene_is_a_file(tmp_path):
    assert save_predictions(tmp_path / "f.parquet", []) == 0
    assert list(load_predictions(tmp_path / "f.parquet")) == []
    with ForecastFile(tmp_path / "f.parquet") as file:
        assert len(file) == 0
        assert file.get("s") is None


def test_a_row_group_is_bounded_and_one_at_a_time_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("motionpred.prediction.file._GROUP_SCENES", 2)
    path = tmp_path / "f.parquet"
    save_predictions(path, (forecast(str(i)) for i in range(5)))
    assert pq.ParquetFile(path).num_row_groups == 3
    with ForecastFile(path) as file:
        read: list[int] = []
        original = file._read_group
        monkeypatch.setattr(file, "_read_group", lambda g, c: read.append(g) or original(g, c))
        assert [p.scene_id for p in file] == ["0", "1", "2", "3", "4"]
        assert read == [0, 1, 2]
        file.get("1")
        file.get("0")
        assert read == [0, 1, 2, 0]
    monkeypatch.setattr("motionpred.prediction.file._GROUP_BYTES", 1)
    save_predictions(path, (forecast(str(i)) for i in range(5)))
    assert pq.ParquetFile(path).num_row_groups == 5


def test_a_file_that_another_program_cut_into_other_row_groups_reads_the_same(tmp_path):
    path = tmp_path / "f.parquet"
    written = [forecast("x"), forecast("nobody", ()), forecast("y", ("a", "b", "c"))]
    save_predictions(path, written)
    table = pq.read_table(path)
    for rows in (1, 3, 100):
        pq.write_table(table, path, row_group_size=rows)
        with ForecastFile(path) as file:
            for found, wanted in zip(file, written, strict=True):
                assert_same(found, wanted)
            assert_same(file.get("x"), written[0])


def test_a_scene_that_comes_twice_is_refused_and_the_old_file_stays(tmp_path):
    path = tmp_path / "f.parquet"
    forecast("old").save(path)
    with pytest.raises(StoreError, match="twice") as caught:
        save_predictions(path, [forecast("s"), forecast("t"), forecast("s")])
    assert (caught.value.scene, caught.value.file) == ("s", str(path))
    assert [p.scene_id for p in load_predictions(path)] == ["old"]
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_half_way_leaves_no_file(tmp_path):
    def breaks() -> Iterator[Prediction]:
        yield forecast("s")
        raise SceneError("broken", scene="t")

    path = tmp_path / "new" / "f.parquet"
    with pytest.raises(SceneError, match="broken"):
        save_predictions(path, breaks())
    with pytest.raises(SceneError, match="above 0"):
        save_predictions(path, [replace(forecast(), time=np.array([-1.0, 1.0]))])
    assert list(path.parent.iterdir()) == []


def test_a_name_that_is_no_unicode_is_refused(tmp_path):
    with pytest.raises(StoreError, match="cannot be written as text") as caught:
        forecast("s\udcff").save(tmp_path / "f.parquet")
    assert caught.value.field == "scene_id"


def test_a_parquet_file_that_is_there_is_taken_for_forecasts(tmp_path):
    (tmp_path / "bundle.parquet").mkdir()
    forecast().save(tmp_path / "F.PARQUET")
    assert is_forecast_file(tmp_path / "F.PARQUET")
    assert is_forecast_file(str(tmp_path / "F.PARQUET"))
    for other in ("bundle.parquet", "none.parquet", "."):
        assert not is_forecast_file(tmp_path / other)
    assert not is_forecast_file("constant-velocity")
    assert not is_forecast_file(Path("fan"))
