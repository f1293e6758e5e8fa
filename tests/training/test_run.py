"""``train``: a store becomes a bundle in a run folder of its own."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from motionpred.datasets import get_adapter
from motionpred.datasets.argoverse2 import write_scene
from motionpred.errors import ConfigError, StoreError
from motionpred.graph import BatchOptions
from motionpred.inference import load
from motionpred.metrics import evaluate, get_protocol
from motionpred.models import load_bundle
from motionpred.scene import Scene
from motionpred.settings import from_mapping
from motionpred.store import Store, prepare
from motionpred.testing import crossing_scene
from motionpred.training import ModelChoice, TrainConfig, TrainerConfig, compose, train
from motionpred.training.run_folder import make_run_folder


def make_store(folder: Path, scenes: list[Scene]) -> Path:
    for scene in scenes:
        write_scene(scene, folder / "raw")
    prepare(get_adapter("argoverse2"), folder / "raw", folder / "store")
    return folder / "store"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scenes = [crossing_scene(f"s{i}", seed=i) for i in range(5)]
    return make_store(tmp_path_factory.mktemp("train"), scenes)


@pytest.fixture(scope="module")
def val_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scenes = [crossing_scene(f"v{i}", seed=10 + i, split="val") for i in range(3)]
    return make_store(tmp_path_factory.mktemp("val"), scenes)


def small(store: Path, out: Path, val_store: Path | None = None, **trainer: object) -> TrainConfig:
    settings = {
        "max_steps": 4,
        "batch_size": 2,
        "warmup_steps": 1,
        "val_every": 2,
        "log_every": 1,
        "accelerator": "cpu",
        **trainer,
    }
    return TrainConfig(
        store=str(store),
        val_store=None if val_store is None else str(val_store),
        model=ModelChoice("regression", {"size": "nano"}),
        trainer=TrainerConfig(**settings),  # type: ignore[arg-type]
        out=str(out),
    )


def test_a_run_leaves_a_bundle_settings_metrics_and_a_summary(
    store: Path, val_store: Path, tmp_path: Path
) -> None:
    config = small(store, tmp_path, val_store, max_steps=5)

    result = train(config)

    assert (result.steps, result.scenes) == (5, 5)
    assert result.run.parent == tmp_path
    assert result.bundle == result.run / "best"
    saved = yaml.safe_load((result.run / "config.yaml").read_text())
    assert from_mapping(TrainConfig, saved) == config
    assert json.loads((result.run / "environment.json").read_text())["seed"] == 0
    with (result.run / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    losses = [int(row["step"]) for row in rows if row["metric"] == "train/loss"]
    validated = [int(row["step"]) for row in rows if row["metric"] == "val/avgMinFDE@6"]
    assert losses == [1, 2, 3, 4, 5]
    assert validated == [2, 4, 5]  # every second step, and after the last
    summary = json.loads((result.run / "run.json").read_text())
    assert summary["steps_without_target"] == 0
    assert summary["trained_on"][0]["content_hash"] == Store(store).manifest.content_hash


def test_the_card_and_the_figures_are_what_evaluating_the_bundle_gives(
    store: Path, val_store: Path, tmp_path: Path
) -> None:
    result = train(small(store, tmp_path, val_store))
    scenes = [Store(val_store)[i] for i in range(3)]
    predictor = load(result.run / "last")

    report = evaluate(
        get_protocol("argoverse2-multi")(),
        zip(scenes, predictor.predict_many(scenes), strict=True),
    )

    assert result.metrics["avgMinFDE@6"] == pytest.approx(report.value("avgMinFDE", 6), rel=1e-6)
    card = load_bundle(result.run / "last").card
    (name,) = [name for name in card.figures if "avgMinFDE K=6" in name]
    assert name.startswith("argoverse2-multi ")
    assert "n=3 scenes" in name
    assert card.figures[name] == pytest.approx(result.metrics["avgMinFDE@6"])
    assert "5 scenes (5 train)" in card.data
    assert "3 scenes (3 val)" in card.split


@pytest.mark.parametrize("lower_is_better", [True, False])
def test_the_best_weights_are_those_of_the_best_headline_figure(
    store: Path,
    val_store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lower_is_better: bool,
) -> None:
    protocol = get_protocol("argoverse2-multi")
    monkeypatch.setattr(protocol, "headline", ("avgMinADE", lower_is_better))

    result = train(small(store, tmp_path, val_store, max_steps=3, val_every=1))

    with (result.run / "metrics.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "val/avgMinADE@6"]
    values = {int(row["step"]): float(row["value"]) for row in rows}
    assert len(values) == 3
    best = (min if lower_is_better else max)(values, key=lambda step: values[step])
    assert json.loads((result.run / "run.json").read_text())["best_step"] == best


def test_a_run_folder_is_loaded_by_its_best_bundle(
    store: Path, val_store: Path, tmp_path: Path
) -> None:
    result = train(small(store, tmp_path, val_store))
    scene = crossing_scene("new", seed=2)

    from_run, from_bundle = load(result.run).predict(scene), load(result.bundle).predict(scene)

    np.testing.assert_array_equal(from_run.position, from_bundle.position)
    assert from_run.source == "regression"


def test_the_same_seed_gives_the_same_weights(store: Path, tmp_path: Path) -> None:
    first, second = (train(small(store, tmp_path)) for _ in range(2))
    other = train(small(store, tmp_path, seed=1))

    weights = [load_bundle(run.bundle).model.state_dict() for run in (first, second, other)]
    assert first.run != second.run
    assert all(torch.equal(weights[1][name], value) for name, value in weights[0].items())
    assert any(not torch.equal(weights[2][name], value) for name, value in weights[0].items())


def test_without_validation_the_last_weights_are_the_result(store: Path, tmp_path: Path) -> None:
    result = train(small(store, tmp_path))

    assert result.bundle == result.run / "last"
    assert result.metrics == {}
    assert load_bundle(result.bundle).card.figures == {}


def test_two_runs_of_the_same_second_have_two_folders(tmp_path: Path) -> None:
    folders = {make_run_folder(tmp_path / "runs", "x") for _ in range(5)}

    assert len(folders) == 5
    assert all(folder.is_dir() for folder in folders)


def test_relative_paths_are_the_callers_and_nothing_else_is_written(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").symlink_to(store)
    monkeypatch.chdir(tmp_path)

    result = train(compose(["store=data", "trainer=smoke", "model.size=nano", "out=results"]))

    assert result.run.parent == tmp_path / "results"
    assert Path.cwd() == tmp_path
    assert {path.name for path in tmp_path.iterdir()} == {"data", "results"}


@pytest.mark.slow
def test_lightning_says_nothing(store: Path, tmp_path: Path) -> None:
    code = f"""
from motionpred.training import ModelChoice, TrainConfig, TrainerConfig, train
model = ModelChoice("regression", {{"size": "nano"}})
trainer = TrainerConfig(max_steps=2, batch_size=2)
train(TrainConfig(store={str(store)!r}, model=model, trainer=trainer))
"""
    # A process of its own: Lightning speaks most when it is loaded for the first time.
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout == ""
    assert done.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_what_batches_leave_out_is_counted_over_one_epoch(tmp_path: Path) -> None:
    scenes = [crossing_scene("whole"), replace(crossing_scene().observed(), scene_id="cut")]
    store = make_store(tmp_path, [replace(scene, split="train") for scene in scenes])
    config = replace(small(store, tmp_path / "runs"), batch=BatchOptions(max_agents=5))

    result = train(config)

    # Seven agents in each scene.
    assert result.dropped["scenes_without_future"] == 1
    assert result.dropped["agents"] == 4
    summary = json.loads((result.run / "run.json").read_text())
    assert summary["dropped_in_first_epoch"] == result.dropped


def test_a_validation_scene_that_does_not_fit_is_left_out_with_a_warning(
    store: Path, tmp_path: Path
) -> None:
    good, odd = (crossing_scene(f"v{i}", seed=i, split="val") for i in range(2))
    valid = odd.tracks.valid.copy()
    valid[2, : odd.now - 2] = False  # a scored agent with a shorter past than is asked for
    tracks = odd.tracks
    odd = replace(
        odd,
        tracks=replace(
            tracks,
            valid=valid,
            measured=valid,
            velocity_valid=valid,
            heading_valid=valid,
            position=np.where(valid[..., None], tracks.position, 0.0),
            heading=np.where(valid, tracks.heading, 0).astype(np.float32),
            velocity=np.where(valid[..., None], tracks.velocity, 0).astype(np.float32),
        ),
    )
    val = make_store(tmp_path / "val", [good, odd.validate()])
    with pytest.warns(UserWarning, match="1 validation scenes were left out.*v1"):
        config = small(store, tmp_path / "runs", val)
        result = train(replace(config, batch=BatchOptions(min_history=5)))
    assert result.metrics["avgMinFDE@6"] > 0


def test_validating_on_the_training_scenes_gives_a_warning(store: Path, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="both store and val_store"):
        result = train(small(store, tmp_path, store, max_steps=1))

    assert "trained on" in load_bundle(result.bundle).card.limits


def test_a_model_without_parameters_is_refused_with_what_to_do(store: Path, tmp_path: Path) -> None:
    config = replace(small(store, tmp_path), model=ModelChoice("constant-velocity"))

    with pytest.raises(ConfigError, match=r"no parameters to train.*motionpred evaluate"):
        train(config)
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_store_is_refused(store: Path, tmp_path: Path) -> None:
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    for path in store.iterdir():
        if path.name != "manifest.json" and path.is_file():
            (unfinished / path.name).write_bytes(path.read_bytes())

    with pytest.raises(StoreError):
        train(small(unfinished, tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_worker_processes_give_the_weights_of_none(store: Path, tmp_path: Path) -> None:
    alone = train(small(store, tmp_path))
    workers = train(small(store, tmp_path, num_workers=1))

    weights = [load_bundle(run.bundle).model.state_dict() for run in (alone, workers)]
    assert all(torch.equal(weights[1][name], value) for name, value in weights[0].items())


def test_importing_training_does_not_import_lightning() -> None:
    code = "import sys, motionpred.training; sys.exit('pytorch_lightning' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_a_few_scenes_are_learned_by_heart(store: Path, tmp_path: Path) -> None:
    scenes = [Store(store)[i] for i in range(5)]
    protocol = get_protocol("argoverse2-multi")()
    baseline = evaluate(
        protocol, zip(scenes, load("constant-velocity").predict_many(scenes), strict=True)
    ).value("avgMinFDE", 6)

    with pytest.warns(UserWarning, match="both store and val_store"):
        result = train(
            small(
                store,
                tmp_path,
                store,
                max_steps=200,
                batch_size=5,
                val_every=200,
                log_every=50,
                learning_rate=2e-3,
                warmup_steps=20,
            )
        )

    assert result.metrics["avgMinFDE@6"] < baseline / 3


@pytest.mark.slow
def test_real_scenes_are_learned_by_heart_with_the_committed_settings(
    argoverse2_root: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "store"
    prepare(get_adapter("argoverse2"), argoverse2_root, folder)
    stores = [f"store={folder}", f"val_store={folder}", f"out={tmp_path / 'runs'}"]

    with pytest.warns(UserWarning, match="both store and val_store"):
        result = train(compose(["experiment=argoverse2-overfit", *stores]))

    # Constant velocity has 4.715 m on the five scenes that have a future.
    assert result.metrics["avgMinFDE@6"] < 4.715 / 3
