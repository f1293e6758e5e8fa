"""One scene's forecast: its contract, and choosing, sorting and turning what is in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.errors import ConfigError, SceneError
from motionpred.prediction import Prediction

TIME = np.array([0.5, 1.0])


def mode(*ends: tuple[float, float]) -> list[list[tuple[float, float]]]:
    """Agents that stand at these points for both steps."""
    return [[end, end] for end in ends]


def joint(probability: list[float], **changes: object) -> Prediction:
    """Two agents, "a" and "b"; in mode k they stand at (k, 0) and (k, 10)."""
    position = np.array([mode((k, 0.0), (k, 10.0)) for k in range(len(probability))])
    plain = Prediction(
        "s", np.array(["a", "b"]), TIME, position, np.array(probability), joint=True, source="m"
    )
    return replace(plain, **changes)


def marginal() -> Prediction:
    """Agent "a" most likely does mode 2, agent "b" mode 1."""
    probability = np.array([[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]])
    return replace(joint([0.2, 0.3, 0.5]), joint=False, probability=probability)


def test_joint_top_keeps_the_most_probable_modes_and_renormalises():
    best = joint([0.1, 0.6, 0.3]).top(2)
    np.testing.assert_allclose(best.probability, [2 / 3, 1 / 3])
    assert best.position[:, 0, 0, 0].tolist() == [1, 2]
    assert best.position[:, 1, 0].tolist() == [[1, 10], [2, 10]]


def test_modes_of_equal_probability_keep_their_order():
    assert joint([0.2, 0.3, 0.2, 0.3]).top(3).position[:, 0, 0, 0].tolist() == [1, 3, 0]


def test_top_of_more_modes_than_there_are_sorts_and_keeps_all():
    every = joint([0.25, 0.75]).top(6)
    assert every.probability.tolist() == [0.75, 0.25]
    assert every.position[:, 0, 0, 0].tolist() == [1, 0]


def test_marginal_top_chooses_for_each_agent_alone():
    heading = np.arange(3.0)[:, None, None] + np.zeros((3, 2, 2))
    best = replace(marginal(), heading=heading, scale=np.abs(marginal().position) + 1).top(1)
    np.testing.assert_allclose(best.probability, [[1.0], [1.0]])
    assert best.position[0, :, 0].tolist() == [[2, 0], [1, 10]]
    assert best.heading is not None
    assert best.heading[0, :, 0].tolist() == [2, 1]
    assert best.scale is not None
    assert best.scale[0, :, 0].tolist() == [[3, 1], [2, 11]]


def test_modes_that_had_no_probability_share_it_evenly():
    flat = replace(marginal(), probability=np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]]))
    np.testing.assert_allclose(flat.top(2).probability, [[0.625, 0.375], [1.0, 0.0]])
    nothing = replace(joint([0.5, 0.5]), probability=np.zeros(2))
    assert nothing.top(2).probability.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("k", [0, -1])
def test_top_needs_a_mode(k):
    with pytest.raises(ConfigError, match="Ask for 1 mode or more"):
        joint([1.0]).top(k)


def test_marginal_of_a_joint_forecast_gives_each_agent_the_probabilities_of_the_scene():
    every = joint([0.4, 0.6]).marginal().validate()
    assert every.probability.tolist() == [[0.4, 0.6], [0.4, 0.6]]
    assert not every.joint
    assert marginal().marginal().probability.tolist() == marginal().probability.tolist()


def test_select_takes_the_given_agents_once_in_the_given_order():
    chosen = marginal().select(["b", "nobody", "a", "b"]).validate()
    assert chosen.track_id.tolist() == ["b", "a"]
    assert chosen.position[0, :, 0, 1].tolist() == [10, 0]
    assert chosen.probability.tolist() == [[0.1, 0.6, 0.3], [0.2, 0.3, 0.5]]
    nobody = joint([0.4, 0.6]).select(["nobody"]).validate()
    assert nobody.position.shape == (2, 0, 2, 2)
    assert nobody.probability.tolist() == [0.4, 0.6]


def test_to_frame_moves_positions_turns_headings_and_keeps_the_rest():
    scale = np.full((1, 2, 2, 2), 0.5)
    world = joint([1.0], heading=np.full((1, 2, 2), np.pi), scale=scale)
    seen = world.to_frame((0.0, 10.0), np.pi / 2).validate()
    # From (0, 10), looking along +y, "a" at (0, 0) is 10 m behind and "b" is here.
    np.testing.assert_allclose(seen.position[0, 0, 0], [-10, 0], atol=1e-12)
    np.testing.assert_allclose(seen.position[0, 1, 0], [0, 0], atol=1e-12)
    np.testing.assert_allclose(seen.heading, np.pi / 2)
    assert seen.scale is scale  # it is in each agent's own frame
    back = joint([1.0], heading=np.full((1, 2, 2), -3.0)).to_frame((0.0, 0.0), 3.0)
    np.testing.assert_allclose(back.heading, 2 * np.pi - 6)


def test_a_forecast_of_nobody_is_valid_and_can_be_cut_and_turned():
    nobody = joint([0.3, 0.7]).select([])
    for same in (nobody, nobody.top(1), nobody.to_frame((1.0, 2.0), 0.3), nobody.marginal()):
        assert same.validate().position.shape[1] == 0


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"position": np.zeros((1, 2, 2, 3))}, "position", "has shape"),
        ({"position": np.zeros((0, 2, 2, 2))}, "position", "K≥1"),
        ({"position": np.zeros(4)}, "position", "K≥1"),
        ({"position": np.zeros((1, 2, 2, 2), int)}, "position", "floating-point"),
        ({"position": [[1.0]]}, "position", "numpy array"),
        ({"position": np.full((1, 2, 2, 2), np.nan)}, "position", r"not finite at \(0, 0, 0, 0\)"),
        ({"time": np.array([0.0, 0.5])}, "time", "above 0"),
        ({"time": np.array([0.5, 0.5])}, "time", "increase"),
        ({"time": np.array([0.5, np.inf])}, "time", "not finite"),
        ({"time": np.array([[0.5, 1.0]])}, "time", "has shape"),
        ({"track_id": np.array([1, 2])}, "track_id", "texts"),
        ({"track_id": np.array(["a", None])}, "track_id", "texts"),
        ({"track_id": np.array(["a", "a"])}, "track_id", "twice"),
        ({"track_id": np.array("ab")}, "track_id", "one axis"),
        ({"heading": np.zeros((1, 2))}, "heading", "has shape"),
        ({"scale": np.zeros((1, 2, 2, 2))}, "scale", "above 0"),
        ({"scale": np.full((1, 2, 2, 2), -1.0)}, "scale", "is -1 somewhere"),
        ({"probability": np.array([0.9])}, "probability", r"sums to 0\.9"),
        ({"probability": np.array([[1.0]])}, "probability", "has shape"),
        ({"probability": None}, "probability", "numpy array"),
        ({"scene_id": 7}, "scene_id", "must be text"),
        ({"dataset": None}, "dataset", "must be text"),
    ],
)
def test_validation_names_the_field(changes, field, message):
    with pytest.raises(SceneError, match=message) as caught:
        replace(joint([1.0]), **changes).validate()
    assert caught.value.field == f"prediction.{field}"


def test_probabilities_outside_0_to_1_are_refused_even_where_they_sum_to_1():
    with pytest.raises(SceneError, match=r"outside 0\.\.1"):
        joint([1.5, -0.5]).validate()
    with pytest.raises(SceneError, match=r"sums to 0\.5"):
        replace(marginal(), probability=np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.3]])).validate()
