"""The order of scenes: once per epoch, and a pure function of the step."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

from motionpred.training.order import SceneOrder, parts_of_step, steps_per_epoch


def order(step: int, *, scenes: int = 9, batch_size: int = 4, seed: int = 0) -> list[int]:
    return SceneOrder((scenes,), batch_size, seed).scenes(step).tolist()


@pytest.mark.parametrize("epoch", [0, 1, 7])
def test_each_scene_comes_once_per_epoch_and_the_last_step_is_the_rest(epoch: int) -> None:
    steps = [order(3 * epoch + i) for i in range(3)]

    assert [len(step) for step in steps] == [4, 4, 1]
    assert sorted(chain.from_iterable(steps)) == list(range(9))


def test_a_step_is_the_same_whatever_was_asked_before() -> None:
    forward = [order(step) for step in range(12)]
    backward = [order(step) for step in reversed(range(12))][::-1]

    assert forward == backward


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    epochs = [tuple(chain.from_iterable(order(3 * e + i) for i in range(3))) for e in range(4)]

    assert len(set(epochs)) == 4
    assert order(0, seed=1) != order(0, seed=2)


def test_a_batch_larger_than_the_set_is_the_whole_set() -> None:
    assert sorted(order(5, scenes=3, batch_size=16)) == [0, 1, 2]
    assert steps_per_epoch(3, 16) == 1


@pytest.mark.parametrize(("world", "parts"), [(1, 1), (1, 3), (2, 1), (2, 2), (5, 4)])
def test_devices_and_parts_share_a_step_without_loss_or_repetition(world: int, parts: int) -> None:
    chosen = np.array([7, 3, 5, 1])

    shares = [
        part
        for rank in range(world)
        for part in parts_of_step(chosen, rank=rank, world=world, parts=parts)
    ]

    assert sorted(np.concatenate(shares).tolist()) == [1, 3, 5, 7]
    assert all(len(share) for share in shares)


def mixed(counts: tuple[int, ...], weights: tuple[float, ...], epochs: int = 1) -> list[list[int]]:
    """Scenes of each epoch."""
    order = SceneOrder(counts, 4, 0, weights)
    steps = order.epoch_steps
    return [
        [int(i) for step in range(e * steps, (e + 1) * steps) for i in order.scenes(step)]
        for e in range(epochs)
    ]


def test_a_weight_says_how_often_an_epoch_sees_each_scene_of_a_store() -> None:
    (epoch,) = mixed((3, 2), (1.0, 3.0))

    assert sorted(epoch) == [0, 1, 2, 3, 3, 3, 4, 4, 4]


def test_a_weight_below_one_sees_the_rest_of_the_store_in_later_epochs() -> None:
    epochs = mixed((2, 8), (1.0, 0.25), epochs=8)

    assert [len(epoch) for epoch in epochs] == [4] * 8
    large = [[i for i in epoch if i >= 2] for epoch in epochs]
    assert sorted(chain.from_iterable(large[:4])) == list(range(2, 10))  # one pass
    assert sorted(chain.from_iterable(large[4:])) == list(range(2, 10))
    assert large[:4] != large[4:]


def test_weights_of_one_give_the_order_without_weights() -> None:
    plain = SceneOrder((3, 6), 4, 7)
    ones = SceneOrder((3, 6), 4, 7, (1.0, 1.0))

    for step in range(9):
        assert plain.scenes(step).tolist() == ones.scenes(step).tolist()
        assert plain.scenes(step).tolist() == order(step, seed=7)


def test_a_store_of_any_weight_is_seen() -> None:
    (epoch,) = mixed((5, 3), (1.0, 0.01))

    assert len(epoch) == 6
