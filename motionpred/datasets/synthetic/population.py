"""Who is about: drivers and riders with their habits, and people on foot.

N vehicles, Q pedestrians. Metres, seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

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
    halt_side: Array  # [N] INBOUND or OUTBOUND: where on their way they halt for a while, else 0
    halt_at: Array  # [N] metres along the lane there
    halt_seconds: Array  # [N] for how long

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


INBOUND, OUTBOUND = 1.0, 2.0
_PLATOON = 0.5  # share of vehicles that come close behind another
# Who stops in the lane to deliver something or to let somebody out; everybody behind must wait.
_HALTS = {AgentType.VEHICLE: 0.13, AgentType.BUS: 0.5}

# type: share, length, spread of length, width, height
_VEHICLES = {
    AgentType.VEHICLE: (0.845, 4.6, 0.32, 1.88, 1.65),
    AgentType.BUS: (0.025, 11.8, 0.5, 2.55, 3.2),
    AgentType.MOTORCYCLIST: (0.02, 2.2, 0.1, 0.8, 1.5),
    AgentType.CYCLIST: (0.11, 1.8, 0.08, 0.65, 1.7),
}


def draw_drivers(draws: Draws, layout: Layout, seconds: float) -> Drivers:
    """Vehicles on the roads at the beginning, and arrivals at the outer ends until ``seconds``."""
    network = layout.network
    start, segment, along = [], [], []
    for lane in layout.lanes:
        length = float(network.length[lane.segment])
        mean = 10.0 + 0.45 * float(network.limit[lane.segment]) / max(layout.demand, 0.02) ** 0.5
        place = draws.number(4.0, mean)
        while place < length - 4.0:
            start.append(0.0)
            segment.append(lane.segment)
            along.append(place)
            close = draws.chance(_PLATOON)
            place += draws.number(9.0, 14.0) if close else 12.0 + draws.number(0.0, 4.0 * mean)
    for lane in layout.lanes:
        if not lane.inbound:
            continue
        rate = layout.demand * draws.number(0.4, 1.6)
        time = draws.number(0.0, 2.0 / rate)
        while time < seconds:
            start.append(time)
            segment.append(lane.segment)
            along.append(0.0)
            close = draws.chance(_PLATOON)
            time += draws.number(1.6, 3.0) if close else 1.5 + draws.number(0.0, 4.0 / rate)
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
    pace = 0.95 + 0.15 * draws.bell(count)
    pace[slow] *= 0.42
    share = np.zeros(count)
    if layout.kind != "merge":
        for kind, probability in _HALTS.items():
            share[kinds[row] == kind] = probability
    side = np.where(draws.table(count) < 0.6, INBOUND, OUTBOUND)
    halts = draws.table(count) < share
    return Drivers(
        type=kinds[row],
        size=np.round(size, 2),
        start=np.array(start)[order],
        segment=np.array(segment, np.int64)[order],
        along=np.array(along)[order],
        pace=pace,
        headway=draws.between(0.9, 2.3, count),
        standstill=draws.between(1.6, 4.0, count),
        push=draws.between(1.5, 3.2, count),
        comfort=draws.between(1.0, 2.1, count),
        gap=draws.between(0.2, 2.6, count),
        restless=np.where(slow, 0.0, draws.between(0.0, 0.10, count)),
        sideways=np.where(slow, -1.0, 0.0) + 0.16 * draws.bell(count),
        halt_side=np.where(halts, side, 0.0),
        halt_at=np.where(side == INBOUND, 45.0, 30.0) + draws.between(0.0, 50.0, count),
        halt_seconds=draws.between(6.0, 24.0, count),
    )


def draw_walkers(draws: Draws, layout: Layout, seconds: float) -> Walkers:
    """People on the pavements at the beginning and arrivals; none beside fast roads."""
    ways = layout.walkways
    length = ways.network.length
    if layout.kind == "merge":
        busy = 0.0
    else:
        busy = draws.choose((0.0, 0.6, 1.2, 2.5), (1.6, 3, 3, 1.5))
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
        sideways=0.45 * draws.bell(count),
        size=np.round(
            np.array([0.7, 0.7, 1.72]) * (1.0 + 0.08 * draws.bell(count, 3)),
            2,
        ),
    )
