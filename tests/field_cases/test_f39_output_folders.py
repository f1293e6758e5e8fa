"""F39: output folders and the working directory; the same runs are those of F22's training."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

from motionpred.datasets.argoverse2 import Argoverse2, write_scene
from motionpred.models import load_bundle
from motionpred.store import prepare
from motionpred.testing import crossing_scene
from motionpred.training import compose, train
from motionpred.training.run_folder import make_run_folder

# Five scenes in steps of two: the last step of an epoch has one, and one process has none.
SETTINGS = (
    "store=../data/train",
    "val_store=../data/val",
    "trainer=smoke",
    "trainer.max_steps=6",
    "trainer.accumulate=2",
    "trainer.log_scenes=true",
    "trainer.checkpoint_every=2",
    "trainer.precision=64-true",
    "trainer.accelerator=cpu",
    "model.size=nano",
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("f39")
    for split, count in (("train", 5), ("val", 3)):
        for i in range(count):
            seed = i + 10 * (split == "val")
            write_scene(crossing_scene(f"{split}{i}", seed=seed, split=split), root / "raw" / split)
        prepare(Argoverse2(), root / "raw" / split, root / "data" / split)
    (root / "here").mkdir()
    return root


@pytest.fixture(scope="module")
def two(data: Path) -> Path:
    """The run folder of a training in two processes, started in another folder than the data."""
    command = [sys.executable, "-m", "motionpred", "train", *SETTINGS, "trainer.devices=2"]
    done = subprocess.run(
        command, cwd=data / "here", capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("wrote runs") == 2  # run folder and bundle, once each
    (run,) = (data / "here" / "runs").iterdir()  # one folder for both processes
    return run


@pytest.mark.slow
def test_f39_two_processes_from_another_folder_with_relative_paths(data: Path, two: Path) -> None:
    assert sorted(path.name for path in (data / "here").iterdir()) == ["runs"]
    saved = yaml.safe_load((two / "config.yaml").read_text())
    environment = json.loads((two / "environment.json").read_text())
    assert Path(saved["store"]).is_absolute()
    assert Path(saved["store"]).resolve() == data / "data" / "train"
    assert saved["trainer"]["devices"] == 2
    assert environment["seed"] == 0
    assert "git" in environment
    assert load_bundle(two / "last").model.name == "regression"


@pytest.mark.slow
def test_f22_two_processes_give_the_weights_and_figures_of_one(
    data: Path, two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data / "here")
    one = train(compose([*SETTINGS, "trainer.devices=1", f"out={tmp_path}"]))

    weights = load_bundle(one.run / "last").model.state_dict()
    for name, value in load_bundle(two / "last").model.state_dict().items():
        torch.testing.assert_close(value, weights[name], atol=1e-9, rtol=1e-9)
    assert scenes(two) == scenes(one.run)
    assert figures(two) == pytest.approx(figures(one.run), rel=1e-6)


def scenes(run: Path) -> list[tuple[str, ...]]:
    with (run / "scenes.csv").open() as file:
        return sorted(map(tuple, csv.reader(file)))


def figures(run: Path) -> dict[str, float]:
    with (run / "metrics.csv").open() as file:
        return {f"{r['metric']} {r['step']}": float(r["value"]) for r in csv.DictReader(file)}


def test_f39_two_runs_in_the_same_second_have_two_folders(tmp_path: Path) -> None:
    first, second = (make_run_folder(tmp_path, "regression") for _ in range(2))

    assert first != second
    assert sorted(tmp_path.iterdir()) == sorted([first, second])


def test_f39_training_and_validating_on_one_store_gives_a_warning(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data / "here")
    settings = [*SETTINGS, "val_store=../data/train", "trainer.max_steps=1", f"out={tmp_path}"]

    with pytest.warns(UserWarning, match="both store and val_store"):
        train(compose(settings))

    assert Path.cwd() == data / "here"
