"""Recordings along paths as states in the plane. A agents, T steps; local frame, metres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.network import Network
from motionpred.datasets.synthetic.population import Drivers, Walkers
from motionpred.datasets.synthetic.simulate import Recording
from motionpred.datasets.synthetic.standing import Standing
from motionpred.scene import AgentType

Array = npt.NDArray[Any]

_FOLLOW = 0.3  # share of the way that a walking person's body turns towards its path in a step
_FOLLOW_ASIDE = 0.1  # share of the way to the side of the path on which they walk


@dataclass(frozen=True)
class States:
    """Everybody's true states."""

    type: Array  # [A] int8, AgentType
    size: Array  # [A, 3]
    present: Array  # [A, T] bool
    position: Array  # [A, T, 2]
    direction: Array  # [A, T, 2] unit vectors of the heading
    velocity: Array  # [A, T, 2] m/s

    def __len__(self) -> int:
        return len(self.type)


def vehicle_states(recording: Recording, network: Network, drivers: Drivers) -> States:
    """States of the vehicles."""
    point, tangent = network.pose(recording.segment, recording.along)
    normal = _left(tangent)
    velocity = recording.speed[..., None] * tangent + recording.drifting[..., None] * normal
    # A car that drifts to the side points where it goes, as far as its speed allows.
    slant = recording.drifting / np.maximum(recording.speed, 3.0)
    return States(
        type=drivers.type,
        size=drivers.size,
        present=recording.present,
        position=point + recording.sideways[..., None] * normal,
        direction=_unit(tangent + slant[..., None] * normal),
        velocity=velocity,
    )


def people_states(recording: Recording, network: Network, walkers: Walkers) -> States:
    """States of people on foot; they cut corners a little, as people do."""
    point, tangent = network.pose(recording.segment, recording.along)
    aside = recording.sideways[..., None] * _left(tangent)
    place, direction = point.copy(), tangent.copy()
    for step in range(1, place.shape[1]):
        known = recording.present[:, step - 1][:, None]
        share = np.where(known, _FOLLOW, 1.0)
        slowly = np.where(known, _FOLLOW_ASIDE, 1.0)
        ahead = recording.speed[:, step, None] * 0.1 * (1.0 - share) / share * tangent[:, step]
        # Without the term ahead, a body that follows its path would lag behind it.
        place[:, step] = share * (place[:, step] + ahead) + (1.0 - share) * place[:, step - 1]
        aside[:, step] = slowly * aside[:, step] + (1.0 - slowly) * aside[:, step - 1]
        direction[:, step] = share * tangent[:, step] + (1.0 - share) * direction[:, step - 1]
    place = place + aside
    velocity = recording.speed[..., None] * tangent
    known = recording.present[:, :-1, None]
    velocity[:, 1:] = np.where(known, (place[:, 1:] - place[:, :-1]) * 10.0, velocity[:, 1:])
    return States(
        type=np.full(len(walkers.start), AgentType.PEDESTRIAN, np.int8),
        size=walkers.size,
        present=recording.present,
        position=place,
        direction=_unit(direction),
        velocity=velocity,
    )


def standing_states(standing: Standing, steps: int) -> States:
    """States of what stands all the time."""
    shape = (len(standing.type), steps)
    return States(
        type=standing.type,
        size=standing.size,
        present=np.ones(shape, bool),
        position=np.broadcast_to(standing.position[:, None], (*shape, 2)),
        direction=np.broadcast_to(standing.direction[:, None], (*shape, 2)),
        velocity=np.zeros((*shape, 2)),
    )


def join(*groups: States) -> States:
    """All agents of several groups."""
    names = ("type", "size", "present", "position", "direction", "velocity")
    return States(*(np.concatenate([getattr(group, name) for group in groups]) for name in names))


def _left(direction: Array) -> Array:
    return np.stack([-direction[..., 1], direction[..., 0]], axis=-1)


def _unit(vector: Array) -> Array:
    norm = np.sqrt(vector[..., 0] ** 2 + vector[..., 1] ** 2)
    return np.asarray(vector / np.maximum(norm, 1e-9)[..., None])
