"""What joint regression adds to the contract: one winner a scene, modes that stay apart."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from motionpred.graph import SceneBatch, collate_scenes
from motionpred.models import Forecast, ForecastModel, build_model
from motionpred.models.regression.loss import agent_weights, joint_terms, temperature
from motionpred.scene import Role, TimeSpec
from motionpred.testing import crossing_scene

TIME = TimeSpec(0.1, 50, 60)


def nano() -> ForecastModel:
    torch.manual_seed(0)
    return build_model("regression", {"size": "nano"}, TIME)


def crossings(count: int) -> SceneBatch:
    return collate_scenes([crossing_scene(f"s{i}", seed=i) for i in range(count)], TIME)


def joint_min_fde(forecast: Forecast, batch: SceneBatch) -> Tensor:
    """Mean over SCORED agents, then the least over scene modes: ``[B]`` metres."""
    scored = batch.predict & ((batch.roles & int(Role.SCORED)) != 0) & batch.target.valid[..., -1]
    apart = forecast.position[..., -1, :] - batch.target.position[:, None, :, -1]
    error = torch.where(scored[:, None], torch.linalg.vector_norm(apart, dim=-1), 0.0)
    return (error.sum(-1) / scored.sum(-1)[:, None]).amin(-1)


def train(model: ForecastModel, batch: SceneBatch, steps: int) -> None:
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = 3e-3 * (1 - step / steps)
        terms = model.loss(batch, seed=0, epoch=step // 20)
        loss = torch.stack([term.sum / term.count for term in terms.values()]).sum()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 30.0)
        optimiser.step()


@pytest.mark.slow
def test_five_scenes_are_learned_by_heart():
    batch, model = crossings(5), nano()
    simple = build_model("constant-velocity", {}, TIME).forecast(batch, modes=6, seed=0)
    train(model, batch, steps=400)
    learned = model.forecast(batch, modes=6, seed=0)
    assert joint_min_fde(learned, batch).mean() < joint_min_fde(simple, batch).mean() / 3
    moving = batch.predict & (
        torch.linalg.vector_norm(batch.history.velocity[:, :, -1], dim=-1) > 3
    )
    lateral = learned.position[:, :, :, -1].std(dim=1).amin(-1)[moving]
    assert (lateral > 0.3).float().mean() > 0.8, "the modes of moving agents have collapsed"


def test_fresh_modes_are_the_motions_of_the_fan():
    batch, model = crossings(2), nano()
    with torch.no_grad():
        model.path.out.weight.zero_()
        model.score.score[-1].weight.zero_()
        model.score.score[-1].bias.zero_()
    mine = model.forecast(batch, modes=6, seed=0)
    fan = build_model("fan", {}, TIME).forecast(batch, modes=6, seed=0)
    torch.testing.assert_close(mine.position, fan.position, atol=1e-4, rtol=0)
    torch.testing.assert_close(mine.probability, fan.probability, atol=1e-6, rtol=0)


class TestLoss:
    """Two agents, one step: mode 0 is right for one, mode 1 for the other, mode 2 nearly so."""

    truth = torch.tensor([[[[0.0, 0.0]], [[0.0, 0.0]]]])  # [B, A, T, 2]
    position = torch.tensor([[[[[0.0, 0.0]], [[9.0, 0.0]]], [[[8.0, 0.0]], [[0.0, 0.0]]]]])
    position = torch.cat([position, torch.tensor([[[[[3.0, 0.0]], [[3.0, 0.0]]]]])], dim=1)
    scale = torch.ones(1, 3, 2, 1, 2)
    logit = torch.zeros(1, 3)
    valid = torch.ones(1, 2, 1, dtype=torch.bool)

    def path(self, *, weight: tuple[float, float] = (1.0, 1.0), temperature: float = 0.0) -> float:
        terms = joint_terms(
            self.position,
            self.scale,
            self.logit,
            self.truth,
            self.valid,
            torch.tensor([weight]),
            temperature,
        )
        return float(terms["path"].sum / terms["path"].count)

    def test_the_scene_has_one_winner_not_every_agent_its_own(self):
        assert self.path() == pytest.approx(3.0, abs=1e-3)  # mode 2; the agents' own would give 0

    def test_agents_weigh_in_the_choice_and_in_the_mean(self):
        # Mode 0: 1 * 0 + 0.25 * 9; mode 2: 1 * 3 + 0.25 * 3. Mode 0 wins.
        assert self.path(weight=(1.0, 0.25)) == pytest.approx(0.25 * 9 / 1.25, abs=1e-3)

    def test_a_high_temperature_shares_among_all_modes(self):
        assert self.path(temperature=1e6) == pytest.approx((4.5 + 4.0 + 3.0) / 3, abs=1e-2)

    def test_positions_learn_from_distance_alone_and_scores_do_not_move_them(self):
        position = self.position.clone().requires_grad_()
        weight = torch.ones(1, 2)
        terms = joint_terms(position, self.scale, self.logit, self.truth, self.valid, weight, 0.0)
        assert not (terms["scale"].sum + terms["score"].sum).requires_grad
        terms["path"].sum.backward()
        assert position.grad is not None
        assert position.grad[0, 2, :, 0, 0].tolist() == pytest.approx([1.0, 1.0], abs=1e-3)
        assert (position.grad[0, :2] == 0).all()

    def test_the_score_term_is_a_mixture_likelihood(self):
        terms = joint_terms(
            self.position, self.scale, self.logit, self.truth, self.valid, torch.ones(1, 2), 0.0
        )
        # Mean over the agents of log(2)·2 + |x - μ|, with b = 1.
        likelihood = [-2 * math.log(2) - distance for distance in (4.5, 4.0, 3.0)]
        want = -math.log(sum(math.exp(value) / 3 for value in likelihood))
        assert float(terms["score"].sum) == pytest.approx(want, abs=1e-4)
        assert float(terms["score"].count) == 1.0


def test_temperature_falls_and_then_there_is_one_winner():
    values = [temperature(epoch, 3, 2.0, 0.5) for epoch in range(5)]
    assert values == pytest.approx([2.0, 1.0, 0.5, 0.0, 0.0])


def test_scored_agents_weigh_one_and_others_a_quarter():
    batch = crossings(1)
    weight = agent_weights(batch, 0.25)[0]
    by_track = dict(zip(batch.track_id[0].tolist(), weight.tolist(), strict=False))
    assert by_track["101"] == 1.0  # focal
    assert by_track["AV"] == 0.25
    assert (weight[len(by_track) :] == 0).all()


def test_bfloat16_autocast_stays_near_float32():
    batch, model = crossings(2), nano()
    plain = model.forecast(batch, modes=6, seed=0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under = model.forecast(batch, modes=6, seed=0)
    assert under.position.dtype == torch.float32
    apart = (under.position - plain.position).abs()[batch.predict[:, None].expand(-1, 6, -1)]
    assert apart.max() < 0.1


def test_the_graph_has_no_break_for_the_compiler():
    batch, model = crossings(2), nano()
    compiled = torch.compile(model.forward, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(batch).position, model(batch).position)
