"""Health figures by hand: two cars that drive along x side by side, three modes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from motionpred.graph import SceneBatch, collate_scenes
from motionpred.models import Forecast, Term
from motionpred.models.diagnostics import health
from motionpred.models.modes import top_modes
from motionpred.scene import Role, TimeSpec
from motionpred.testing import make_scene, make_tracks

TIME = TimeSpec(0.1, 5, 10)


def side_by_side(gap: float = 10.0, speed: float = 8.0) -> SceneBatch:
    """Two cars of 4 m by 2 m; the second stays ``gap`` metres to the left of the first."""
    x = speed * 0.1 * torch.arange(15)
    position = torch.stack([torch.stack([x, torch.full_like(x, y)], -1) for y in (0.0, gap)])
    tracks = make_tracks(position.numpy(), size=[(4.0, 2.0)] * 2)
    return collate_scenes([make_scene(tracks, 4)], TIME)


def modes(batch: SceneBatch, *left: tuple[float, float]) -> Forecast:
    """The truth, with the two cars moved to the left by so much in each mode."""
    position = batch.target.position[:, None].repeat(1, len(left), 1, 1, 1)
    for k, moved in enumerate(left):
        for agent, value in enumerate(moved):
            position[:, k, agent, :, 1] += value
    probability = torch.tensor([[0.5, 0.3, 0.2][: len(left)]])
    return top_modes(Forecast(position, probability / probability.sum()), len(left))


def value(term: Term) -> float:
    return float(term.sum / term.count)


def test_spread_is_the_deviation_of_endpoints_across_the_heading() -> None:
    batch = side_by_side()
    figures = health(batch, modes(batch, (1.0, 2.0), (-1.0, -2.0)))
    assert value(figures["spread"]) == pytest.approx(1.5)  # of 1 and 2
    assert figures["spread"].count == 2


def test_agents_that_stand_have_no_spread() -> None:
    batch = side_by_side(speed=1.0)
    assert health(batch, modes(batch, (1.0, 2.0), (-1.0, -2.0)))["spread"].count == 0


def test_a_win_goes_to_the_mode_of_the_model_not_to_its_rank() -> None:
    batch = side_by_side()
    forecast = modes(batch, (5.0, 5.0), (0.1, 0.2), (3.0, 0.0))
    shuffled = Forecast(
        forecast.position.flip(1), forecast.probability
    )  # mode 1 stays in the middle
    for one, winner in ((forecast, 1), (top_modes(shuffled, 3), 1)):
        figures = health(batch, one)
        assert [value(figures[f"wins_{k}"]) for k in range(3)] == [k == winner for k in range(3)]


def test_marginal_wins_are_those_of_agents() -> None:
    batch = side_by_side()
    joint = modes(batch, (5.0, 0.0), (0.0, 5.0))
    agents = batch.predict.shape[1]
    marginal = Forecast(joint.position, torch.tensor([0.6, 0.4]).expand(1, agents, 2))
    figures = health(batch, top_modes(marginal, 2))
    assert [value(figures[f"wins_{k}"]) for k in range(2)] == [0.5, 0.5]


def test_only_scored_agents_decide_the_winner() -> None:
    batch = side_by_side()
    roles = batch.roles.clone()
    roles[0, 1] = int(Role.UNSCORED)
    figures = health(replace(batch, roles=roles), modes(batch, (0.0, 9.0), (1.0, 0.0)))
    assert value(figures["wins_0"]) == 1.0


def test_overlap_counts_agents_that_meet_in_the_most_probable_mode() -> None:
    batch = side_by_side()
    assert value(health(batch, modes(batch, (0.0, 0.0), (9.0, 0.0)))["overlap"]) == 0.0
    assert value(health(batch, modes(batch, (9.0, 0.0), (0.0, 0.0)))["overlap"]) == 1.0


def test_agents_that_overlap_in_truth_are_left_out() -> None:
    batch = side_by_side(gap=1.0)
    assert value(health(batch, modes(batch, (0.0, 0.0)))["overlap"]) == 0.0


def test_without_a_scored_agent_there_is_nothing_to_say() -> None:
    batch = side_by_side()
    nobody = replace(batch, roles=torch.zeros_like(batch.roles))
    figures = health(nobody, modes(batch, (0.0, 0.0), (1.0, 1.0)))
    assert all(figures[name].count == 0 for name in ("wins_0", "overlap"))


def test_figures_add_up_over_scenes_and_carry_no_gradient() -> None:
    batch = side_by_side()
    forecast = modes(batch, (1.0, 2.0), (-1.0, -2.0))
    forecast = replace(forecast, position=forecast.position.requires_grad_())
    for term in health(batch, forecast).values():
        assert term.sum.ndim == 0 and term.count.ndim == 0 and not term.sum.requires_grad
