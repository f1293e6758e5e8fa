"""What a name or a path may be."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from motionpred.errors import BundleError, ConfigError
from motionpred.inference import load
from motionpred.models import build_model, save_bundle
from motionpred.scene import TimeSpec


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder with two bundles whose clocks tell them apart."""
    for name, future in (("best", 60), ("last", 30)):
        save_bundle(
            tmp_path / "run" / name,
            build_model("regression", {"size": "nano"}, TimeSpec(0.1, 50, future)),
        )
    return tmp_path / "run"


def horizon(path: Path) -> int:
    from motionpred.testing import crossing_scene

    return load(path).predict(crossing_scene()).position.shape[2]


def test_a_run_folder_stands_for_its_best_bundle_and_else_its_last(run: Path) -> None:
    assert horizon(run) == 60
    assert horizon(run / "last") == 30
    for file in (run / "best").iterdir():
        file.unlink()
    assert horizon(run) == 30


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'constant-velocity'"):
        load("constant-velocty")


def test_a_name_with_parameters_needs_a_bundle() -> None:
    with pytest.raises(ConfigError, match="motionpred train model=regression"):
        load("regression")


def test_a_folder_without_a_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="holds no model bundle"):
        load(tmp_path)


def test_a_wrong_setting_is_told_before_the_first_scene() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'clock'"):
        load("constant-velocity", settings={"clok": "time"})


@pytest.mark.parametrize("argument", [{"settings": {"size": "nano"}}, {"time": TimeSpec(1, 2, 3)}])
def test_a_bundle_has_its_own_settings_and_clock(run: Path, argument: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="a bundle has its own"):
        load(run, **argument)  # type: ignore[arg-type]


def test_the_device_is_the_cpu_unless_somebody_asks(run: Path) -> None:
    assert load(run).device == torch.device("cpu")
    with pytest.raises(ConfigError, match="Use cpu or auto"):
        load(run, device="cuda:77")
    with pytest.raises(ConfigError, match="Use cpu or auto"):
        load(run, device="gpu please")
