"""Drivers: they keep their distance, stop where they must, and halt and drive on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.datasets.synthetic.arms import make_arm
from motionpred.datasets.synthetic.draws import Draws
from motionpred.datasets.synthetic.layouts import STRAIGHT, LayoutBuilder
from motionpred.datasets.synthetic.population import INBOUND, draw_drivers, draw_walkers
from motionpred.datasets.synthetic.signals import draw_plan
from motionpred.datasets.synthetic.simulate import WARM_UP, Numbers, Traffic

LIMIT = 10.0


@pytest.fixture(scope="module")
def road():
    """One lane from the west to the east."""
    arms = [
        make_arm(
            angle, 5.0, [], lanes=lanes, width=3.5, median=0.0, limit=LIMIT,
            parking=(False, False), crosswalk=False,
        )
        for angle, lanes in ((0.0, (0, 1)), (np.pi, (1, 0)))
    ]  # fmt: skip
    builder = LayoutBuilder("merge", arms)  # a kind without people and without halts
    builder.join((1, 0), (0, 0), LIMIT, STRAIGHT)
    return builder.finish()


def drive(road, along, **habits):
    """Cars at ``along`` metres of the lane at the beginning, the first one ahead."""
    count = len(along)
    drivers = draw_drivers(Draws(1), road, 500.0)
    drivers = replace(
        drivers,
        **{name: getattr(drivers, name)[:count].copy() for name in drivers.__dataclass_fields__},
    )
    lane = next(lane.segment for lane in road.lanes if lane.inbound)
    fixed = {
        "start": 0.0, "segment": lane, "along": along, "pace": 1.0, "halt_side": 0.0,
        "halt_seconds": 5.0, "size": (4.6, 1.9, 1.7), "standstill": 2.0, "headway": 1.2,
    } | habits  # fmt: skip
    for name, value in fixed.items():
        getattr(drivers, name)[:] = value
    steps = 100
    walkers = draw_walkers(Draws(1), road, 1.0)
    plan = draw_plan(Draws(1), 0, WARM_UP + steps, 0.2)
    calm = np.full((WARM_UP + steps, count, 5), 0.5)
    traffic = Traffic(road, drivers, walkers, plan, Numbers(calm, np.zeros((len(calm), 0, 4))))
    return traffic, np.array(along)


def follow(traffic, seconds):
    """Place on the lane (metres from its start) and speed of every car, every 0.2 s."""
    places, speeds = [], []
    length = traffic.layout.network.length[traffic.drivers.segment[0]]
    for step in range(round(seconds / 0.2)):
        traffic._control(step)
        traffic._advance(0.2)
        beyond = traffic.fleet.segment != traffic.drivers.segment[0]
        places.append(traffic.fleet.along + beyond * length)
        speeds.append(traffic.fleet.speed)
    return np.array(places), np.array(speeds)


def test_a_driver_alone_reaches_the_limit(road):
    traffic, _ = drive(road, [5.0])
    _, speed = follow(traffic, 8.0)
    assert speed[-1, 0] == pytest.approx(LIMIT, rel=0.1)


def test_a_follower_keeps_its_distance(road):
    traffic, _ = drive(road, [40.0, 20.0])
    place, speed = follow(traffic, 6.0)
    gap = place[:, 0] - place[:, 1] - 4.6
    assert gap.min() > 2.0
    assert speed[-1, 1] < speed[-1, 0] + 0.5


def test_who_halts_stops_there_and_drives_on(road):
    traffic, _ = drive(road, [5.0], halt_side=INBOUND, halt_at=60.0)
    place, speed = follow(traffic, 24.0)
    stands = speed[:, 0] < 0.1
    assert 4.0 < stands.sum() * 0.2 < 9.0
    np.testing.assert_allclose(place[stands, 0], 60.0, atol=2.5)
    assert speed[-1, 0] > 3.0


def test_those_behind_must_wait_and_touch_nobody(road):
    traffic, _ = drive(road, [40.0, 25.0], halt_side=[INBOUND, 0.0], halt_at=70.0)
    place, speed = follow(traffic, 11.0)
    assert speed[:, 1].min() < 0.2
    assert (place[:, 0] - place[:, 1] - 4.6).min() > 0.5
