"""The commands: what they print, write and return, on scenes in the Argoverse 2 layout."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from motionpred.datasets.argoverse2 import write_scene
from motionpred.prediction import load_predictions
from motionpred.testing import crossing_scene


def figure(text: str, metric: str, k: int) -> float:
    """The value of one row of a printed table."""
    row = next(line for line in text.splitlines() if re.search(rf"│ {metric} +│ +{k} │", line))
    return float(row.split("│")[3])


def test_prepare_says_what_it_did_what_it_wrote_and_what_is_next(run, raw):
    code, text = run("prepare", "argoverse2", raw, "store", "--split", "val")
    assert code == 0
    assert "4 scenes: 4 built, 0 already there" in text
    assert "wrote store" in text
    assert "next: motionpred inspect store" in text


def test_prepare_twice_builds_nothing_the_second_time(run, raw, store):
    code, text = run("prepare", "argoverse2", raw, store, "--split", "val")
    assert code == 0
    assert "0 built, 4 already there" in text


def test_a_broken_scene_is_listed_and_the_exit_code_says_partial(run, raw, tmp_path):
    for seed in range(2):
        write_scene(crossing_scene(f"s-{seed}", seed=seed, split="val"), tmp_path / "bad")
    next((tmp_path / "bad").rglob("scenario_s-1.parquet")).write_bytes(b"no parquet")
    code, text = run("prepare", "argoverse2", tmp_path / "bad", "store")
    assert code == 3
    assert "1 failed" in text
    failure = json.loads(Path("store/failures.jsonl").read_text())
    assert "scenario_s-1.parquet" in failure["file"]


def test_nothing_but_broken_scenes_is_a_failure(run, tmp_path):
    write_scene(crossing_scene("only", split="val"), tmp_path / "bad")
    next((tmp_path / "bad").rglob("*.parquet")).write_bytes(b"")
    code, _ = run("prepare", "argoverse2", tmp_path / "bad", "store")
    assert code == 1


def test_inspect_counts_and_checks(run, store):
    code, text = run("inspect", store, "--check")
    assert code == 0
    assert "4 scenes keep the contract" in text
    assert "20 vehicle" not in text  # six vehicles a scene
    assert "24 vehicle" in text


def test_evaluate_prints_protocol_k_horizon_agents_and_n(run, store):
    code, text = run("evaluate", store, "constant-velocity", "--protocol", "argoverse2-single")
    assert code == 0
    assert "argoverse2-single on 4 scenes" in text
    assert figure(text, "minFDE", 1) > 0
    assert "focal" in text
    assert "6 s" in text


def test_a_forecast_file_gives_the_same_figures_as_the_model(run, store):
    run("predict", "fan", store, "--out", "forecasts.parquet")
    run("evaluate", store, "fan", "--out", "model.json")
    code, _ = run("evaluate", store, "forecasts.parquet", "--out", "file.json")
    assert code == 0
    assert json.loads(Path("model.json").read_text()) == json.loads(Path("file.json").read_text())


def test_scenes_without_a_forecast_are_named_and_the_exit_code_says_partial(run, store):
    run("predict", "fan", store, "--out", "forecasts.parquet", "--limit", "3")
    code, text = run("evaluate", store, "forecasts.parquet")
    assert code == 3
    assert "1 scenes have no forecast" in text
    assert "val-3" in text


def test_f07_test_split_without_a_future(run, raw):
    code, text = run("predict", "fan", raw, "--split", "test", "--out", "f.parquet")
    assert code == 0, text
    (prediction,) = load_predictions("f.parquet")
    assert prediction.position.shape[2] == 60
    code, text = run("evaluate", raw, "constant-velocity", "--split", "test", "--out", "r.json")
    assert code == 1
    assert "no ground truth in this split" in text
    assert "minADE" not in text
    assert not Path("r.json").exists()


def test_scenes_without_a_future_are_left_out_and_counted_beside_those_that_have_one(run, raw):
    code, text = run("evaluate", raw, "constant-velocity")
    assert code == 0
    assert "4 scenes with a future; 1 without were left out" in text


def test_ids_may_come_from_a_file(run, store):
    Path("ids.txt").write_text("val-1\n\nval-3\n")
    code, text = run("evaluate", store, "constant-velocity", "--ids", "@ids.txt")
    assert code == 0
    assert "on 2 scenes" in text


def test_ids_that_do_not_exist_are_named(run, store):
    code, text = run("evaluate", store, "constant-velocity", "--ids", "val-1,val-77")
    assert code != 0
    assert "val-77" in text


def test_filter_takes_any_key_of_info(run, store):
    code, text = run("evaluate", store, "constant-velocity", "--filter", "city=austin")
    assert code == 0
    assert "on 4 scenes" in text
    code, text = run("evaluate", store, "constant-velocity", "--filter", "city=miami")
    assert code == 2
    assert "miami" in text


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("prepare", "argoverse", "raw", "store"), "argoverse2"),
        (("evaluate", "store", "constant-velocty"), "constant-velocity"),
        (("evaluate", "store", "constant-velocity", "--protocol", "argoverse2-mutli"), "multi"),
        (("train", "store=store", "model=regresion"), "regression"),
        (("train", "store=store", "trainer.max_step=3"), "max_steps"),
        (("predict", "fan", "store", "--out", "f.txt"), ".parquet"),
        (
            ("predict", "fan", "store", "--out", "f.parquet", "--agents", "some"),
            "Invalid value for '--agents'",
        ),
        (("render", "store", "--out", "scene.jpg", "--limit", "1"), ".gif"),
        (("evaluate", "store", "fan", "--filter", "city"), "key=value"),
    ],
)
def test_a_wrong_word_is_a_usage_error_that_names_the_right_one(run, store, arguments, hint):
    code, text = run(*arguments)
    assert code == 2, text
    assert hint in text


def test_models_lists_what_can_be_named(run):
    code, text = run("models")
    assert code == 0
    for name in ("constant-velocity", "regression", "argoverse2", "argoverse2-multi", "joint"):
        assert name in text


@pytest.mark.slow
def test_demo_names_a_picture_and_shows_figures(run):
    code, text = run("demo", "--steps", "5", "--out", "here")
    assert code == 0, text
    assert Path("here/scene.png").stat().st_size > 10_000
    assert "avgMinFDE" in text
    code, text = run("demo", "--steps", "5", "--out", "here")  # a second time, over the first
    assert code == 0, text
