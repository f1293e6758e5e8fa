"""The order of scenes: once per epoch, and a pure function of the step."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

from motionpred.training.order import parts_of_step, scenes_of_step, steps_per_epoch


def order(step: int, *, scenes: int = 9, batch_size: int = 4, seed: int = 0) -> list[int]:
    return scenes_of_step(step, scenes=scenes, batch_size=batch_size, seed=seed).tolist()


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
