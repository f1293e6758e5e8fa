"""Who is about: drivers and riders with their habits, people on foot, parked cars.

N vehicles that move (or wait), Q pedestrians, D standing things. Metres, seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.arms import PARKING, Arm
from motionpred.datasets.synthetic.draws import Draws
from motionpred.datasets.synthetic.layouts import Layout
from motionpred.scene import AgentType

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Drivers:
    """Vehicles in the order in which they come; the first ones are there from the beginning."""

    type: Array  # [N] AgentType
    size: Array  # [N, 3] length, width, height
    start: Array  # [N] seconds after the beginning
    segment: Array  # [N] where they come into being
    along: Array  # [N] metres on that segment
    pace: Array  # [N] share of the limit that they like
    headway: Array  # [N] seconds behind another
    standstill: Array  # [N] metres behind a standing one
    push: Array  # [N] m/s2, acceleration
    comfort: Array  # [N] m/s2, braking
    gap: Array  # [N] seconds of margin that they want before they cut in
    restless: Array  # [N] lane changes a second
    sideways: Array  # [N] metres to the left of the middle of the lane

    def __len__(self) -> int:
        return len(self.type)


@dataclass(frozen=True)
class Walkers:
    """People on foot."""

    start: Array  # [Q]
    segment: Array  # [Q]
    along: Array  # [Q]
    pace: Array  # [Q] m/s
    sideways: Array  # [Q] metres to the left of the path
    size: Array  # [Q, 3]


@dataclass(frozen=True)
class Parked:
    """Cars that never move, and people who stand."""

    type: Array  # [D]
    position: Array  # [D, 2]
    direction: Array  # [D, 2] unit vectors
    size: Array  # [D, 3]


# type: share, length, spread of length, width, height
_VEHICLES = {
    AgentType.VEHICLE: (0.88, 4.6, 0.32, 1.88, 1.65),
    AgentType.BUS: (0.025, 11.8, 0.5, 2.55, 3.2),
    AgentType.MOTORCYCLIST: (0.02, 2.2, 0.1, 0.8, 1.5),
    AgentType.CYCLIST: (0.075, 1.8, 0.08, 0.65, 1.7),
}


def draw_drivers(draws: Draws, layout: Layout, seconds: float) -> Drivers:
    """Vehicles on the roads at the beginning, and arrivals at the outer ends until ``seconds``."""
    network = layout.network
    start, segment, along = [], [], []
    for lane in layout.lanes:
        length = float(network.length[lane.segment])
        mean = 14.0 + 0.55 * float(network.limit[lane.segment]) / max(layout.demand, 0.02) ** 0.5
        place = draws.number(4.0, mean)
        while place < length - 4.0:
            start.append(0.0)
            segment.append(lane.segment)
            along.append(place)
            place += 12.0 + draws.number(0.0, 2.0 * mean)
    for lane in layout.lanes:
        if not lane.inbound:
            continue
        rate = layout.demand * draws.number(0.4, 1.6)
        time = draws.number(0.0, 2.0 / rate)
        while time < seconds:
            start.append(time)
            segment.append(lane.segment)
            along.append(0.0)
            time += 1.5 + draws.number(0.0, 2.0 / rate)
    count = len(start)
    order = np.argsort(np.array(start), kind="stable")
    kinds = np.array(list(_VEHICLES), np.int8)
    share = np.cumsum([row[0] for row in _VEHICLES.values()])
    row = np.minimum(np.searchsorted(share, draws.table(count)), len(kinds) - 1)
    numbers = np.array([values[1:] for values in _VEHICLES.values()])[row]
    size = np.stack([numbers[:, 0], numbers[:, 2], numbers[:, 3]], axis=-1)
    size[:, 0] += numbers[:, 1] * draws.bell(count)
    size[:, 1:] *= 1.0 + 0.04 * draws.bell(count, 2)
    slow = kinds[row] == AgentType.CYCLIST
    pace = 0.95 + 0.13 * draws.bell(count)
    pace[slow] *= 0.42
    return Drivers(
        type=kinds[row],
        size=np.round(size, 2),
        start=np.array(start)[order],
        segment=np.array(segment, np.int64)[order],
        along=np.array(along)[order],
        pace=pace,
        headway=draws.between(0.7, 1.9, count),
        standstill=draws.between(1.2, 3.0, count),
        push=draws.between(1.3, 2.8, count),
        comfort=draws.between(1.5, 2.8, count),
        gap=draws.between(0.2, 2.6, count),
        restless=np.where(slow, 0.0, draws.between(0.0, 0.10, count)),
        sideways=np.where(slow, -1.0, 0.0) + 0.16 * draws.bell(count),
    )


def draw_walkers(draws: Draws, layout: Layout, seconds: float) -> Walkers:
    """People on the pavements at the beginning and arrivals; none beside fast roads."""
    ways = layout.walkways
    length = ways.network.length
    if layout.kind == "merge":
        busy = 0.0
    else:
        busy = draws.choose((0.0, 0.5, 1.0, 2.5), (2, 3, 3, 1.3))
    there = round(busy * draws.number(3.0, 9.0))
    later = round(busy * draws.number(1.0, 5.0))
    there_segment = (draws.table(there) * len(length)).astype(np.int64)
    # Most of them are near the junction: that is where people are met.
    later_segment = ways.entries[(draws.table(later) * len(ways.entries)).astype(np.int64)]
    segment = np.concatenate([there_segment, later_segment])
    reach = np.minimum(length[segment], 70.0)
    along = draws.table(len(segment)) * reach
    inwards = np.isin(segment, ways.entries)
    along = np.where(inwards, length[segment] - along, along)
    count = len(segment)
    return Walkers(
        start=np.concatenate([np.zeros(there), draws.between(0.0, seconds, later)]),
        segment=segment,
        along=along,
        pace=np.clip(1.2 + 0.3 * draws.bell(count), 0.5, 2.6),
        sideways=0.5 * draws.bell(count),
        size=np.round(
            np.array([0.7, 0.7, 1.72]) * (1.0 + 0.08 * draws.bell(count, 3)),
            2,
        ),
    )


def draw_parked(draws: Draws, layout: Layout) -> Parked:
    """Cars along the kerbs, in rows off the road, and a few people who stand."""
    position: list[Array] = [np.zeros((0, 2))]
    direction: list[Array] = [np.zeros((0, 2))]
    full = draws.number(0.25, 0.95)
    for arm in layout.arms:
        for side, strip in zip((-1, 1), arm.parking, strict=True):
            if strip:
                _park_along(draws, arm, side, full, position, direction)
        if draws.chance(0.3):
            _park_row(draws, arm, position, direction)
    cars = sum(map(len, position))
    standing = _standing(draws, layout)
    count = cars + len(standing)
    size = np.empty((count, 3))
    size[:cars] = np.array([4.6, 1.88, 1.65]) * (1.0 + 0.05 * draws.bell(cars, 3))
    size[cars:] = np.array([0.7, 0.7, 1.7]) * (1.0 + 0.06 * draws.bell(count - cars, 3))
    angle = draws.table(count - cars) * 2.0 - 1.0
    facing = np.stack([angle, np.sqrt(1.0 - angle**2)], axis=-1)
    return Parked(
        type=np.repeat([AgentType.VEHICLE, AgentType.PEDESTRIAN], [cars, count - cars]).astype(
            np.int8
        ),
        position=np.concatenate([*position, standing]),
        direction=np.concatenate([*direction, facing]),
        size=np.round(size, 2),
    )


def _park_along(
    draws: Draws, arm: Arm, side: int, full: float, position: list[Array], direction: list[Array]
) -> None:
    """Cars in the strip beyond the outer lane, none near the junction."""
    edge = arm.lanes_right if side < 0 else arm.lanes_left
    line = arm.offset_line(edge + side * PARKING / 2)
    places = np.arange(14.0 + draws.number(0.0, 6.0), 85.0, draws.number(5.9, 7.0))
    places = places[draws.table(len(places)) < full]
    places = places + draws.between(-0.3, 0.3, len(places))
    position.append(
        _along(line, places)
        + side * draws.between(-0.15, 0.2, len(places))[:, None] * _along(arm.normal, places)
    )
    normal = _along(arm.normal, places)
    outward = np.stack([normal[:, 1], -normal[:, 0]], axis=-1)
    tilt = 0.02 * draws.bell(len(places))[:, None]
    facing = outward * -side + normal * tilt
    direction.append(facing / np.sqrt((facing**2).sum(axis=1))[:, None])


def _park_row(draws: Draws, arm: Arm, position: list[Array], direction: list[Array]) -> None:
    """Cars side by side on a lot beyond the pavement."""
    side = draws.choose((-1, 1), (1, 1))
    edge = arm.kerb_right if side < 0 else arm.kerb_left
    line = arm.offset_line(edge + side * draws.number(7.5, 14.0))
    start = draws.number(20.0, 45.0)
    places = start + draws.number(2.6, 3.0) * np.arange(draws.integer(4, 11))
    places = places[draws.table(len(places)) < 0.75]
    normal = _along(arm.normal, places)
    position.append(_along(line, places) + draws.between(-0.4, 0.4, len(places))[:, None] * normal)
    facing = np.where(draws.table(len(places)) < 0.5, 1.0, -1.0)[:, None]
    direction.append(normal * facing)


def _standing(draws: Draws, layout: Layout) -> Array:
    """People who wait somewhere on a pavement."""
    groups = [] if layout.kind == "merge" else range(draws.integer(0, 2))
    found = [np.zeros((0, 2))]
    for _ in groups:
        arm = draws.choose(layout.arms, [1.0] * len(layout.arms))
        edge = arm.kerb_right - 1.0 if draws.chance(0.5) else arm.kerb_left + 1.0
        place = np.array([draws.number(2.0, 40.0)])
        people = draws.integer(1, 2)
        spread = np.stack([np.arange(people) * 0.8, draws.between(-0.3, 0.3, people)], axis=-1)
        found.append(_along(arm.offset_line(edge), place) + spread)
    return np.concatenate(found)


def _along(values: Array, place: Array) -> Array:
    """Rows of a reference line's array at ``place`` metres from the mouth."""
    at = place / 2.0
    whole = np.clip(at.astype(np.int64), 0, len(values) - 2)
    part = (at - whole)[:, None]
    return np.asarray(values[whole] * (1.0 - part) + values[whole + 1] * part)


def take(drivers: Drivers, index: Array) -> dict[str, Array]:
    """The columns of some drivers by name."""
    return {item.name: getattr(drivers, item.name)[index] for item in fields(drivers)}
