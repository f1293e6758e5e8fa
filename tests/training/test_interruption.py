"""SIGTERM and Ctrl-C: the step is finished, a checkpoint is written, the run can go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from motionpred.models import load_bundle
from motionpred.models.checkpoint import read_checkpoint
from motionpred.training import TrainConfig, compose, train
from motionpred.training.interruption import StopRequest
from motionpred.training.module import ForecastTraining

Small = Callable[..., TrainConfig]


@pytest.fixture
def send(monkeypatch: pytest.MonkeyPatch) -> Callable[[signal.Signals, int], None]:
    """``send(number, n)``: this process gets the signal within step n (from 0), once."""

    def arrange(number: signal.Signals, step: int) -> None:
        whole_step = ForecastTraining.training_step
        sent: list[int] = []

        def training_step(self: ForecastTraining, batch: Any, batch_idx: int) -> Any:
            if self.trainer.global_step == step and not sent:
                sent.append(step)
                os.kill(os.getpid(), number)
            return whole_step(self, batch, batch_idx)

        monkeypatch.setattr(ForecastTraining, "training_step", training_step)

    return arrange


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_training_after_the_step_with_a_checkpoint(
    small: Small, store: Path, tmp_path: Path, send: Any, number: signal.Signals
) -> None:
    whole = train(small(store, tmp_path / "whole"))
    handlers = [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)]
    send(number, 1)

    result = train(small(store, tmp_path / "stopped"))

    assert (result.stopped_by, result.steps) == (number.name, 2)
    last = result.run / "checkpoints" / "last.ckpt"
    assert read_checkpoint(last)["global_step"] == 2
    assert [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)] == handlers
    resumed = train(compose([f"resume={result.run}"]))
    assert resumed.stopped_by is None
    expected = load_bundle(whole.bundle).model.state_dict()
    for name, value in load_bundle(resumed.bundle).model.state_dict().items():
        assert torch.equal(value, expected[name])


def test_a_signal_at_a_step_that_validates_waits_for_the_validation(
    small: Small, store: Path, val_store: Path, tmp_path: Path, send: Any
) -> None:
    send(signal.SIGTERM, 1)

    result = train(small(store, tmp_path, val_store, val_every=2))

    assert result.stopped_by == "SIGTERM"
    assert result.metrics["avgMinFDE@6"] > 0
    assert result.bundle.name == "best"
    resumed = train(compose([f"resume={result.run}"]))
    rows = (resumed.run / "metrics.csv").read_text().splitlines()
    validated = [row.split(",")[0] for row in rows if ",val/avgMinFDE@6," in row]
    assert validated == ["2", "4"]  # not a second time


def test_signals_are_given_back_and_a_second_ctrl_c_interrupts_at_once() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    request = StopRequest()

    request.listen()
    os.kill(os.getpid(), signal.SIGINT)
    assert request.signal_name == "SIGINT"
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    request.release()

    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
def test_ctrl_c_at_a_terminal_reaches_the_workers_too(store: Path, tmp_path: Path) -> None:
    settings = ["trainer=smoke", "trainer.max_steps=100000", "trainer.val_every=100000"]
    settings += ["trainer.num_workers=1", "trainer.accelerator=cpu", "model.size=nano"]
    command = [sys.executable, "-m", "motionpred", "train", f"store={store}", *settings]
    process = subprocess.Popen(
        [*command, f"out={tmp_path / 'runs'}"],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until = time.monotonic() + 120
    while not list(tmp_path.glob("runs/*/metrics.csv")):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)

    output, _ = process.communicate(timeout=60)

    assert process.returncode == 3, output
    assert "stopped by SIGINT" in output
    assert list(tmp_path.glob("runs/*/checkpoints/last.ckpt"))
