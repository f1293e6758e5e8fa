"""How a driver follows others: the intelligent driver model (Treiber, Hennecke, Helbing, 2000).

Shapes: n vehicles. Metres, m/s, m/s2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.fleet import Fleet
from motionpred.datasets.synthetic.network import Network

Array = npt.NDArray[Any]

FAR = 1e6
HARDEST = 7.0  # m/s2, braking in an emergency
_SUDDEN, _EAGER = 2.4, 0.8  # m/s2 by which braking and driving may grow from decision to decision
_WALL_GAP = 0.7  # metres that a driver keeps from a stop line


def leaders(fleet: Fleet, network: Network) -> tuple[Array, Array, Array]:
    """Free distance ``[n]`` to the vehicle ahead, its index (-1), and whether on the same lane."""
    ahead, beyond = fleet.following, _only_successor(network, fleet.following)
    rest = network.length[fleet.segment] - fleet.along
    place = fleet.along[None]
    segment = fleet.segment[None]
    half = fleet.length / 2
    own = (segment == fleet.segment[:, None]) | (fleet.before[None] == fleet.segment[:, None])
    distance = np.where(own, place - fleet.along[:, None], FAR)
    distance[distance <= 0] = FAR  # behind, or itself
    same = distance.min(axis=1) < FAR
    further = np.where(segment == ahead[:, None], rest[:, None] + place, FAR)
    span = rest + network.length[np.maximum(ahead, 0)]
    last = np.where(segment == beyond[:, None], span[:, None] + place, FAR)
    distance = np.minimum(distance, np.minimum(further, last))
    index = distance.argmin(axis=1)
    nearest = distance[np.arange(len(fleet)), index]
    found = nearest < FAR
    gap = np.where(found, nearest - half - half[index], FAR)
    return gap, np.where(found, index, -1), same


def _only_successor(network: Network, segment: Array) -> Array:
    known = np.maximum(segment, 0)
    single = (segment >= 0) & (network.choices[known] == 1)
    return np.where(single, network.successor[known, 0], -3)


def pressure(fleet: Fleet, who: Array, gap: Array, speed: Array) -> Array:
    """How much vehicles ``who`` ``[m]`` are pressed to brake by something ``gap`` metres ahead.

    ``speed`` is that of the thing ahead. The squared ratio of wanted and free distance.
    """
    own = fleet.speed[who]
    root = np.sqrt(fleet.push[who] * fleet.comfort[who])
    dynamic = own * fleet.headway[who] + own * (own - speed) / (2.0 * root)
    wanted = fleet.standstill[who] + np.maximum(dynamic, 0.0)
    ratio = wanted / np.maximum(gap, 0.1)
    return np.asarray(ratio * ratio)


def wall_pressure(fleet: Fleet, who: Array, gap: Array) -> Array:
    """The same for a line at which to stop: no headway is kept from paint."""
    own = fleet.speed[who]
    root = np.sqrt(fleet.push[who] * fleet.comfort[who])
    wanted = _WALL_GAP + own * 0.3 + own * own / (2.0 * root)
    ratio = wanted / np.maximum(gap, 0.1)
    return np.asarray(ratio * ratio)


def wanted_speed(fleet: Fleet, network: Network) -> Array:
    """Speed ``[n]`` that each would drive alone: limits, bends ahead, habit and mood."""
    own = network.limit[fleet.segment]
    ahead = np.where(fleet.following >= 0, network.limit[fleet.following], 100.0)
    rest = np.maximum(network.length[fleet.segment] - fleet.along, 0.0)
    pace = fleet.pace * fleet.mood
    slowed = np.sqrt((ahead * pace) ** 2 + 2.4 * rest)
    return np.asarray(np.maximum(np.minimum(own * pace, slowed), 0.5))


def acceleration(fleet: Fleet, wanted: Array, pressed: Array) -> Array:
    """Acceleration ``[n]`` from the wanted speed and the greatest pressure."""
    ratio = fleet.speed / wanted
    square = ratio * ratio
    free = 1.0 - square * square
    # Too fast for a bend is a reason to brake gently, not in an emergency.
    free = np.maximum(free, -1.0 - 0.2 * fleet.speed / fleet.push)
    wish = np.clip(fleet.push * (free - pressed), -HARDEST, fleet.push)
    return np.asarray(np.clip(wish, fleet.acceleration - _SUDDEN, fleet.acceleration + _EAGER))
