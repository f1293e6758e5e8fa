"""Tickets: who goes first where two paths cross, and what the other does."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.datasets.synthetic.arms import make_arm
from motionpred.datasets.synthetic.draws import Draws
from motionpred.datasets.synthetic.fleet import Fleet
from motionpred.datasets.synthetic.layouts import LayoutBuilder
from motionpred.datasets.synthetic.population import draw_drivers
from motionpred.datasets.synthetic.right_of_way import Negotiation, presences

LIMIT = 10.0


def crossing(rank_from_west):
    """Two one-way roads that cross; traffic from the west has ``rank_from_west``, else 0."""
    ways = {0.0: (0, 1), np.pi: (1, 0), np.pi / 2: (0, 1), -np.pi / 2: (1, 0)}
    arms = [
        make_arm(
            angle, 10.0, [], lanes=lanes, width=3.5, median=0.0, limit=LIMIT,
            parking=(False, False), crosswalk=False,
        )
        for angle, lanes in ways.items()
    ]  # fmt: skip
    builder = LayoutBuilder("crossing", arms)
    builder.join((1, 0), (0, 0), LIMIT, 0, rank=rank_from_west)
    builder.join((3, 0), (2, 0), LIMIT, 0)
    return builder.finish()


def two_cars(layout, before=(20.0, 20.0), speed=8.0):
    """One car from the west and one from the south, so many metres before their stop lines."""
    drivers = draw_drivers(Draws(1), layout, 1.0)
    fleet = Fleet.empty()
    fleet.add(drivers, np.array([0, 1]), np.full(2, speed))
    sources = np.array([path.source for path in layout.connectors])
    fleet.segment = sources
    fleet.following = layout.network.successor[sources, 0]
    fleet.along = layout.network.length[sources] - before
    fleet.length = np.full(2, 4.6)
    fleet.gap = np.full(2, 1.0)
    return fleet


def negotiate(layout, fleet, numbers):
    step = Negotiation(fleet, layout, presences(fleet, layout))
    step.hold_back(np.zeros(0, np.int8))
    step.draw_tickets(50.0, np.array([-1, -1]), np.array(numbers))
    pressed = np.zeros(2)
    step.press(pressed)
    return pressed


def test_among_equals_chance_decides_and_the_other_brakes():
    layout = crossing(rank_from_west=0)
    eager, reluctant = (0.1, 0.1), (0.9, 0.9)
    west_first = negotiate(layout, two_cars(layout), [eager, reluctant])
    south_first = negotiate(layout, two_cars(layout), [reluctant, eager])
    assert west_first[1] > 0.3 > west_first[0]
    assert south_first[0] > 0.3 > south_first[1]


def test_who_must_yield_gets_no_ticket_while_the_other_comes():
    layout = crossing(rank_from_west=1)
    fleet = two_cars(layout)
    pressed = negotiate(layout, fleet, [(0.5, 0.5), (0.5, 0.5)])
    assert np.isfinite(fleet.next_ticket).tolist() == [True, False]
    assert pressed[1] > 0.3 > pressed[0]


def test_who_must_yield_goes_through_a_gap():
    layout = crossing(rank_from_west=1)
    fleet = two_cars(layout, before=(100.0, 5.0))
    pressed = negotiate(layout, fleet, [(0.5, 0.5), (0.5, 0.5)])
    assert np.isfinite(fleet.next_ticket).all()
    np.testing.assert_array_less(pressed, 0.3)


@pytest.mark.parametrize(("number", "let_in"), [(0.05, True), (0.95, False)])
def test_a_courteous_driver_lets_somebody_in_who_waits(number, let_in):
    layout = crossing(rank_from_west=1)
    fleet = two_cars(layout, before=(28.0, 3.0))
    fleet.speed[1] = 0.0
    numbers = [(number, 0.5), (0.5, 0.5)]
    negotiate(layout, fleet, numbers)  # the one with the right of way decides
    pressed = negotiate(layout, fleet, numbers)
    assert np.isfinite(fleet.next_ticket[1]) == let_in
    assert (pressed[0] > 0.3) == let_in
