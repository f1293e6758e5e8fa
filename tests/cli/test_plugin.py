"""A package that motionpred does not know adds a dataset and a model; every command takes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PLUGIN = Path(__file__).parents[1] / "plugin"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the plug-in installed as a user would install it."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--target", str(target), str(PLUGIN)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return target


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    root = tmp_path_factory.mktemp("toy-raw")
    ahead = np.arange(50) * 0.1
    for split, speeds in (("train", (4.0, 6.0, 8.0)), ("val", (5.0,))):
        (root / split).mkdir()
        for speed in speeds:
            agents = {
                "car": [[5000 + speed * t, 100.0] for t in ahead],
                "walker": [[5010.0, 90 + 1.2 * t] for t in ahead],
                "late": [None] * 10 + [[4990 + 3 * t, 104.0] for t in ahead[10:]],
            }
            (root / split / f"{split}-{speed:.0f}.toy.json").write_text(json.dumps(agents))
    return root


@pytest.fixture(scope="module")
def run(site, tmp_path_factory):
    """Runs ``motionpred`` with the plug-in installed; gives what it printed."""
    folder = tmp_path_factory.mktemp("cwd")

    def call(*arguments: object, code: str | None = None) -> str:
        environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "200"}
        start = ["-c", code] if code else ["-m", "motionpred"]
        done = subprocess.run(
            [sys.executable, *start, *map(str, arguments)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call.folder = folder
    return call


@pytest.mark.slow
def test_a_plugged_in_dataset_and_model_go_through_every_command(run, raw):
    listed = run("models")
    assert "toy-drift" in listed
    assert "20 + 30 steps" in listed

    assert "3 scenes" in run("prepare", "toy", raw, "store", "--split", "train")
    run("prepare", "toy", raw, "val", "--split", "val")
    assert "vehicle" in run("inspect", "store", "--check")
    run(
        "train", "store=store", "model=toy-drift", "model.start=0.2", "trainer.max_steps=200",
        "trainer.learning_rate=0.02", "trainer.batch_size=3", "out=run",
    )  # fmt: skip
    bundle = next((run.folder / "run").rglob("model.safetensors")).parent
    out = run("evaluate", "val", bundle, "--protocol", "joint", "--out", "figures.json")
    assert "minADE" in out
    figures = json.loads((run.folder / "figures.json").read_text())["reports"][0]["figures"]
    min_ade = next(f["value"] for f in figures if f["metric"] == "minADE")
    assert min_ade < 1.0  # 20 % of the speed at first: 5 m/s for 3 s would be 6 m off on average
    run("predict", bundle, "val", "--out", "forecasts.parquet", "--agents", "all")
    run("render", raw, "forecasts.parquet", "--split", "val", "--out", "scene.png")
    assert (run.folder / "scene.png").stat().st_size > 5000


@pytest.mark.slow
def test_the_plug_in_passes_both_conformance_suites(run, raw):
    run(
        raw,
        code="import sys, pathlib; from motionpred.testing import check_adapter, check_model; "
        "from motionpred.datasets import get_adapter; "
        "check_adapter(get_adapter('toy'), pathlib.Path(sys.argv[1])); check_model('toy-drift')",
    )
