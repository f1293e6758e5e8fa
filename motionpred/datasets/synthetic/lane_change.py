"""Lane changes: a wish that comes at random, more often behind a slow leader, if there is room."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.fleet import Fleet
from motionpred.datasets.synthetic.network import Network

Array = npt.NDArray[Any]

_END = 28.0  # metres before the end of a lane within which nobody changes
_START = 8.0


def change_lanes(
    fleet: Fleet, network: Network, gap: Array, wanted: Array, number: Array, dt: float
) -> None:
    """Begin lane changes; ``number`` ``[n]`` are uniform draws, ``gap`` is the free distance."""
    left, right = network.left[fleet.segment], network.right[fleet.segment]
    rest = network.length[fleet.segment] - fleet.along
    slowed = (gap < 25.0) & (fleet.speed < 0.75 * wanted)
    rate = fleet.restless * np.where(slowed, 3.0, 1.0) * dt
    wishes = (number < rate) & (rest > _END) & (fleet.along > _START) & (fleet.speed > 2.0)
    who = np.flatnonzero(wishes & (fleet.changing == 0) & ((left >= 0) | (right >= 0)))
    if not len(who):
        return
    # The rest of the same draw decides between the sides.
    goes_left = (number[who] < 0.5 * rate[who]) & (left[who] >= 0) | (right[who] < 0)
    target = np.where(goes_left, left[who], right[who])
    there = (fleet.segment[None] == target[:, None]) | (fleet.before[None] == target[:, None])
    apart = fleet.along[None] - fleet.along[who, None]
    free = np.abs(apart) - (fleet.length[None] + fleet.length[who, None]) / 2
    closing = np.where(
        apart > 0,
        fleet.speed[who, None] - fleet.speed[None],
        fleet.speed[None] - fleet.speed[who, None],
    )
    needed = 3.0 + 0.4 * fleet.speed[who, None] + 2.0 * np.maximum(closing, 0.0)
    safe = ~(there & (free < needed)).any(axis=1)
    first = np.zeros(len(who), bool)
    first[np.unique(target, return_index=True)[1]] = True  # one a lane and step
    who, target = who[safe & first], target[safe & first]
    if not len(who):
        return
    source = fleet.segment[who]
    here, _ = network.pose(source, fleet.along[who])
    along = fleet.along[who] * network.length[target] / network.length[source]
    for _ in range(3):  # to the place beside, also in a bend
        there_point, tangent = network.pose(target, along)
        offset = here - there_point
        along = along + tangent[:, 0] * offset[:, 0] + tangent[:, 1] * offset[:, 1]
    fleet.along[who] = along
    fleet.shift[who] = tangent[:, 0] * offset[:, 1] - tangent[:, 1] * offset[:, 0]
    fleet.changing[who] = 1.0
    fleet.before[who], fleet.segment[who] = source, target
    fleet.following[who] = -1
    fleet.next_ticket[who] = np.inf
