"""Scene modes against agents' own modes, with masks."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.metrics.joint import (
    joint_displacement,
    marginal_displacement,
    own_winners,
    winner,
)

NAN = float("nan")


def _mean(term):
    total, count = term
    return total / count


def test_minimum_over_scene_modes_and_over_each_agent_s_own():
    error = np.array([[[1.0], [5.0]], [[4.0], [1.0]]])  # [mode, agent, step]
    valid = np.ones((2, 1), bool)
    assert joint_displacement(error, valid)["minFDE"] == (2.5, 1.0)
    assert _mean(marginal_displacement(error, valid)["marginal minFDE"]) == 1.0


def test_one_mode_serves_every_joint_figure():
    error = np.array([[[5.0, 0.0]], [[0.0, 2.5]]])
    terms = joint_displacement(error, np.ones((1, 2), bool))
    assert terms == {"minADE": (2.5, 1.0), "minFDE": (0.0, 1.0), "MR": (0.0, 1.0)}


def test_agents_without_the_last_step_have_no_fde_but_an_ade():
    error = np.array([[[1.0, 1.0], [3.0, NAN]], [[0.0, 4.0], [0.0, NAN]]])
    valid = np.array([[True, True], [True, False]])
    terms = joint_displacement(error, valid)
    assert terms == {"minADE": (2.0, 1.0), "minFDE": (1.0, 1.0), "MR": (0.0, 1.0)}
    own = marginal_displacement(error, valid)
    assert own["marginal minADE"] == (1.0 + 0.0, 2.0)
    assert own["marginal minFDE"] == (1.0, 1.0)


def test_an_agent_without_any_truth_does_not_enter_a_count():
    error = np.array([[[1.0, 1.0], [NAN, NAN]]])
    valid = np.array([[True, True], [False, False]])
    assert joint_displacement(error, valid)["minADE"] == (1.0, 1.0)
    assert joint_displacement(error, valid)["MR"] == (0.0, 1.0)
    assert marginal_displacement(error, valid)["marginal minADE"] == (1.0, 1.0)


def test_no_truth_at_all_counts_nothing():
    error, valid = np.full((2, 1, 3), NAN), np.zeros((1, 3), bool)
    assert winner(error, valid) is None
    for terms in (joint_displacement(error, valid), marginal_displacement(error, valid)):
        assert set(terms.values()) == {(0.0, 0.0)}


def test_without_any_last_step_the_best_mode_is_that_of_least_ade():
    error = np.array([[[3.0, 9.0]], [[1.0, 9.0]]])
    valid = np.array([[True, False]])
    assert winner(error, valid) == 1
    assert own_winners(error, valid).tolist() == [1]


def test_a_tie_goes_to_the_first_mode():
    error = np.ones((3, 2, 1))
    assert winner(error, np.ones((2, 1), bool)) == 0
    assert own_winners(error, np.ones((2, 1), bool)).tolist() == [0, 0]


@pytest.mark.parametrize("seed", range(50))
def test_the_joint_minimum_is_never_below_the_marginal_one(seed):
    rng = np.random.default_rng(seed)
    modes, agents, steps = rng.integers(1, 8, 3)
    error = rng.exponential(2.0, (modes, agents, steps))
    valid = np.ones((agents, steps), bool)
    joint, marginal = joint_displacement(error, valid), marginal_displacement(error, valid)
    assert _mean(joint["minFDE"]) >= _mean(marginal["marginal minFDE"]) - 1e-12
    order = rng.permutation(agents)
    shuffled = joint_displacement(error[:, order], valid)
    for metric in joint:
        assert shuffled[metric] == pytest.approx(joint[metric], rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_more_modes_never_make_either_minimum_larger(seed):
    rng = np.random.default_rng(seed)
    error = rng.exponential(2.0, (8, 3, 4))
    valid = np.ones((3, 4), bool)
    joint = [_mean(joint_displacement(error[:k], valid)["minFDE"]) for k in range(1, 9)]
    own = [_mean(marginal_displacement(error[:k], valid)["marginal minFDE"]) for k in range(1, 9)]
    assert joint == sorted(joint, reverse=True)
    assert own == sorted(own, reverse=True)


@pytest.mark.parametrize("seed", range(20))
def test_values_at_masked_steps_are_never_read(seed):
    rng = np.random.default_rng(seed)
    error = rng.exponential(2.0, (4, 5, 6))
    valid = rng.random((5, 6)) < 0.6
    hidden = np.where(valid, error, NAN)
    assert joint_displacement(hidden, valid) == joint_displacement(error, valid)
    assert marginal_displacement(hidden, valid) == marginal_displacement(error, valid)
