"""What the recording car sees of everybody, and how exactly. A agents, T steps.

Everything here uses past and present steps only: what is seen at a step never depends on later
ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.draws import Draws
from motionpred.datasets.synthetic.states import States
from motionpred.scene import AgentType

Array = npt.NDArray[Any]

_EVERY = 5  # steps between two looks at who hides whom
_OPAQUE = 0.42  # share of a vehicle's outline that hides what is behind
_MOVING = 0.3  # part of that share for what moves
_CONFIRM = 3  # steps for which a tracker watches something before it reports it
_LOSE = 15  # steps after which a tracker forgets; what comes back later is new to it
_DROPS = 0.10  # share of agents with a drop-out


def visible(draws: Draws, states: States, ego: int) -> Array:
    """Where the recording car's tracker has a state ``[A, T]``."""
    agents, steps = states.present.shape
    small = states.type == AgentType.PEDESTRIAN
    reach = np.where(small, draws.between(32.0, 60.0, agents), draws.between(68.0, 118.0, agents))
    offset = states.position - states.position[ego]
    distance = np.sqrt(offset[..., 0] ** 2 + offset[..., 1] ** 2)
    seen = states.present & (distance < reach[:, None])
    seen &= ~_hidden(draws, states, offset, distance)
    seen &= ~_dropped(draws, agents, steps)
    # Steps since the state came into sight; what is there at the first step was known before.
    step = np.arange(steps)
    blind = np.where(seen, -1, step)
    since = step - np.maximum.accumulate(blind, axis=1)
    known = (np.maximum.accumulate(blind, axis=1) < 0) | (since > _CONFIRM)
    seen &= known
    seen[ego] = states.present[ego]
    return np.asarray(seen)


def _hidden(draws: Draws, states: States, offset: Array, distance: Array) -> Array:
    """Where a vehicle stands on the line from the recording car to an agent."""
    agents, steps = states.present.shape
    looks = np.arange(0, steps, _EVERY)
    walls = np.flatnonzero(
        ((states.type == AgentType.VEHICLE) | (states.type == AgentType.BUS))
        & states.present[:, looks].any(axis=1)
    )
    far = distance[:, looks]
    sight = offset[:, looks] / np.maximum(far, 1.0)[..., None]
    place, facing = offset[walls][:, looks], states.direction[walls][:, looks]
    one, other = sight[:, None], place[None]
    along = one[..., 0] * other[..., 0] + one[..., 1] * other[..., 1]
    beside = np.abs(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])
    slant = np.abs(one[..., 0] * facing[None, ..., 1] - one[..., 1] * facing[None, ..., 0])
    outline = (states.size[walls, 0, None] * slant + states.size[walls, 1, None]) / 2
    opaque = np.where(states.type[walls] == AgentType.BUS, 1.2, _OPAQUE)[:, None]
    # A tracker knows where to look for what moves.
    speed = np.sqrt((states.velocity[:, looks] ** 2).sum(axis=-1))
    outline = outline * np.where(speed > 1.0, _MOVING, 1.0)[:, None]
    between = (along > 2.5) & (along < far[:, None] - 2.0) & (beside < outline * opaque)
    hidden = np.asarray((between & states.present[walls][:, looks][None]).any(axis=1))
    # A tracker bridges a short look away.
    hidden[:, 1:] &= hidden[:, :-1].copy()
    delayed = np.repeat(hidden, _EVERY, axis=1)[:, :steps]
    # Looks are not taken at the same moment for everybody.
    delay = (draws.table(agents) * _EVERY).astype(np.int64)
    step = np.maximum(np.arange(steps)[None] - delay[:, None], 0)
    return np.asarray(np.take_along_axis(delayed, step, axis=1))


def _dropped(draws: Draws, agents: int, steps: int) -> Array:
    """Short drop-outs at random."""
    numbers = draws.table(agents, 3)
    start = (numbers[:, 0] * steps).astype(np.int64)
    length = 1 + (numbers[:, 1] ** 2 * 12).astype(np.int64)
    step = np.arange(steps)
    drops = (step >= start[:, None]) & (step < (start + length)[:, None])
    return np.asarray(drops & (numbers[:, 2] < _DROPS)[:, None])


def fragments(seen: Array) -> Array:
    """Number of the track ``[A, T]`` that each state of an agent belongs to, from 0."""
    steps = seen.shape[1]
    step = np.arange(steps)
    last = np.maximum.accumulate(np.where(seen, step, -1), axis=1)
    before = np.concatenate([np.full((len(seen), 1), -1), last[:, :-1]], axis=1)
    lost = seen & (before >= 0) & (step - before > _LOSE)
    return np.asarray(np.cumsum(lost, axis=1))


def blurred(draws: Draws, states: States, ego: int) -> tuple[Array, Array, Array]:
    """Position ``[A, T, 2]``, heading ``[A, T]`` and velocity ``[A, T, 2]`` as measured."""
    agents, steps = states.present.shape
    noise = draws.bell(5, agents, steps)
    exact = np.ones(agents)
    exact[ego] = 0.25
    small = (states.type == AgentType.PEDESTRIAN) | (states.type == AgentType.CYCLIST)
    position = exact * np.where(small, 0.012, 0.025)
    heading = exact * np.where(small, 0.03, 0.006)
    place = states.position + np.moveaxis(noise[:2], 0, -1) * position[:, None, None]
    velocity = states.velocity + np.moveaxis(noise[2:4], 0, -1) * (exact * 0.04)[:, None, None]
    angle = np.arctan2(states.direction[..., 1], states.direction[..., 0])
    return place, angle + noise[4] * heading[:, None], velocity
