"""``motionpred bench``: rows, machine facts, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from motionpred.cli.bench_rows import measured

QUICK = ("--seconds", "0", "--batch-size", "4")


def test_every_step_of_the_way_of_a_scene_has_a_rate(run):
    code, text = run("bench", *QUICK, "--out", "bench.json")
    assert code == 0, text
    found = json.loads(Path("bench.json").read_text())
    assert [row["step"] for row in found["rows"]] == [
        "read raw files",
        "prepare a store",
        "read a store",
        "encode",
        "collate",
        "forecast, constant-velocity",
        "forecast, regression nano",
        "train, regression nano",
    ]
    for row in found["rows"]:
        assert row["rate"] > 0
        assert row["step"] in text
    assert found["machine"]["usable_cores"] >= 1
    assert found["machine"]["device"]
    assert found["packages"]["torch"]
    assert found["rows"][-1]["scenes"] == 4  # a batch


def test_a_store_is_measured_without_the_rows_of_raw_files(run, store):
    code, text = run("bench", store, *QUICK, "--limit", "3", "--device", "cpu", "--out", "b.json")
    assert code == 0, text
    rows = json.loads(Path("b.json").read_text())["rows"]
    assert rows[0]["step"] == "read a store"
    assert {row["scenes"] for row in rows} == {3}
    assert "3 scenes of store" in text


def test_the_rate_is_that_of_the_median_pass_and_the_first_pass_is_not_counted(monkeypatch):
    clock = iter([0.0, 1.0, 10.0, 12.0, 20.0, 29.0])
    monkeypatch.setattr("motionpred.cli.bench_rows.time.perf_counter", lambda: next(clock))
    calls = []
    row = measured("step", 6, lambda: calls.append(1), seconds=4.0)
    assert row.seconds == (1.0, 2.0, 9.0)
    assert row.rate == 3.0
    assert len(calls) == 4


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--model", "regresion"), "regression"),
        (("--model", "fan"), "nothing to train"),
        (("--size", "nono"), "nano"),
        (("--device", "cuda:99"), "cpu"),
        (("--seconds", "inf"), "--seconds"),
    ],
)
def test_a_wrong_word_is_a_usage_error(run, store, arguments, hint):
    code, text = run("bench", store, *QUICK, *arguments)
    assert code == 2, text
    assert hint in text
