"""What the recording car sees: nothing behind a bus, nothing far away, nothing from the future."""

from __future__ import annotations

import numpy as np

from motionpred.datasets.synthetic.draws import Draws
from motionpred.datasets.synthetic.sensing import blurred, fragments, visible
from motionpred.datasets.synthetic.states import States
from motionpred.scene import AgentType

STEPS = 60


def standing(positions, types):
    """Things that stand; the first is the recording car."""
    count = len(positions)
    size = {AgentType.BUS: (12.0, 2.6, 3.2)}
    place = np.repeat(np.array(positions, float)[:, None], STEPS, axis=1)
    return States(
        type=np.array(types, np.int8),
        size=np.array([size.get(kind, (4.6, 1.9, 1.7)) for kind in types]),
        present=np.ones((count, STEPS), bool),
        position=place,
        direction=np.broadcast_to([0.0, 1.0], (count, STEPS, 2)),
        velocity=np.zeros((count, STEPS, 2)),
    )


CARS = [AgentType.VEHICLE] * 3


def test_a_car_behind_a_bus_is_hidden_and_one_beside_it_is_not():
    positions = [(0, 0), (10, 0), (25, 0), (20, 30)]
    types = [AgentType.VEHICLE, AgentType.BUS, AgentType.VEHICLE, AgentType.VEHICLE]
    seen = visible(Draws(1), standing(positions, types), ego=0)
    assert not seen[2, 10:].any()
    assert seen[3].mean() > 0.7


def test_a_car_beyond_reach_is_not_seen():
    seen = visible(Draws(1), standing([(0, 0), (20, 0), (120, 0)], CARS), ego=0)
    assert seen[1].any()
    assert not seen[2].any()


def test_what_is_seen_does_not_depend_on_later_steps():
    states = standing([(0, 0), (20, 0), (30, 8)], CARS)
    moved = States(**{**states.__dict__, "position": states.position.copy()})
    moved.position[1:, 40:] += 300.0
    np.testing.assert_array_equal(
        visible(Draws(3), states, ego=0)[:, :40], visible(Draws(3), moved, ego=0)[:, :40]
    )


def test_a_state_is_reported_after_it_was_watched_for_some_steps():
    states = standing([(0, 0), (20, 0), (0, 20)], CARS)
    states.present[1, :20] = False
    seen = visible(Draws(2), states, ego=0)
    assert 22 <= seen[1].argmax() <= 26


def test_a_short_loss_is_a_gap_and_a_long_one_a_new_track():
    seen = np.ones((2, 50), bool)
    seen[0, 10:18] = False
    seen[1, 10:30] = False
    number = fragments(seen)
    assert number[0].max() == 0
    assert number[1, 9] == 0
    assert number[1, 30] == 1


def test_measured_positions_are_off_by_centimetres():
    states = standing([(0, 0), (20, 0), (0, 20)], CARS)
    position, heading, velocity = blurred(Draws(4), states, ego=0)
    error = np.abs(position - states.position)
    assert 0.001 < error[1:].mean() < 0.05
    assert error[0].mean() < error[1].mean()
    assert np.abs(heading - np.pi / 2).max() < 0.05
    assert np.abs(velocity).max() < 0.3
