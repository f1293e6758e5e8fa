"""``motionpred train``: what it says when it is stopped, and how it goes on."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from motionpred.cli import app
from motionpred.datasets.argoverse2 import Argoverse2, write_scene
from motionpred.store import prepare
from motionpred.testing import crossing_scene
from motionpred.training.module import ForecastTraining


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("motionpred.cli.console.out._width", 200)
    for i in range(2):
        write_scene(crossing_scene(f"s{i}", seed=i), tmp_path / "raw")
    prepare(Argoverse2(), tmp_path / "raw", tmp_path / "store")
    return "store"


def call(*overrides: str) -> Result:
    return CliRunner().invoke(app, ["train", *overrides])


SMOKE = ("trainer=smoke", "trainer.accelerator=cpu", "model.size=nano", "batch.max_agents=5")


def test_stopped_it_says_how_to_go_on_and_leaves_with_code_3(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_step = ForecastTraining.training_step

    def training_step(self: ForecastTraining, batch: Any, batch_idx: int) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return whole_step(self, batch, batch_idx)

    with monkeypatch.context() as patch:
        patch.setattr(ForecastTraining, "training_step", training_step)
        stopped = call(f"store={store}", *SMOKE)

    (run,) = Path("runs").iterdir()
    assert stopped.exit_code == 3
    assert "stopped by SIGTERM at step 1; its checkpoint is written" in stopped.output
    assert f"next: motionpred train resume={run}" in stopped.output

    resumed = call(f"resume={run}")

    assert resumed.exit_code == 0, resumed.output
    assert "4 steps on 2 scenes" in resumed.output
    assert f"wrote {run}/last (model bundle)" in resumed.output


def test_it_says_what_batches_left_out(store: str) -> None:
    done = call(f"store={store}", *SMOKE)

    # Seven agents in each of two scenes, five of them may stay.
    assert "in the first epoch, batches left out: 4 agents" in done.output


def test_a_run_that_would_be_led_elsewhere_is_a_usage_error(store: str) -> None:
    assert call(f"store={store}", *SMOKE, "trainer.max_steps=1").exit_code == 0
    (run,) = Path("runs").iterdir()

    refused = call(f"resume={run}", "trainer.max_steps=2")

    assert refused.exit_code == 2
    assert "reschedule=true" in refused.output
