"""Overrides become typed settings, or an error that names the nearest valid thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from motionpred.config_dir import config_dir
from motionpred.errors import ConfigError
from motionpred.models import registry
from motionpred.models.baselines import MODELS as BASELINES
from motionpred.settings import from_mapping, to_mapping
from motionpred.training import TrainConfig, compose


def test_groups_and_values_land_in_typed_settings() -> None:
    config = compose(
        ["store=scenes", "trainer=smoke", "trainer.learning_rate=1e-3", "batch.max_agents=null"]
    )

    assert config.model.name == "regression"
    assert config.protocol == "argoverse2-multi"
    assert config.trainer.max_steps == 4
    assert config.trainer.learning_rate == 1e-3
    assert config.batch.max_agents is None


def test_values_win_over_groups_wherever_they_stand() -> None:
    config = compose(["trainer.max_steps=7", "store=scenes", "trainer=smoke"])

    assert config.trainer.max_steps == 7


def test_several_stores_are_a_list() -> None:
    assert compose(["store=[one,two]"]).store_paths == [Path.cwd() / "one", Path.cwd() / "two"]


def test_settings_survive_the_way_through_plain_values() -> None:
    config = compose(["store=scenes", "trainer=smoke", "model.size=nano"])

    assert from_mapping(TrainConfig, to_mapping(config)) == config


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("trainer.max_step=3", ["trainer.max_step", "Did you mean 'max_steps'?"]),
        ("trainr.max_steps=3", ["trainr", "Did you mean 'trainer'?"]),
        ("trainer=null", ["cannot be composed", "NoneType"]),
        ("model=regresion", ["'regresion'", "Did you mean 'regression'?"]),
        ("model.sizes=nano", ["model.sizes", "Did you mean 'size'?"]),
        ("trainer=smok", ["'smok'", "Did you mean 'smoke'?"]),
        ("dataset=argoverse", ["'argoverse'", "Did you mean 'argoverse2'?"]),
        ("experiment=argoverse2-overfitt", ["Did you mean 'argoverse2-overfit'?"]),
        ("trainer.max_steps=many", ["trainer.max_steps", "must be int"]),
        ("trainer.seed.x=1", ["trainer.seed", "no settings of its own"]),
        ("trainer.max_steps=1,2", ["sweep"]),
        ("trainer.max_steps", ["key=value"]),
        ("trainer.learning_rate=nan", ["trainer.learning_rate", "is nan"]),
        ("trainer.gradient_clip=-1", ["trainer.gradient_clip", "is -1"]),
        ("trainer.num_workers=-1", ["trainer.num_workers", "0 or more"]),
        ("trainer.warmup_steps=-1", ["trainer.warmup_steps", "0 or more"]),
        ("trainer.seed=-1", ["trainer.seed", "is -1"]),
        ("out='${oc.env:HOME}'", ["out", "interpolation"]),
        ("model._target_=os.system", ["model._target_"]),
    ],
)
def test_a_wrong_override_is_told_in_one_line(override: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        compose(["store=scenes", override])

    message = str(caught.value)
    assert all(word in message for word in words), message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        (["store=a", "name=../x"], "name"),
        (["store=[a,a]"], "store"),
        (["store=a", "val_store=[b,b]"], "val_store"),
    ],
)
def test_a_folder_that_cannot_be_meant_is_refused(overrides: list[str], field: str) -> None:
    with pytest.raises(ConfigError, match=f"field={field}"):
        compose(overrides)


def test_a_misspelt_store_is_named_before_the_missing_one() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'store'"):
        compose(["stor=scenes"])
    with pytest.raises(ConfigError, match="no store to train on"):
        compose([])


def test_a_plugged_in_model_needs_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = BASELINES["constant-velocity"]
    monkeypatch.setitem(registry.__dict__, "_in_tree", {"toy": toy})

    config = compose(["store=scenes", "model=toy", "model.clock=time"])

    assert config.model.name == "toy"
    assert config.model.settings == {"clock": "time"}
    with pytest.raises(ConfigError, match="Did you mean 'clock'"):
        compose(["store=scenes", "model=toy", "model.clok=time"])


def test_every_experiment_and_model_file_composes() -> None:
    folder = config_dir()
    for group in ("model", "experiment", "trainer", "dataset"):
        for path in sorted((folder / group).glob("*.yaml")):
            compose(["store=scenes", f"{group}={path.stem}"])


def test_an_experiment_may_be_added_with_a_plus() -> None:
    plain = compose(["store=scenes", "experiment=argoverse2-overfit"])

    assert compose(["store=scenes", "+experiment=argoverse2-overfit"]) == plain


def test_composing_changes_neither_the_working_directory_nor_an_outer_hydra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    monkeypatch.chdir(tmp_path)
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        outer = GlobalHydra.instance().hydra
        compose(["store=scenes"])
        assert GlobalHydra.instance().hydra is outer

    assert Path.cwd() == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_an_installed_package_brings_its_own_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "motionpred"
    monkeypatch.setattr("motionpred.config_dir.__file__", str(package / "config_dir.py"))

    with pytest.raises(ConfigError, match=r"no train\.yaml in"):
        config_dir()

    (package.parent / "configs").mkdir(parents=True)  # of another project
    (package / "configs").mkdir(parents=True)
    (package / "configs" / "train.yaml").touch()
    assert config_dir() == package / "configs"
