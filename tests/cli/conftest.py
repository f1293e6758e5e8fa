"""Running commands on scenes in the Argoverse 2 layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from motionpred.cli import app
from motionpred.datasets.argoverse2 import write_scene
from motionpred.testing import crossing_scene


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    root = tmp_path_factory.mktemp("raw")
    for seed in range(4):
        write_scene(crossing_scene(f"val-{seed}", seed=seed, split="val"), root)
    write_scene(crossing_scene("test-0", seed=9, split="test").observed(), root)
    return root


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs a command in an empty folder; gives exit code and everything printed, unwrapped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("motionpred.cli.console.out._width", 200)
    monkeypatch.setattr("motionpred.cli.console.err._width", 200)

    def call(*arguments: object) -> tuple[int, str]:
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.output

    return call


@pytest.fixture
def store(run, raw):
    code, text = run("prepare", "argoverse2", raw, "store", "--split", "val")
    assert code == 0, text
    return Path("store")
