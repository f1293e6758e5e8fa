"""The simulated traffic is sane: nobody drives through others or red lights, or jumps."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.datasets.synthetic.draws import Draws
from motionpred.datasets.synthetic.places import draw_layout
from motionpred.datasets.synthetic.population import draw_drivers, draw_walkers
from motionpred.datasets.synthetic.signals import draw_plan
from motionpred.datasets.synthetic.simulate import (
    CONTROL,
    PEOPLE_NUMBERS,
    VEHICLE_NUMBERS,
    WARM_UP,
    Numbers,
    Traffic,
)
from motionpred.datasets.synthetic.states import vehicle_states
from motionpred.geometry.boxes import corners, overlap
from motionpred.scene import AgentType, SignalState

STEPS = 110


@pytest.fixture(scope="module")
def places():
    """Layout, signal plan, recording and states of the vehicles of some places."""
    return [simulated(number) for number in range(16)]


def simulated(number, steps=STEPS, run=None):
    draws = Draws(5, number)
    layout = draw_layout(draws)
    controls = WARM_UP + (steps + 1) // 2
    drivers = draw_drivers(draws, layout, controls * CONTROL)
    walkers = draw_walkers(draws, layout, controls * CONTROL)
    plan = draw_plan(draws, layout.phases, controls, CONTROL)
    numbers = Numbers(
        Draws(5, number, 1).table(controls, len(drivers), VEHICLE_NUMBERS),
        Draws(5, number, 2).table(controls, len(walkers.start), PEOPLE_NUMBERS),
    )
    recording, _ = Traffic(layout, drivers, walkers, plan, numbers).run(run or steps)
    return layout, plan, recording, vehicle_states(recording, layout.network, drivers)


def test_boxes_of_vehicles_hardly_ever_meet(places):
    met = counted = 0
    for _, _, _, states in places:
        for step in range(0, STEPS, 5):
            here = states.present[:, step]
            heading = np.arctan2(*states.direction[here, step].T[::-1])
            # 10 cm are left to drivers who pass each other closely.
            box = corners(states.position[here, step], heading, states.size[here, :2] - 0.1)
            meets = overlap(box[:, None], box[None])
            np.fill_diagonal(meets, False)
            met += int(meets.any(axis=1).sum())
            counted += len(box)
    assert counted > 3000
    assert met / counted < 0.002


def test_nobody_enters_a_junction_at_red(places):
    entered = 0
    for layout, plan, recording, _ in places:
        if not plan.phases:
            continue
        segment, present = recording.segment, recording.present
        moves = present[:, 1:] & present[:, :-1] & (segment[:, 1:] != segment[:, :-1])
        for agent, step in np.argwhere(moves):
            phase = layout.light[segment[agent, step]]
            if phase >= 0 and layout.connector_of[segment[agent, step + 1]] >= 0:
                entered += 1
                state = plan.state[WARM_UP + (step + 1) // 2, phase]
                assert state != SignalState.STOP
    assert entered > 5


def test_positions_follow_velocities_without_jumps(places):
    for _, _, _, states in places:
        both = states.present[:, 1:] & states.present[:, :-1]
        moved = np.diff(states.position, axis=1) / 0.1
        expected = (states.velocity[:, 1:] + states.velocity[:, :-1]) / 2
        error = np.hypot(*np.moveaxis(moved - expected, -1, 0))
        assert error[both].max() < 1.5


def test_acceleration_stays_within_what_cars_can_do(places):
    for _, _, recording, _ in places:
        both = recording.present[:, 1:] & recording.present[:, :-1]
        change = np.diff(recording.speed, axis=1) / 0.1
        assert change[both].min() > -7.5
        assert change[both].max() < 3.5
        assert recording.speed[recording.present].max() < 30.0


def test_nobody_waits_for_ever():
    """Rules of the road leave no circle in which each waits for the next."""
    for number in range(5):
        layout, _, recording, states = simulated(number, steps=600)
        there = recording.present.all(axis=1) & (states.type != AgentType.CYCLIST)
        lit = layout.light[recording.segment[:, 0]] >= 0
        assert recording.speed[there & ~lit].max(axis=1, initial=0).min(initial=9) > 0.5


def test_a_run_that_stops_at_now_has_the_same_states():
    """Nothing up to a step depends on what comes after it."""
    for number in range(3):
        *_, whole = simulated(number)
        *_, cut = simulated(number, run=50)
        for name in ("present", "position", "direction", "velocity"):
            np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name)[:, :50])
