"""A run that goes on is the run that never stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from motionpred.errors import BundleError, ConfigError, StoreError
from motionpred.graph.augmentation import AugmentationOptions
from motionpred.models import load_bundle
from motionpred.models.checkpoint import read_checkpoint
from motionpred.store.lock import exclusive
from motionpred.testing import crossing_scene
from motionpred.training import TrainConfig, TrainResult, compose, train

Small = Callable[..., TrainConfig]
Stopped = Callable[[TrainConfig, int], Path]

EVERYTHING_ON = AugmentationOptions(
    mirror=0.5, agent_drop=0.2, history_drop=0.5, position_noise=0.05
)


def weights(result: TrainResult, name: str = "last") -> dict[str, torch.Tensor]:
    return load_bundle(result.run / name).model.state_dict()


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("step", [4, 7])
def test_a_run_that_goes_on_is_the_run_that_never_stopped(
    small: Small, stopped: Stopped, store: Path, val_store: Path, tmp_path: Path, step: int
) -> None:
    # Checkpoints at steps 2, 4, 6, 8; validations at 3, 6, 9: one falls on both.
    config = replace(
        small(
            store,
            tmp_path / "whole",
            val_store,
            max_steps=9,
            val_every=3,
            checkpoint_every=2,
            log_scenes=True,
            ema_decay=0.9,
            accumulate=2,
        ),
        augmentation=EVERYTHING_ON,
    )
    whole = train(config)

    run = stopped(replace(config, out=str(tmp_path / "cut")), step)
    resumed = train(compose([f"resume={run}"]))

    assert resumed.run == run
    assert same(weights(whole), weights(resumed))
    assert same(weights(whole, "best"), weights(resumed, "best"))
    assert resumed.metrics == whole.metrics
    for name in ("metrics.csv", "scenes.csv"):
        assert (run / name).read_text() == (whole.run / name).read_text()
    (line,) = (run / "resumes.jsonl").read_text().splitlines()
    assert json.loads(line)["step"] == (step // 2) * 2


def test_a_finished_run_that_goes_on_changes_nothing(
    small: Small, store: Path, val_store: Path, tmp_path: Path
) -> None:
    done = train(small(store, tmp_path, val_store, ema_decay=0.9))
    before = weights(done)

    again = train(compose([f"resume={done.run}"]))

    assert (again.run, again.steps, again.metrics) == (done.run, done.steps, done.metrics)
    assert same(before, weights(again))


def test_a_checkpoint_holds_tensors_and_plain_values_only(
    small: Small, store: Path, val_store: Path, tmp_path: Path
) -> None:
    done = train(small(store, tmp_path, val_store, ema_decay=0.9))

    content = read_checkpoint(done.run / "checkpoints" / "last.ckpt")

    assert content["global_step"] == 4
    assert content["motionpred"]["model"] == {"name": "regression", "settings": {"size": "nano"}}


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("trainer.max_steps=8", ["trainer.max_steps was 4, is 8", "reschedule=true"]),
        ("trainer.batch_size=4", ["trainer.batch_size was 2, is 4", "reschedule=true"]),
        ("augmentation.mirror=0.5", ["augmentation.mirror was 0.0, is 0.5"]),
        ("batch.max_agents=4", ["batch.max_agents was 64, is 4"]),
        ("trainer.devices=2", ["devices was 1, is 2"]),
        ("model.size=small", ["model.settings.size", "'nano'", "'small'", "new run"]),
    ],
)
def test_a_run_is_not_led_elsewhere_by_accident(
    small: Small, stopped: Stopped, store: Path, tmp_path: Path, override: str, words: list[str]
) -> None:
    run = stopped(small(store, tmp_path, checkpoint_every=2), 3)
    rows = (run / "metrics.csv").read_text()

    with pytest.raises(ConfigError) as caught:
        train(compose([f"resume={run}", override]))

    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert (run / "metrics.csv").read_text() == rows


def test_other_scenes_in_the_store_are_noticed(
    small: Small,
    stopped: Stopped,
    make_store: Callable[..., Path],
    store: Path,
    tmp_path: Path,
) -> None:
    run = stopped(small(store, tmp_path / "runs", checkpoint_every=2), 3)
    other = make_store(tmp_path, [crossing_scene(f"t{i}", seed=i) for i in range(5)])

    with pytest.raises(ConfigError, match=r"data\.store was"):
        train(compose([f"resume={run}", f"store={other}"]))


def test_what_changes_no_weights_may_be_changed(
    small: Small, stopped: Stopped, store: Path, val_store: Path, tmp_path: Path
) -> None:
    config = small(store, tmp_path / "whole", val_store, checkpoint_every=2)
    whole = train(config)
    run = stopped(replace(config, out=str(tmp_path / "cut")), 3)

    resumed = train(compose([f"resume={run}", "trainer.val_every=1", "trainer.log_every=2"]))

    assert same(weights(whole), weights(resumed))


@pytest.mark.parametrize("val_every", [2, 3])
def test_a_finished_run_goes_on_to_more_steps_when_asked(
    small: Small, store: Path, val_store: Path, tmp_path: Path, val_every: int
) -> None:
    config = small(
        store,
        tmp_path,
        val_store,
        max_steps=4,
        val_every=val_every,
        log_scenes=True,
        final_learning_rate=1.0,
    )
    done = train(config)

    more = train(compose([f"resume={done.run}", "trainer.max_steps=7", "reschedule=true"]))
    straight = train(replace(config, trainer=replace(config.trainer, max_steps=7)))

    # With a constant learning rate the schedule is the same one, only longer.
    assert more.steps == 7
    assert same(weights(more), weights(straight))
    assert (more.run / "scenes.csv").read_text() == (straight.run / "scenes.csv").read_text()
    saved = yaml.safe_load((more.run / "config.yaml").read_text())
    assert saved["trainer"]["max_steps"] == 7
    assert saved["reschedule"] is False


def test_a_rescheduled_run_follows_the_new_learning_rate_from_its_first_step(
    small: Small, stopped: Stopped, store: Path, tmp_path: Path
) -> None:
    config = small(
        store, tmp_path, max_steps=8, checkpoint_every=2, warmup_steps=0, final_learning_rate=1.0
    )
    run = stopped(config, 3)

    train(compose([f"resume={run}", "trainer.learning_rate=0.25", "reschedule=true"]))

    rates = learning_rates(run)
    assert rates[2] == pytest.approx(5e-4)
    assert [rates[step] for step in range(3, 9)] == pytest.approx([0.25] * 6)


def learning_rates(run: Path) -> dict[int, float]:
    rows = [line.split(",") for line in (run / "metrics.csv").read_text().splitlines()[1:]]
    return {int(s): float(v) for s, name, v in rows if name == "train/learning_rate"}


def test_groups_belong_to_the_start_of_a_run(small: Small, store: Path, tmp_path: Path) -> None:
    done = train(small(store, tmp_path, max_steps=1))

    with pytest.raises(ConfigError, match="own settings"):
        compose([f"resume={done.run}", "trainer=smoke"])
    with pytest.raises(ConfigError, match="Did you mean 'max_steps'"):
        compose([f"resume={done.run}", "trainer.max_step=3"])
    with pytest.raises(ConfigError, match="no run folder"):
        compose([f"resume={tmp_path}"])


def test_two_processes_do_not_go_on_with_one_run(small: Small, store: Path, tmp_path: Path) -> None:
    done = train(small(store, tmp_path, max_steps=1))

    with exclusive(done.run / ".lock"), pytest.raises(StoreError, match="another process"):
        train(compose([f"resume={done.run}"]))


def test_without_a_whole_checkpoint_nothing_is_guessed(
    small: Small, store: Path, tmp_path: Path
) -> None:
    done = train(small(store, tmp_path, max_steps=2, checkpoint_every=1))
    for name in ("last.ckpt", "before_last.ckpt"):
        path = done.run / "checkpoints" / name
        path.write_bytes(path.read_bytes()[:-100])

    with pytest.raises(BundleError, match="damaged"):
        train(compose([f"resume={done.run}"]))


def test_a_bundle_that_was_being_replaced_is_put_back(
    small: Small, store: Path, val_store: Path, tmp_path: Path
) -> None:
    done = train(small(store, tmp_path, val_store))
    (done.run / "best").rename(done.run / ".best.0123abcd.old")
    (done.run / ".best.0123abcd.tmp").mkdir()
    (done.run / "metrics.csv").open("a").write("4,val/half a ro")

    again = train(compose([f"resume={done.run}"]))

    assert load_bundle(again.bundle).model.name == "regression"
    assert [path.name for path in done.run.glob(".best*")] == []
    assert all(row.count(",") == 2 for row in (done.run / "metrics.csv").read_text().splitlines())


def test_a_disk_that_is_full_ends_the_training_and_spoils_nothing(
    small: Small, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytorch_lightning import Trainer

    from motionpred.errors import TrainingError

    save = Trainer.save_checkpoint

    def full(self: Trainer, path: Any, **settings: Any) -> None:
        save(self, path, **settings)
        if self.global_step == 2:
            Path(path).write_bytes(Path(path).read_bytes()[:100])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Trainer, "save_checkpoint", full)
    with pytest.raises(TrainingError, match=r"step 2 cannot be written.*No space left"):
        train(small(store, tmp_path, checkpoint_every=1))

    (run,) = tmp_path.iterdir()
    assert [path.name for path in (run / "checkpoints").iterdir()] == ["last.ckpt"]
    assert read_checkpoint(run / "checkpoints" / "last.ckpt")["global_step"] == 1
