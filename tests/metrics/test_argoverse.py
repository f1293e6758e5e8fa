"""Argoverse 2 functions: cases worked out by hand, and equality with the publisher's package."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.metrics.argoverse import (
    multi_world,
    single_agent,
    world_ade,
    world_brier_fde,
    world_collisions,
    world_fde,
    world_misses,
)
from motionpred.metrics.displacement import ade, brier_penalty, displacement, fde, missed

# --- by hand ---------------------------------------------------------------------------------


def _case_a():
    truth = np.array([(1.0, 0), (2, 0)])
    position = np.array([[(1.0, 0), (2, 3)], [(1, 1), (2, 1)], [(1, 0), (4, 0)]])
    return position, truth, np.array([0.5, 0.2, 0.3])


def test_case_a_values_of_each_mode():
    position, truth, probability = _case_a()
    error = displacement(position, truth)
    np.testing.assert_allclose(ade(error), [1.5, 1, 1])
    np.testing.assert_allclose(fde(error), [3, 1, 2])
    np.testing.assert_array_equal(missed(fde(error)), [True, False, False])
    np.testing.assert_allclose(fde(error) + brier_penalty(probability), [3.25, 1.64, 2.49])
    np.testing.assert_allclose(ade(error) + brier_penalty(probability), [1.75, 1.64, 1.49])


def test_case_a_best_of_three_is_the_mode_of_least_fde_for_every_figure():
    assert single_agent(*_case_a(), k=3) == pytest.approx(
        {"minADE": 1.0, "minFDE": 1.0, "MR": 0.0, "brier-minFDE": 1.64, "brier-minADE": 1.64}
    )


def test_case_a_own_minimum_takes_the_least_brier_figure():
    figures = single_agent(*_case_a(), k=3, select="own")
    assert figures["brier-minADE"] == pytest.approx(1.49)
    assert figures["brier-minFDE"] == pytest.approx(1.64)


def test_case_a_k_of_one_is_the_most_probable_mode_as_if_certain():
    assert single_agent(*_case_a(), k=1) == pytest.approx(
        {"minADE": 1.5, "minFDE": 3.0, "MR": 1.0, "brier-minFDE": 3.0, "brier-minADE": 1.5}
    )


def test_case_a_k_of_two_leaves_the_least_probable_mode_out():
    figures = single_agent(*_case_a(), k=2)
    assert (figures["minADE"], figures["minFDE"], figures["MR"]) == (1.0, 2.0, 0.0)


def test_case_a_fewer_modes_than_k_are_all_used():
    assert single_agent(*_case_a(), k=6) == single_agent(*_case_a(), k=3)


def test_case_b_the_mean_over_agents_is_inside_the_minimum():
    truth = np.zeros((2, 1, 2))
    position = np.array([[[(0.0, 0)], [(3, 0)]], [[(0, 4)], [(0, 0)]]])
    probability = np.array([0.6, 0.4])
    np.testing.assert_allclose(world_fde(position, truth), [2.0, 1.5])
    np.testing.assert_array_equal(world_misses(position, truth), [[False, True], [True, False]])
    np.testing.assert_allclose(world_brier_fde(position, truth, probability), [2.16, 1.86])
    figures = multi_world(position, truth, probability, k=6)
    assert figures["avgMinFDE"] == pytest.approx(1.5)
    assert figures["avgBrierMinFDE"] == pytest.approx(1.86)
    assert figures["actorMR"].mean() == 0.5


def test_case_c_one_world_for_every_figure_or_each_its_own():
    truth = np.zeros((2, 2, 2))
    position = np.array([[[(5.0, 0), (0, 0)], [(0, 0), (1, 0)]]] * 2)
    probability = np.array([0.5, 0.5])
    np.testing.assert_allclose(world_fde(position, truth), [0, 1])
    np.testing.assert_allclose(world_ade(position, truth), [2.5, 0.5])
    assert multi_world(position, truth, probability, 6)["avgMinADE"] == pytest.approx(2.5)
    assert multi_world(position, truth, probability, 6, "own")["avgMinADE"] == pytest.approx(0.5)


def test_case_d_brier_of_the_world_of_least_fde_or_its_own_minimum():
    truth = np.zeros((1, 1, 2))
    position = np.array([[[(1.0, 0)], [(1.2, 0)]]])
    probability = np.array([0.1, 0.9])
    np.testing.assert_allclose(world_brier_fde(position, truth, probability), [1.81, 1.21])
    values = [multi_world(position, truth, probability, 6, s) for s in ("fde", "own")]
    assert [v["avgBrierMinFDE"] for v in values] == pytest.approx([1.81, 1.21])


def test_case_f_collisions_are_strict_and_between_centres():
    one_world = np.array([[[(0.0, 0), (1, 0)]], [[(0.5, 0), (5, 0)]], [[(1.6, 0), (9, 9)]]])
    np.testing.assert_array_equal(world_collisions(one_world), [[True], [True], [False]])
    exactly = np.array([[[(0.0, 0)]], [[(1.0, 0)]]])
    assert not world_collisions(exactly).any()


def test_exactly_two_metres_is_no_miss():
    assert not world_misses(np.array([[[(2.0, 0)]]]), np.zeros((1, 1, 2))).any()


def test_collision_rate_follows_the_world_of_least_fde_under_either_rule():
    truth = np.array([[(0.0, 0), (0, 0)], [(0, 5), (0, 5)]])
    crash = [[(4.0, 2.5), (0.0, 0.1)], [(4.0, 2.5), (0.0, 5.1)]]  # together at the first step
    apart = [[(0.0, 0.0), (0.0, 1.0)], [(0.0, 5.0), (0.0, 6.0)]]
    position = np.array([[crash[0], apart[0]], [crash[1], apart[1]]])
    for select in ("fde", "own"):
        figures = multi_world(position, truth, np.array([0.5, 0.5]), 6, select)
        assert figures["actorCR"].all()
    assert figures["avgMinADE"] == pytest.approx(0.5)


def test_a_tie_goes_to_the_first_world_of_those_most_probable():
    truth = np.zeros((2, 1, 2))
    position = np.array([[[(0.0, 0)], [(3, 0)]], [[(3, 0)], [(0, 0)]]])
    for probability, missed_agent in (([0.5, 0.5], 1), ([0.4, 0.6], 0)):
        miss = multi_world(position, truth, np.array(probability), 6)["actorMR"]
        assert miss.nonzero()[0].tolist() == [missed_agent]


# --- the publisher's package -----------------------------------------------------------------


@pytest.fixture(scope="module")
def official():
    return pytest.importorskip("av2.datasets.motion_forecasting.eval.metrics")


def _random_case(seed):
    rng = np.random.default_rng(seed)
    agents, worlds, steps = rng.integers(1, 9), rng.integers(1, 9), rng.integers(1, 61)
    truth = rng.normal(0, 30, (agents, steps, 2)) + rng.uniform(-5000, 5000, 2)
    spread = rng.choice([0.3, 1.5, 10.0])
    position = truth[:, None] + rng.normal(0, spread, (agents, worlds, steps, 2))
    if seed % 3 == 0:  # agents close to each other, on a grid: ties and exact distances
        truth = np.round(truth[:1] + rng.integers(-2, 3, (agents, steps, 2)))
        position = truth[:, None] + rng.integers(-2, 3, (agents, worlds, steps, 2))
    return position, truth, rng.dirichlet(np.ones(worlds))


def _close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=0)


@pytest.mark.parametrize("block", range(10))
def test_every_function_equals_the_package_on_random_inputs(official, block):
    for seed in range(30 * block, 30 * block + 30):
        position, truth, probability = _random_case(seed)
        for i in range(len(truth)):
            error = displacement(position[i], truth[i])
            single = (position[i], truth[i])
            brier = brier_penalty(probability)
            _close(ade(error), official.compute_ade(*single))
            _close(fde(error), official.compute_fde(*single))
            _close(missed(fde(error)), official.compute_is_missed_prediction(*single))
            _close(ade(error) + brier, official.compute_brier_ade(*single, probability))
            _close(fde(error) + brier, official.compute_brier_fde(*single, probability))
        world = (position, truth)
        _close(world_fde(*world), official.compute_world_fde(*world))
        _close(world_ade(*world), official.compute_world_ade(*world))
        _close(world_misses(*world), official.compute_world_misses(*world))
        _close(
            world_brier_fde(*world, probability),
            official.compute_world_brier_fde(*world, probability),
        )
        _close(world_collisions(position), official.compute_world_collisions(position))


def test_figures_are_the_package_s_values_at_the_mode_of_least_fde(official):
    for seed in range(200):
        position, truth, probability = _random_case(1000 + seed)
        order = np.argsort(-probability, kind="stable")[:6]
        kept, p = position[:, order], probability[order]
        single = single_agent(position[0], truth[0], probability, k=6)
        best = official.compute_fde(kept[0], truth[0]).argmin()
        _close(single["minADE"], official.compute_ade(kept[0], truth[0])[best])
        _close(single["minFDE"], official.compute_fde(kept[0], truth[0])[best])
        _close(single["brier-minFDE"], official.compute_brier_fde(kept[0], truth[0], p)[best])
        _close(single["brier-minADE"], official.compute_brier_ade(kept[0], truth[0], p)[best])
        multi = multi_world(position, truth, probability, k=6)
        best = official.compute_world_fde(kept, truth).argmin()
        _close(multi["avgMinFDE"], official.compute_world_fde(kept, truth)[best])
        _close(multi["avgMinADE"], official.compute_world_ade(kept, truth)[best])
        _close(multi["avgBrierMinFDE"], official.compute_world_brier_fde(kept, truth, p)[best])
        _close(multi["actorMR"], official.compute_world_misses(kept, truth)[:, best])
        _close(multi["actorCR"], official.compute_world_collisions(kept)[:, best])


# --- properties ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_own_minimum_is_never_larger(seed):
    position, truth, probability = _random_case(seed)
    for k in (1, 6):
        fde_rule = multi_world(position, truth, probability, k)
        own = multi_world(position, truth, probability, k, "own")
        for metric, value in own.items():
            assert (value <= fde_rule[metric]).all()
        single, alone = (
            single_agent(position[0], truth[0], probability, k, select) for select in ("fde", "own")
        )
        assert all(alone[metric] <= single[metric] for metric in single)


@pytest.mark.parametrize("seed", range(40))
def test_more_modes_never_make_the_least_fde_larger(seed):
    position, truth, probability = _random_case(seed)
    single = [single_agent(position[0], truth[0], probability, k)["minFDE"] for k in range(1, 9)]
    multi = [multi_world(position, truth, probability, k)["avgMinFDE"] for k in range(1, 9)]
    assert single == sorted(single, reverse=True)
    assert multi == sorted(multi, reverse=True)


@pytest.mark.parametrize("seed", range(1, 40, 3))
def test_the_order_of_agents_and_modes_does_not_show(seed):
    position, truth, probability = _random_case(seed)
    rng = np.random.default_rng(seed)
    agents, modes = rng.permutation(len(truth)), rng.permutation(len(probability))
    before = multi_world(position, truth, probability, 6)
    after = multi_world(position[agents][:, modes], truth[agents], probability[modes], 6)
    for metric, value in before.items():
        expected = value[agents] if np.ndim(value) else value
        np.testing.assert_allclose(after[metric], expected, rtol=1e-12)
