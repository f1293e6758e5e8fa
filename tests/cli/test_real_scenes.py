"""The commands on real Argoverse 2 scenarios: constant velocity, the test scenario."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from motionpred.cli import app
from motionpred.prediction import load_predictions

# Measured on these files by the formula alone: (protocol, metric) -> metres, K = 1.
EXPECTED = {
    ("argoverse2-single", "minADE"): 3.301,
    ("argoverse2-single", "minFDE"): 8.209,
    ("argoverse2-multi", "avgMinADE"): 2.056,
    ("argoverse2-multi", "avgMinFDE"): 4.715,
}


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> str:
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.output

    return call


def figures(path: str) -> dict[tuple[str, str], float]:
    reports = json.loads(Path(path).read_text())["reports"]
    return {
        (report["protocol"], figure["metric"]): figure["value"]
        for report in reports
        for figure in report["figures"]
        if figure["k"] == 1
    }


def test_constant_velocity_has_the_published_figures_from_the_model_and_from_its_file(
    run, argoverse2_root
):
    assert "6 scenes: 6 built" in run("prepare", "argoverse2", argoverse2_root, "store")
    assert "6 scenes keep the contract" in run("inspect", "store", "--check")

    text = run("evaluate", "store", "constant-velocity", "--out", "model.json")
    assert "5 scenes with a future; 1 without were left out" in text
    found = figures("model.json")
    assert {key: round(found[key], 3) for key in EXPECTED} == EXPECTED

    run("predict", "constant-velocity", "store", "--out", "forecasts.parquet")
    run("evaluate", "store", "forecasts.parquet", "--out", "file.json")
    assert figures("file.json") == found
    run("evaluate", argoverse2_root, "forecasts.parquet", "--out", "raw.json")
    assert figures("raw.json") == found


def test_the_test_scenario_is_forecast_and_drawn(run, argoverse2_root):
    run("predict", "fan", argoverse2_root, "--split", "test", "--out", "forecasts.parquet")
    (prediction,) = load_predictions("forecasts.parquet")
    assert prediction.position.shape == (6, 1, 60, 2)
    run("render", argoverse2_root, "forecasts.parquet", "--split", "test", "--out", "test.png")
    assert Path("test.png").stat().st_size > 20_000
