"""What joint regression adds to the contract: one winner a scene, modes that stay apart."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from motionpred.graph import SceneBatch, collate_scenes
from motionpred.models import Forecast, ForecastModel, build_model, save_bundle
from motionpred.models.denormals import flushed_denormals
from motionpred.models.diagnostics import health
from motionpred.models.regression import Regression
from motionpred.models.regression.heads import Paths
from motionpred.models.regression.loss import (
    Truth,
    agent_weights,
    assignment,
    distances,
    likelihood_terms,
    path_terms,
    temperature,
)
from motionpred.models.regression.predicted import Predicted
from motionpred.scene import Role, TimeSpec
from motionpred.testing import check_model, crossing_scene
from motionpred.testing.model_forecasts import check_rigid_motion, check_rigid_motion_in_float64

TIME = TimeSpec(0.1, 50, 60)


def nano(**settings: object) -> ForecastModel:
    torch.manual_seed(0)
    return build_model("regression", {"size": "nano", **settings}, TIME)


def crossings(count: int) -> SceneBatch:
    return collate_scenes([crossing_scene(f"s{i}", seed=i) for i in range(count)], TIME)


def joint_min_fde(forecast: Forecast, batch: SceneBatch) -> Tensor:
    """Mean over SCORED agents, then the least over scene modes: ``[B]`` metres."""
    scored = batch.predict & ((batch.roles & int(Role.SCORED)) != 0) & batch.target.valid[..., -1]
    apart = forecast.position[..., -1, :] - batch.target.position[:, None, :, -1]
    error = torch.where(scored[:, None], torch.linalg.vector_norm(apart, dim=-1), 0.0)
    return (error.sum(-1) / scored.sum(-1)[:, None]).amin(-1)


def train(model: ForecastModel, batch: SceneBatch, steps: int) -> None:
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = 3e-3 * min(1, (step + 1) / 30) * (1 - step / steps)
        terms = model.loss(batch, seed=0, epoch=13 * step // steps)
        loss = torch.stack([term.sum / term.count for term in terms.values()]).sum()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 3.0)
        optimiser.step()


@pytest.mark.slow
def test_eight_scenes_are_learned_by_heart() -> None:
    batch, model = crossings(8), nano()
    with flushed_denormals():
        train(model, batch, steps=300)
    learned = model.forecast(batch, modes=6, seed=0)
    assert joint_min_fde(learned, batch).mean() < 0.3
    figures = {name: term.sum / term.count for name, term in health(batch, learned).items()}
    assert figures["spread"] > 0.3, "the modes of moving agents have collapsed"
    assert learned.probability[:, 0].mean() > 0.9, "the scores do not know the winner"
    check_rigid_motion(model)  # with trained weights
    check_rigid_motion_in_float64(model)


def test_fresh_modes_are_the_motions_of_the_fan() -> None:
    batch, model = crossings(2), nano()
    assert isinstance(model, Regression)
    with torch.no_grad():
        for head in (model.proposal, model.refinement):
            head.out.weight.zero_()
        model.score.score[-1].weight.zero_()
        model.score.score[-1].bias.zero_()
    mine = model.forecast(batch, modes=6, seed=0)
    fan = build_model("fan", {}, TIME).forecast(batch, modes=6, seed=0)
    own, there = batch.predict[:, None, :, None], batch.predict[:, None, :, None, None]
    for name, mask in (("position", there), ("heading", own)):
        got, want = (torch.where(mask, getattr(one, name), 0.0) for one in (mine, fan))
        torch.testing.assert_close(got, want, atol=0.06, rtol=0)  # arcs by knots: 5 cm off
    torch.testing.assert_close(mine.probability, fan.probability, atol=1e-6, rtol=0)


def test_the_refinement_cannot_move_the_proposal() -> None:
    """Its loss reaches the scene's tokens, and nothing that makes the proposal out of them."""
    batch, model = crossings(2), nano()
    assert isinstance(model, Regression)
    predicted = Predicted.of(batch)
    modes = model(batch, predicted, slice(None))
    of_proposal = [*model.propose.parameters(), *model.proposal.parameters(), model.mode]
    loss = modes.refined.position.sum() + modes.scale.sum() + modes.logit.sum()
    found = torch.autograd.grad(loss, of_proposal, allow_unused=True, retain_graph=True)
    assert all(gradient is None or not gradient.any() for gradient in found)
    reached = torch.autograd.grad(loss, list(model.encoder.parameters()), allow_unused=True)
    assert any(gradient is not None and gradient.any() for gradient in reached)


def test_the_refinement_starts_from_the_proposal() -> None:
    batch, model = crossings(2), nano()
    assert isinstance(model, Regression)
    with torch.no_grad():
        model.refinement.out.weight.zero_()
        modes = model(batch, Predicted.of(batch), slice(None))
    torch.testing.assert_close(modes.refined.position, modes.proposed.position)


def test_only_predicted_agents_are_decoded() -> None:
    batch = crossings(1)
    predicted = Predicted.of(batch)
    assert predicted.row_BQ.shape[1] == int(batch.predict.sum())
    taken = predicted.take(batch.track_key)
    assert set(taken[0].tolist()) == set(batch.track_key[batch.predict].tolist())
    back = predicted.spread(taken[:, None].double(), batch.predict.shape[1])
    want = torch.where(batch.predict, batch.track_key.double(), 0.0)
    assert torch.equal(back[:, 0], want)


def test_the_loss_looks_at_the_last_step() -> None:
    for time in (TIME, TimeSpec(0.5, 5, 12), TimeSpec(0.1, 11, 80)):
        model = build_model("regression", {"size": "nano"}, time)
        assert isinstance(model, Regression)
        steps = range(time.future)[model._looked_at()]
        assert steps[-1] == time.future - 1
        assert steps[0] < len(range(time.future)) / len(steps)


@pytest.mark.parametrize(
    "settings",
    [
        {"joint": False},
        {"joint": False, "combine": True},
        {"encoder": {"edge_layers": 1}},
        {"encoder": {"cell": 60.0}},
    ],
    ids=str,
)
def test_every_variant_keeps_the_contract(settings: dict[str, object]) -> None:
    check_model("regression", {"size": "nano", **settings})


def test_a_marginal_model_gives_every_agent_probabilities_of_its_own() -> None:
    forecast = nano(joint=False).forecast(crossings(2), modes=4, seed=0)
    assert not forecast.joint
    assert forecast.probability.shape == (2, forecast.position.shape[2], 4)
    assert not torch.allclose(forecast.probability[:, 0], forecast.probability[:, 1])


def test_a_marginal_model_may_combine_its_modes_to_scenes() -> None:
    batch = crossings(2)
    scenes = nano(joint=False, combine=True).forecast(batch, modes=6, seed=0)
    by_hand = nano(joint=False).forecast(batch, modes=6, seed=0).combine(batch, 6)
    assert scenes.joint
    assert torch.equal(scenes.position, by_hand.position)
    torch.testing.assert_close(scenes.probability, by_hand.probability)


class TestLoss:
    """Two agents, one step: mode 0 is right for one, mode 1 for the other, mode 2 nearly so."""

    truth = torch.zeros(1, 2, 2, 1)  # [B, A, 2, T]
    x = torch.tensor([[[0.0, 9.0], [8.0, 0.0], [3.0, 3.0]]])  # [B, K, A]
    position = torch.stack([x, torch.zeros_like(x)], dim=-1)[..., None]  # [B, K, A, 2, T]
    scale = torch.ones(1, 3, 2, 2, 1)

    def of(self, weight: tuple[float, float] = (1.0, 1.0)) -> Truth:
        there = torch.ones(1, 2, 1, dtype=torch.bool)
        return Truth.of(self.truth, torch.zeros(1, 2, 1), there, there, torch.tensor([weight]))

    def path(
        self,
        *,
        weight: tuple[float, float] = (1.0, 1.0),
        temperature: float = 0.0,
        joint: bool = True,
    ) -> float:
        truth = self.of(weight)
        distance = distances(self.position, truth)
        assigned = assignment(distance, truth, temperature, joint=joint)
        paths = Paths(self.position, torch.zeros(1, 3, 2, 1))
        term = path_terms("x", paths, distance, truth, assigned)["x_path"]
        return float(term.sum / term.count)

    def test_the_scene_has_one_winner_not_every_agent_its_own(self) -> None:
        assert self.path() == pytest.approx(3.0, abs=1e-3)  # mode 2; the agents' own give 0

    def test_without_joint_every_agent_has_a_winner_of_its_own(self) -> None:
        assert self.path(joint=False) == pytest.approx(0.0, abs=2e-3)

    def test_agents_weigh_in_the_choice_and_in_the_mean(self) -> None:
        # Mode 0: 1 * 0 + 0.25 * 9; mode 2: 1 * 3 + 0.25 * 3. Mode 0 wins.
        assert self.path(weight=(1.0, 0.25)) == pytest.approx(0.25 * 9 / 1.25, abs=1e-3)

    def test_a_high_temperature_shares_among_all_modes(self) -> None:
        assert self.path(temperature=1e6) == pytest.approx((4.5 + 4.0 + 3.0) / 3, abs=1e-2)

    def test_a_low_temperature_is_a_single_winner(self) -> None:
        assert self.path(temperature=0.01) == pytest.approx(3.0, abs=1e-3)

    def test_an_agent_that_leaves_counts_while_it_is_there(self) -> None:
        position = torch.tensor([[1.0, 2.0, 50.0], [0.0, 0.0, 0.0]])
        valid = torch.tensor([[[True, True, False]]])
        truth = Truth.of(
            torch.zeros(1, 1, 2, 3), torch.zeros(1, 1, 3), valid, valid, torch.ones(1, 1)
        )
        paths = Paths(position[None, None, None], torch.zeros(1, 1, 1, 3))
        distance = distances(paths.position, truth)
        assigned = assignment(distance, truth, 0.0, joint=True)
        term = path_terms("x", paths, distance, truth, assigned)["x_path"]
        assert float(term.sum) == pytest.approx(3.0, abs=1e-3)
        assert float(term.count) == 2.0

    def test_headings_learn_by_the_cosine_of_their_error(self) -> None:
        truth = self.of()
        heading = torch.full((1, 3, 2, 1), math.pi / 2)
        distance = distances(self.position, truth)
        assigned = assignment(distance, truth, 0.0, joint=True)
        terms = path_terms("x", Paths(self.position, heading), distance, truth, assigned)
        assert float(terms["x_heading"].sum / terms["x_heading"].count) == pytest.approx(1.0)

    @pytest.mark.parametrize("joint", [True, False])
    def test_scales_and_scores_do_not_move_positions(self, joint: bool) -> None:
        position = self.position.clone().requires_grad_()
        scale = self.scale.clone().requires_grad_()
        logit = torch.zeros(1, 3) if joint else torch.zeros(1, 2, 3)
        truth = self.of()
        assigned = assignment(distances(position, truth), truth, 0.0, joint=joint)
        terms = likelihood_terms(position, scale, logit.requires_grad_(), truth, assigned)
        assert not torch.autograd.grad(
            terms["score"].sum, scale, allow_unused=True, retain_graph=True
        )[0]
        (terms["scale"].sum + terms["score"].sum).backward()
        assert position.grad is None
        assert scale.grad is not None and bool((scale.grad != 0).any())

    def test_the_score_of_scenes_is_a_mixture_likelihood(self) -> None:
        truth = self.of()
        assigned = assignment(distances(self.position, truth), truth, 0.0, joint=True)
        terms = likelihood_terms(self.position, self.scale, torch.zeros(1, 3), truth, assigned)
        # Mean over the agents of log(2)·2 + |x - μ|, with b = 1.
        likelihood = [-2 * math.log(2) - distance for distance in (4.5, 4.0, 3.0)]
        want = -math.log(sum(math.exp(value) / 3 for value in likelihood))
        assert float(terms["score"].sum) == pytest.approx(want, abs=1e-4)
        assert float(terms["score"].count) == 1.0

    def test_the_score_of_agents_is_one_mixture_each(self) -> None:
        truth = self.of(weight=(1.0, 0.25))
        assigned = assignment(distances(self.position, truth), truth, 0.0, joint=False)
        terms = likelihood_terms(self.position, self.scale, torch.zeros(1, 2, 3), truth, assigned)
        apart = ((0.0, 8.0, 3.0), (9.0, 0.0, 3.0))
        mixture = [
            2 * math.log(2) - math.log(sum(math.exp(-distance) / 3 for distance in own))
            for own in apart
        ]
        want = mixture[0] + 0.25 * mixture[1]
        assert float(terms["score"].sum) == pytest.approx(want, abs=1e-4)
        assert float(terms["score"].count) == 1.25


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


def test_bfloat16_autocast_stays_near_float32() -> None:
    batch, model = crossings(2), nano()
    plain = model.forecast(batch, modes=6, seed=0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under = model.forecast(batch, modes=6, seed=0)
    assert under.position.dtype == torch.float32
    apart = (under.position - plain.position).abs()[batch.predict[:, None].expand(-1, 6, -1)]
    assert apart.max() < 0.1


def test_the_graph_has_no_break_for_the_compiler() -> None:
    batch, model = crossings(2), nano()
    given = batch, Predicted.of(batch), slice(None)
    compiled = torch.compile(model.forward, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(*given).refined.position, model(*given).refined.position)


def test_a_nano_bundle_is_at_most_half_a_megabyte(tmp_path: Path) -> None:
    bundle = save_bundle(tmp_path / "bundle", nano())
    size = sum(file.stat().st_size for file in bundle.rglob("*") if file.is_file())
    assert size <= 500_000
