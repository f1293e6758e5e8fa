"""The loss rule: sums over counts, whatever the split; nothing moves where nothing is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import pytest
import torch
from pytorch_lightning import Callback, LightningModule, Trainer

from motionpred.errors import TrainingError
from motionpred.graph import BatchOptions, SceneBatch, collate_scenes
from motionpred.metrics import get_protocol
from motionpred.models import Forecast, ForecastModel, Term
from motionpred.scene import Scene, TimeSpec
from motionpred.testing import crossing_scene
from motionpred.training import TrainerConfig
from motionpred.training.data import SceneData
from motionpred.training.module import ForecastTraining
from motionpred.training.order import SceneOrder
from motionpred.training.steps import TrainScenes

CLOCK = TimeSpec(0.1, 50, 60)


@dataclass(frozen=True)
class _Settings:
    bad_scene: str = ""
    bad_gradient: bool = False


class Drift(ForecastModel):
    """Every agent moves by one learned vector a step; two terms whose counts differ."""

    name = "drift"
    Config = _Settings

    def __init__(self, config: _Settings = _Settings(), time: TimeSpec = CLOCK) -> None:
        super().__init__(config, time)
        self.step = torch.nn.Parameter(torch.tensor([[0.3, 0.1]]))
        self.factor = torch.nn.Parameter(torch.ones(2))

    def _path(self, batch: SceneBatch) -> torch.Tensor:
        index = torch.arange(1, self.time.future + 1, device=self.step.device)
        moved = index[:, None] * self.step * self.factor
        return batch.pose[:, :, None, :2] + moved.to(batch.pose.dtype)

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        valid = batch.target.valid & batch.predict[..., None]
        error = (self._path(batch) - batch.target.position).square().sum(-1)
        last = valid[..., -1]
        total = (error * valid).sum()
        if self.config.bad_scene in batch.scene_id:
            total = total * torch.nan
        if self.config.bad_gradient:  # 0 forwards, infinite backwards
            total = total + (self.step.sum() * 0.0).sqrt()
        return {
            "path": Term(total, valid.sum()),
            "end": Term((error[..., -1] * last).sum(), last.sum()),
        }

    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        return Forecast(self._path(batch)[:, None], torch.ones(len(batch), 1))


def no_future(name: str) -> Scene:
    return replace(crossing_scene(name).observed(), scene_id=name)


class _Watch(Callback):
    """What a run did, step by step."""

    def __init__(self) -> None:
        self.scene_id: list[list[str]] = []
        self.loss: list[float] = []
        self.learning_rate: list[float] = []

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        self.scene_id.append(batch.scene_id)
        self.learning_rate.append(trainer.optimizers[0].param_groups[0]["lr"])

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self.loss.append(float(outputs["loss"]))


def fit(
    scenes: list[Scene],
    model: ForecastModel,
    *,
    val: list[Scene] | None = None,
    patience: int | None = None,
    protocol: str = "argoverse2-multi",
    **settings: Any,
) -> tuple[ForecastTraining, _Watch]:
    defaults: dict[str, Any] = {"max_steps": 3, "batch_size": 4, "warmup_steps": 0}
    config = TrainerConfig(**{**defaults, **settings})
    module = ForecastTraining(
        model, config, BatchOptions(), protocol=get_protocol(protocol)(), patience=patience
    )
    watch = _Watch()
    order = SceneOrder((len(scenes),), config.batch_size, config.seed)
    Trainer(
        max_steps=config.max_steps,
        max_epochs=-1,
        check_val_every_n_epoch=None,
        val_check_interval=config.val_every,
        limit_val_batches=1.0 if val else 0,
        accelerator="cpu",
        precision=config.precision,
        callbacks=[watch],
        use_distributed_sampler=False,
        logger=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,
    ).fit(module, SceneData(TrainScenes(scenes, CLOCK, BatchOptions(), order), val, config))
    return module, watch


def weights(module: ForecastTraining) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in module.model.state_dict().items()}


def assert_same(a: ForecastTraining, b: ForecastTraining, tolerance: float) -> None:
    for name, value in weights(a).items():
        torch.testing.assert_close(weights(b)[name], value, atol=tolerance, rtol=tolerance)


SCENES = [crossing_scene(f"s{i}", seed=i) for i in range(9)]


def test_nine_scenes_in_batches_of_four_are_three_steps() -> None:
    _, watch = fit(SCENES, Drift(), max_steps=6)

    assert [len(step) for step in watch.scene_id] == [4, 4, 1, 4, 4, 1]
    for epoch in (watch.scene_id[:3], watch.scene_id[3:]):
        assert sorted(chain.from_iterable(epoch)) == [f"s{i}" for i in range(9)]


def test_the_loss_is_the_sum_of_the_means_of_its_terms() -> None:
    scenes = [SCENES[0], crossing_scene("short", seed=3, steps=70)]
    terms = Drift().loss(collate_scenes(scenes, CLOCK), seed=0, epoch=0)
    assert terms["path"].count != terms["end"].count

    _, watch = fit(scenes, Drift(), max_steps=1)

    expected = sum((term.sum / term.count).item() for term in terms.values())
    assert watch.loss == pytest.approx([expected], rel=1e-5)


def test_parts_of_a_step_give_the_weights_of_one_batch() -> None:
    # One scene without a future and one with few agents: parts have very different counts.
    short = crossing_scene("short", seed=3, steps=70)
    scenes = [*SCENES[:2], no_future("none"), short]

    whole, _ = fit(scenes, Drift().double(), precision="64-true")
    for accumulate in (2, 4):
        parts, _ = fit(scenes, Drift().double(), precision="64-true", accumulate=accumulate)
        assert_same(whole, parts, 1e-9)


def test_parts_work_for_the_real_model_too() -> None:
    from motionpred.models import build_model

    def model() -> ForecastModel:
        torch.manual_seed(0)
        return build_model("regression", {"size": "nano"}, CLOCK)

    whole, _ = fit(SCENES[:3], model(), precision="64-true", batch_size=3)
    parts, _ = fit(SCENES[:3], model(), precision="64-true", batch_size=3, accumulate=3)

    assert_same(whole, parts, 1e-9)


def test_a_scene_without_a_future_changes_nothing() -> None:
    together, _ = fit([SCENES[0], no_future("none")], Drift(), precision="64-true")
    alone, _ = fit([SCENES[0]], Drift(), precision="64-true")

    assert_same(together, alone, 1e-12)


def test_a_step_without_any_target_leaves_the_weights_bit_for_bit() -> None:
    # The first step has momentum to follow and weights to decay; the second has no target.
    scenes = [SCENES[0], no_future("none")]
    seed = next(s for s in range(9) if _first(scenes, s) == "s0")
    one, _ = fit(scenes, Drift(), batch_size=1, max_steps=1, seed=seed)
    two, watch = fit(scenes, Drift(), batch_size=1, max_steps=2, seed=seed, final_learning_rate=1.0)
    # Both runs have the same first learning rate, the second a second step too.
    assert watch.scene_id == [["s0"], ["none"]]
    assert watch.loss[1] == 0.0
    assert two.empty_steps == 1
    assert all(torch.equal(weights(one)[name], value) for name, value in weights(two).items())


def _first(scenes: list[Scene], seed: int) -> str:
    return scenes[SceneOrder((len(scenes),), 1, seed).scenes(0)[0]].scene_id


def test_a_split_without_a_future_is_refused_after_one_epoch() -> None:
    scenes = [no_future(f"n{i}") for i in range(4)]

    with pytest.raises(TrainingError, match=r"no scene had a target in 2 steps"):
        fit(scenes, Drift(), batch_size=2, max_steps=9, patience=2)


def test_a_loss_that_is_not_finite_names_the_scenes() -> None:
    with pytest.raises(TrainingError, match=r"loss path is not finite at step 0 \[scene=.*s1"):
        fit(SCENES[:2], Drift(_Settings(bad_scene="s1")), batch_size=2)


def test_a_gradient_that_is_not_finite_names_the_scenes() -> None:
    with pytest.raises(TrainingError, match=r"gradient is not finite at step 0 \[scene=s0\]"):
        fit(SCENES[:1], Drift(_Settings(bad_gradient=True)), batch_size=1)


def test_the_learning_rate_follows_the_step() -> None:
    _, watch = fit(SCENES, Drift(), max_steps=4, warmup_steps=2, learning_rate=1.0)

    assert watch.learning_rate == pytest.approx([0.5, 1.0, 1.0, 0.5])


def test_validation_scores_every_scene_once_by_the_protocol() -> None:
    module, _ = fit(SCENES[:2], Drift(), val=SCENES, max_steps=2, val_every=2)

    assert module.report is not None
    assert module.report.scenes == 9
    assert module.report.protocol == "argoverse2-multi"
    assert module.report.value("avgMinFDE", 6) > 0


def test_validation_without_any_truth_is_refused() -> None:
    with pytest.raises(TrainingError, match="no ground truth"):
        fit(SCENES[:2], Drift(), val=[no_future("n0")], max_steps=2, val_every=1)


class Restless(Drift):
    """Draws numbers that are not keyed, in training and in every forecast."""

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        terms = super().loss(batch, seed=seed, epoch=epoch)
        return {name: Term(t.sum * torch.rand(()), t.count) for name, t in terms.items()}

    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        torch.rand(17)
        return super().forecast(batch, modes=modes, seed=seed)


def test_random_numbers_of_a_step_do_not_depend_on_what_came_before_it() -> None:
    plain, _ = fit(SCENES, Restless(), max_steps=4)
    watched, _ = fit(SCENES, Restless(), val=SCENES[:2], max_steps=4, val_every=1)
    other_seed, _ = fit(SCENES, Restless(), max_steps=4, seed=1)

    assert_same(plain, watched, 0.0)
    assert not torch.equal(weights(plain)["step"], weights(other_seed)["step"])


class Healthy(Drift):
    """Says of its health how many of its agents have a target."""

    def diagnostics(self, batch: SceneBatch, forecast: Forecast) -> dict[str, Term]:
        assert len(forecast.position) == len(batch)
        asked = batch.predict.sum()
        reached = (batch.target.valid[..., -1] & batch.predict).sum()
        return {"reached": Term(reached, asked), "nothing": Term(asked * 0.0, asked * 0)}


def test_what_a_model_says_of_its_health_is_a_mean_over_the_validation() -> None:
    scenes = [SCENES[0], no_future("none")]
    terms = Healthy().diagnostics(
        collate_scenes(scenes, CLOCK), Forecast(torch.zeros(2, 1, 8, 60, 2), torch.ones(2, 1))
    )

    module, _ = fit(SCENES[:1], Healthy(), val=scenes, batch_size=1, max_steps=1, val_every=1)

    share = float(terms["reached"].sum / terms["reached"].count)
    assert 0 < share < 1
    assert module.diagnostics == pytest.approx({"health/reached": share})
