from __future__ import annotations

import itertools

import torch

from motionpred.reduction import most_probable_scenes


def brute_force(log_probability: torch.Tensor, top: int) -> list[float]:
    """Log probabilities of the best of all ways to choose, for ``[A, K]``."""
    agents, modes = log_probability.shape
    ways = itertools.product(range(modes), repeat=agents)
    totals = [sum(float(log_probability[a, k]) for a, k in enumerate(way)) for way in ways]
    return sorted(totals, reverse=True)[:top]


def test_the_best_scenes_are_those_of_trying_all() -> None:
    torch.manual_seed(0)
    log_probability = torch.randn(3, 5, 4).double().log_softmax(-1)
    choice, score = most_probable_scenes(log_probability, torch.ones(3, 5, dtype=torch.bool), 6)
    for b in range(3):
        want = torch.tensor(brute_force(log_probability[b], 6)).double()
        torch.testing.assert_close(score[b], want)
        chosen = log_probability[b].gather(1, choice[b].T).sum(0)
        torch.testing.assert_close(chosen, want)
        assert len({tuple(way) for way in choice[b].tolist()}) == 6


def test_agents_that_do_not_count_always_take_their_most_probable_mode() -> None:
    log_probability = torch.tensor([[[0.5, 0.5], [0.6, 0.4], [0.1, 0.9]]]).log()
    counts = torch.tensor([[False, True, False]])
    choice, score = most_probable_scenes(log_probability, counts, 2)
    assert choice.tolist() == [[[0, 0, 1], [0, 1, 1]]]
    torch.testing.assert_close(score.exp(), torch.tensor([[0.6, 0.4]]))


def test_where_there_are_fewer_ways_the_rest_is_impossible() -> None:
    log_probability = torch.tensor([[[0.7, 0.3]]]).log()
    choice, score = most_probable_scenes(log_probability, torch.ones(1, 1, dtype=torch.bool), 4)
    torch.testing.assert_close(score.exp(), torch.tensor([[0.7, 0.3, 0.0, 0.0]]))
    assert choice.shape == (1, 4, 1) and int(choice.max()) <= 1


def test_a_scene_without_anybody_that_counts_has_one_way() -> None:
    log_probability = torch.zeros(1, 3, 2).log_softmax(-1)
    choice, score = most_probable_scenes(log_probability, torch.zeros(1, 3, dtype=torch.bool), 3)
    assert score.exp().tolist() == [[1.0, 0.0, 0.0]]
    assert choice[0, 0].tolist() == [0, 0, 0]


def test_many_agents_need_no_more_than_the_best_of_their_groups() -> None:
    torch.manual_seed(1)
    log_probability = torch.randn(2, 63, 6).log_softmax(-1)
    choice, score = most_probable_scenes(log_probability, torch.rand(2, 63) < 0.5, 6)
    assert choice.shape == (2, 6, 63)
    assert (score.diff(dim=-1) <= 0).all()
