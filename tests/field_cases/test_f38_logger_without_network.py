"""F38: an experiment logger without its package, and without a network."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from motionpred.cli import app
from motionpred.training.loggers import guard

NO_WANDB = """
import sys

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "wandb":
            raise ModuleNotFoundError("No module named 'wandb'", name="wandb")

sys.meta_path.insert(0, Nowhere())
"""


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the logger's process may start slowly."""
    monkeypatch.setattr(guard, "LIMIT", 60.0)
    monkeypatch.setattr(guard, "_START_LIMIT", 60.0)


def train_two_steps(store: Path, out: Path, *more: str) -> Result:
    settings = [
        "trainer=smoke",
        "trainer.max_steps=2",
        "trainer.accelerator=cpu",
        "model.size=nano",
    ]
    return CliRunner().invoke(app, ["train", f"store={store}", f"out={out}", *settings, *more])


def test_f38_no_wandb_package(
    crossing_store: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience: None,
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


@pytest.fixture
def blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)


@pytest.mark.slow
@pytest.mark.usefixtures("blocked")
@pytest.mark.filterwarnings("ignore:the logger wandb is left behind")  # on a slow machine
def test_f38_network_blocked(crossing_store: Callable[..., Path], tmp_path: Path) -> None:
    store = crossing_store(2)
    begun = time.monotonic()
    assert train_two_steps(store, tmp_path / "plain").exit_code == 0
    alone = time.monotonic() - begun

    begun = time.monotonic()
    done = train_two_steps(store, tmp_path / "runs", "logger=wandb", "logger.mode=online")
    with_logger = time.monotonic() - begun

    assert done.exit_code == 0, done.output
    assert "2 steps on 2 scenes" in done.output
    assert with_logger < 2 * alone + 20


@pytest.mark.slow
@pytest.mark.usefixtures("blocked")
def test_f38_without_a_network_the_run_is_kept_for_a_later_upload(
    crossing_store: Callable[..., Path], tmp_path: Path, patience: None
) -> None:
    done = train_two_steps(
        crossing_store(2), tmp_path / "runs", "logger=wandb", "logger.mode=online"
    )

    assert done.exit_code == 0, done.output
    (folder,) = tmp_path.glob("runs/*/wandb/offline-run-*")
    assert f"wandb sync {folder}" in done.output


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
