"""The conformance suite catches models that break the contract, and says how."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from motionpred.graph import SceneBatch
from motionpred.models import Forecast, ForecastModel, Term, build_model
from motionpred.models.baselines import ConstantVelocity
from motionpred.models.baselines.constant_velocity import ConstantVelocityConfig
from motionpred.scene import TimeSpec
from motionpred.testing import check_model
from motionpred.testing.models import TIME


class LooksAhead(ConstantVelocity):
    """Copies the truth where there is one."""

    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        forecast = super().forecast(batch, modes=modes, seed=seed)
        valid = batch.target.valid[:, None, ..., None]
        truth = batch.target.position[:, None].to(forecast.position.dtype)
        return replace(forecast, position=torch.where(valid, truth, forecast.position))


class DriftsEast(ConstantVelocity):
    """Adds a displacement in the axes of the world."""

    def continue_motion(self, batch: SceneBatch) -> Forecast:
        forecast = super().continue_motion(batch)
        return replace(forecast, position=forecast.position + forecast.position.new_tensor([1, 0]))


class FeelsTheBatch(ConstantVelocity):
    """Adds the mean speed of the batch, as batch normalisation in training mode would."""

    def continue_motion(self, batch: SceneBatch) -> Forecast:
        forecast = super().continue_motion(batch)
        mean = torch.linalg.vector_norm(batch.history.velocity, dim=-1).mean()
        away = forecast.position - batch.pose[:, None, :, None, :2]
        return replace(forecast, position=forecast.position + away * mean)


class ReadsPadding(ConstantVelocity):
    """Takes the first step for a recorded one, be it valid or not."""

    def continue_motion(self, batch: SceneBatch) -> Forecast:
        forecast = super().continue_motion(batch)
        away = torch.linalg.vector_norm(batch.history.size[:, :, 0], dim=-1)
        away = away[:, None, :, None, None] * (forecast.position - batch.pose[:, None, :, None, :2])
        return replace(forecast, position=forecast.position + away * 1e-3)


class DividesByDistance(ConstantVelocity):
    """NaN where an agent stands still."""

    def continue_motion(self, batch: SceneBatch) -> Forecast:
        forecast = super().continue_motion(batch)
        away = forecast.position - batch.pose[:, None, :, None, :2]
        length = torch.linalg.vector_norm(away, dim=-1, keepdim=True)
        return replace(forecast, position=forecast.position + 0 * away / length)


class UnsureOfItself(ConstantVelocity):
    """Probabilities that do not sum to 1."""

    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        forecast = super().forecast(batch, modes=modes, seed=seed)
        return replace(forecast, probability=forecast.probability / 2)


class RollsDice(ConstantVelocity):
    """Noise from torch's global generator."""

    def continue_motion(self, batch: SceneBatch) -> Forecast:
        forecast = super().continue_motion(batch)
        return replace(forecast, position=forecast.position + torch.rand(()) * 1e-5)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (LooksAhead, "check_rigid_motion|looked at batch.target"),
        (DriftsEast, "check_rigid_motion: turned by 0.4 rad"),
        (FeelsTheBatch, "check_padding|check_batch_mates"),
        (ReadsPadding, "check_padding: 1e6 in invalid states"),
        (DividesByDistance, "check_shapes: position is not finite"),
        (UnsureOfItself, "check_shapes: probabilities sum to"),
        (RollsDice, "check_rigid_motion|check_modes|check_padding|check_repeatable"),
    ],
)
def test_a_forecast_that_breaks_the_contract_is_caught(
    kind: type[ForecastModel], said: str
) -> None:
    with pytest.raises(AssertionError, match=said):
        check_model(kind(ConstantVelocityConfig(), TIME))


class Learner(ConstantVelocity):
    """A model of one number, the gain of the velocity, with a correct loss."""

    trainable = True

    def __init__(self, config: ConstantVelocityConfig, time: TimeSpec) -> None:
        super().__init__(config, time)
        self.gain = nn.Parameter(torch.ones(()))

    def error(self, batch: SceneBatch) -> torch.Tensor:
        away = self.continue_motion(batch).position[:, 0] - batch.pose[:, :, None, :2]
        truth = batch.target.position - batch.pose[:, :, None, :2]
        return (away * self.gain - truth).square().sum(-1)

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        valid = batch.target.valid & batch.predict[..., None]
        return {"error": Term(torch.where(valid, self.error(batch), 0.0).sum(), valid.sum())}


class UnmaskedLearner(Learner):
    """Counts steps that have no truth."""

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        error = self.error(batch)
        return {"error": Term(error.sum(), torch.tensor(error.numel()))}


class MeanLearner(Learner):
    """Gives a mean where a sum is asked for: NaN with nothing to score."""

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        (term,) = super().loss(batch, seed=seed, epoch=epoch).values()
        return {"error": Term(term.sum / term.count, torch.ones(()))}


class IdleLearner(Learner):
    """Has a parameter that takes no part."""

    def __init__(self, config: ConstantVelocityConfig, time: TimeSpec) -> None:
        super().__init__(config, time)
        self.idle = nn.Parameter(torch.ones(()))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (UnmaskedLearner, "check_additive|check_nothing_to_score"),
        (MeanLearner, "check_additive"),
        (IdleLearner, "parameter idle takes no part in the loss"),
    ],
)
def test_a_loss_that_breaks_the_contract_is_caught(kind: type[ForecastModel], said: str) -> None:
    from motionpred.testing.model_losses import LOSS_CHECKS

    model = kind(ConstantVelocityConfig(), TIME)
    with pytest.raises(AssertionError) as caught:
        for check in LOSS_CHECKS:
            try:
                check(model)
            except AssertionError as error:
                raise AssertionError(f"{check.__name__}: {error}") from error
    assert any(part in str(caught.value) for part in said.split("|"))


def test_a_correct_learner_passes_the_loss_checks() -> None:
    from motionpred.testing.model_losses import LOSS_CHECKS

    model = Learner(ConstantVelocityConfig(), TIME)
    for check in LOSS_CHECKS:
        check(model)


def test_a_model_may_be_given_instead_of_its_name() -> None:
    check_model(build_model("kalman", {"position_std": 0.3}, TIME))
