"""``train``: a store becomes a bundle in a run folder of its own."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from motionpred.datasets import get_adapter
from motionpred.errors import ConfigError, StoreError
from motionpred.graph import BatchOptions
from motionpred.inference import load
from motionpred.metrics import evaluate, get_protocol
from motionpred.models import load_bundle
from motionpred.settings import from_mapping
from motionpred.store import Store, prepare
from motionpred.testing import crossing_scene
from motionpred.training import ModelChoice, TrainConfig, compose, train
from motionpred.training.run_folder import make_run_folder

Small = Callable[..., TrainConfig]
MakeStore = Callable[..., Path]


def test_a_run_leaves_a_bundle_settings_metrics_and_a_summary(
    small: Small, store: Path, val_store: Path, tmp_path: Path
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
    small: Small, store: Path, val_store: Path, tmp_path: Path
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


def test_a_run_folder_is_loaded_by_its_best_bundle(
    small: Small, store: Path, val_store: Path, tmp_path: Path
) -> None:
    result = train(small(store, tmp_path, val_store))
    scene = crossing_scene("new", seed=2)

    from_run, from_bundle = load(result.run).predict(scene), load(result.bundle).predict(scene)

    np.testing.assert_array_equal(from_run.position, from_bundle.position)
    assert from_run.source == "regression"


def test_the_same_seed_gives_the_same_weights(small: Small, store: Path, tmp_path: Path) -> None:
    first, second = (train(small(store, tmp_path)) for _ in range(2))
    other = train(small(store, tmp_path, seed=1))

    weights = [load_bundle(run.bundle).model.state_dict() for run in (first, second, other)]
    assert first.run != second.run
    assert all(torch.equal(weights[1][name], value) for name, value in weights[0].items())
    assert any(not torch.equal(weights[2][name], value) for name, value in weights[0].items())


def test_without_validation_the_last_weights_are_the_result(
    small: Small, store: Path, tmp_path: Path
) -> None:
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


def test_what_batches_leave_out_is_counted_over_one_epoch(
    small: Small, make_store: MakeStore, tmp_path: Path
) -> None:
    scenes = [crossing_scene("whole"), replace(crossing_scene().observed(), scene_id="cut")]
    store = make_store(tmp_path, [replace(scene, split="train") for scene in scenes])
    config = replace(small(store, tmp_path / "runs"), batch=BatchOptions(max_agents=5))

    result = train(config)

    # Seven agents in each scene.
    assert result.dropped["scenes_without_future"] == 1
    assert result.dropped["agents"] == 4
    summary = json.loads((result.run / "run.json").read_text())
    assert summary["dropped_in_first_epoch"] == result.dropped


def test_compile_is_asked_of_the_model_and_leaves_the_names_of_its_weights(
    small: Small, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[object] = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda self: compiled.append(self))

    result = train(small(store, tmp_path, max_steps=1, compile=True))

    assert [type(model).__name__ for model in compiled] == ["Regression"]
    assert load_bundle(result.bundle).model.name == "regression"


def test_stores_with_weights_are_seen_so_often(
    small: Small, make_store: MakeStore, store: Path, tmp_path: Path
) -> None:
    other = make_store(tmp_path, [crossing_scene("rare", seed=8)])
    config = small(store, tmp_path / "runs", batch_size=1, max_steps=8, log_scenes=True)
    config = replace(config, store=[str(store), str(other)], store_weights=[1.0, 3.0])

    result = train(config)

    seen = [row.split(",")[2] for row in (result.run / "scenes.csv").read_text().split()[1:]]
    assert sorted(seen) == ["rare"] * 3 + [f"s{i}" for i in range(5)]
    with pytest.raises(ConfigError, match="1 weights for 2 stores"):
        replace(config, store_weights=[1.0])
    with pytest.raises(ConfigError, match="numbers above 0"):
        replace(config, store_weights=[1.0, 0.0])


def test_bf16_trains_and_validates(
    small: Small, store: Path, val_store: Path, tmp_path: Path
) -> None:
    result = train(small(store, tmp_path, val_store, max_steps=2, precision="bf16-mixed"))

    assert result.metrics["avgMinFDE@6"] > 0
    weights = load_bundle(result.bundle).model.state_dict().values()
    assert all(value.dtype == torch.float32 for value in weights if value.is_floating_point())


def test_validating_on_the_training_scenes_gives_a_warning(
    small: Small, store: Path, tmp_path: Path
) -> None:
    with pytest.warns(UserWarning, match="both store and val_store"):
        result = train(small(store, tmp_path, store, max_steps=1))

    assert "trained on" in load_bundle(result.bundle).card.limits


def test_a_model_without_parameters_is_refused_with_what_to_do(
    small: Small, store: Path, tmp_path: Path
) -> None:
    config = replace(small(store, tmp_path), model=ModelChoice("constant-velocity"))

    with pytest.raises(ConfigError, match=r"no parameters to train.*motionpred evaluate"):
        train(config)
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_store_is_refused(small: Small, store: Path, tmp_path: Path) -> None:
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    for path in store.iterdir():
        if path.name != "manifest.json" and path.is_file():
            (unfinished / path.name).write_bytes(path.read_bytes())

    with pytest.raises(StoreError):
        train(small(unfinished, tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_worker_processes_give_the_weights_of_none(
    small: Small, store: Path, tmp_path: Path
) -> None:
    alone = train(small(store, tmp_path))
    workers = train(small(store, tmp_path, num_workers=1))

    weights = [load_bundle(run.bundle).model.state_dict() for run in (alone, workers)]
    assert all(torch.equal(weights[1][name], value) for name, value in weights[0].items())


def test_importing_training_does_not_import_lightning() -> None:
    code = "import sys, motionpred.training; sys.exit('pytorch_lightning' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_a_few_scenes_are_learned_by_heart(small: Small, store: Path, tmp_path: Path) -> None:
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
