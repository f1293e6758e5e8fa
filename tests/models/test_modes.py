"""Top modes of joint and marginal forecasts, and marginal ones combined to scenes."""

from __future__ import annotations

import pytest
import torch

from motionpred.errors import ConfigError
from motionpred.graph import SceneBatch, collate_scenes
from motionpred.models import Forecast
from motionpred.models.modes import top_modes
from motionpred.scene import Role, TimeSpec
from motionpred.testing import make_scene, make_tracks

# Mode k of agent a is at x = 10 a + k.
POSITION = (torch.arange(3)[:, None] + 10.0 * torch.arange(2))[None, :, :, None, None].expand(
    1, 3, 2, 4, 2
)


def marginal(*probability: tuple[float, float, float]) -> Forecast:
    return Forecast(position=POSITION, probability=torch.tensor([probability]))


def scene_of(*roles: Role) -> SceneBatch:
    tracks = make_tracks([[(10.0 * a + t, 0.0) for t in range(9)] for a in range(2)], roles=roles)
    batch = collate_scenes([make_scene(tracks, 4)], TimeSpec(0.1, 5, 4))
    return SceneBatch(
        **{**vars(batch), "roles": batch.roles[:, :2], "predict": batch.predict[:, :2]}
    )


def reached(forecast: Forecast) -> list[list[float]]:
    return forecast.position[0, :, :, -1, 0].tolist()


def test_modes_of_a_joint_forecast_are_sorted_and_remember_their_number() -> None:
    forecast = Forecast(position=POSITION, probability=torch.tensor([[0.2, 0.5, 0.3]]))
    two = top_modes(forecast, 2)
    assert reached(two) == [[1.0, 11.0], [2.0, 12.0]]
    torch.testing.assert_close(two.probability, torch.tensor([[0.625, 0.375]]))
    assert two.mode is not None and two.mode.tolist() == [[1, 2]]
    again = top_modes(two, 1)
    assert again.mode is not None and again.mode.tolist() == [[1]]


def test_modes_of_a_marginal_forecast_are_sorted_for_each_agent() -> None:
    two = top_modes(marginal((0.2, 0.5, 0.3), (0.6, 0.1, 0.3)), 2)
    assert reached(two) == [[1.0, 10.0], [2.0, 12.0]]
    torch.testing.assert_close(two.probability, torch.tensor([[[0.625, 0.375], [2 / 3, 1 / 3]]]))
    assert two.mode is not None and two.mode.tolist() == [[[1, 2], [0, 2]]]


def test_combined_modes_are_the_most_probable_scenes() -> None:
    forecast = marginal((0.2, 0.5, 0.3), (0.6, 0.1, 0.3))
    scenes = forecast.combine(scene_of(Role.SCORED, Role.SCORED), 3)
    assert scenes.joint
    # 0.5 · 0.6, 0.3 · 0.6, 0.5 · 0.3
    assert reached(scenes) == [[1.0, 10.0], [2.0, 10.0], [1.0, 12.0]]
    torch.testing.assert_close(scenes.probability, torch.tensor([[0.3, 0.18, 0.15]]) / 0.63)


def test_only_scored_agents_tell_combined_scenes_apart() -> None:
    forecast = marginal((0.2, 0.5, 0.3), (0.6, 0.1, 0.3))
    scenes = forecast.combine(scene_of(Role.UNSCORED, Role.SCORED), 2)
    assert reached(scenes) == [[1.0, 10.0], [1.0, 12.0]]


def test_without_a_scored_agent_all_predicted_ones_count() -> None:
    forecast = marginal((0.2, 0.5, 0.3), (0.6, 0.1, 0.3))
    scenes = forecast.combine(scene_of(Role.UNSCORED, Role.UNSCORED), 2)
    assert reached(scenes) == [[1.0, 10.0], [2.0, 10.0]]


def test_combining_a_joint_forecast_only_cuts_it() -> None:
    forecast = Forecast(position=POSITION, probability=torch.tensor([[0.2, 0.5, 0.3]]))
    assert reached(forecast.combine(scene_of(Role.SCORED, Role.SCORED), 1)) == [[1.0, 11.0]]


@pytest.mark.parametrize("joint", [True, False])
def test_no_mode_at_all_is_an_error(joint: bool) -> None:
    probability = torch.ones(1, 3) / 3 if joint else torch.ones(1, 2, 3) / 3
    with pytest.raises(ConfigError, match="at least one mode"):
        top_modes(Forecast(position=POSITION, probability=probability), 0)
