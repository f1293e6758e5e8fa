"""F38: an experiment logger without its package, and without a network."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from motionpred.cli import app

NO_WANDB = """
import sys

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "wandb":
            raise ModuleNotFoundError("No module named 'wandb'", name="wandb")

sys.meta_path.insert(0, Nowhere())
"""


def train_two_steps(store: Path, out: Path, *more: str) -> Result:
    settings = [
        "trainer=smoke",
        "trainer.max_steps=2",
        "trainer.accelerator=cpu",
        "model.size=nano",
    ]
    return CliRunner().invoke(app, ["train", f"store={store}", f"out={out}", *settings, *more])


def test_f38_no_wandb_package(
    crossing_store: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(NO_WANDB)
    paths = [str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))

    with pytest.warns(UserWarning, match=r"pip install 'motionpred\[wandb\]'"):
        done = train_two_steps(crossing_store(2), tmp_path / "runs", "logger=wandb")

    assert done.exit_code == 0, done.output
    assert "2 steps on 2 scenes" in done.output
    (run,) = (tmp_path / "runs").iterdir()
    assert "2,train/loss," in (run / "metrics.csv").read_text()


@pytest.mark.slow
def test_f38_network_blocked(
    crossing_store: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    store = crossing_store(2)
    begun = time.monotonic()
    assert train_two_steps(store, tmp_path / "plain").exit_code == 0
    alone = time.monotonic() - begun

    begun = time.monotonic()
    done = train_two_steps(store, tmp_path / "runs", "logger=wandb", "logger.mode=online")
    with_logger = time.monotonic() - begun

    assert done.exit_code == 0, done.output
    assert "2 steps on 2 scenes" in done.output
    # Online is given up after its limit, then the run is kept offline, for a later upload.
    assert with_logger < alone + 20
    assert "wandb sync" in done.output.replace("\n", "")
    assert "offline-run-" in done.output.replace("\n", "")


def test_f38_the_default_is_a_file_and_starts_nothing(
    crossing_store: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **settings: object) -> None:
        raise AssertionError("a logger was started")

    monkeypatch.setattr("motionpred.training.loggers.start.GuardedLog", refuse)

    done = train_two_steps(crossing_store(2), tmp_path / "runs")

    assert done.exit_code == 0, done.output
    (run,) = (tmp_path / "runs").iterdir()
    assert (run / "metrics.csv").read_text().startswith("step,metric,value\n")
