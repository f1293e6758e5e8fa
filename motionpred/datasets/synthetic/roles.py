"""Who a benchmark would ask about: one focal agent and a few others, all seen at every step."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.draws import Draws
from motionpred.scene import AgentType, Role

Array = npt.NDArray[Any]

MOST_SCORED = 6  # besides the focal agent
_NEAR = 60.0  # metres from the recording car, and from the focal agent
_COMES = 4.0  # how much likelier somebody who comes to the junction is the focal agent
_WEIGHT = {AgentType.PEDESTRIAN: 0.8, AgentType.CYCLIST: 0.8}


def assign_roles(
    draws: Draws, position: Array, valid: Array, kind: Array, now: int, ego: int, junction: Array
) -> Array:
    """Roles ``[A]`` of tracks ``[A, T]``: FOCAL prefers what does not go on as it did.

    So do those that come to the ``junction`` ``[2]``, whichever way they take there. Where no
    other track is complete and moves, the recording car itself is focal.
    """
    tracks = len(kind)
    complete = valid.all(axis=1)
    roles = np.where(complete, Role.UNSCORED, Role.FRAGMENT).astype(np.int16)
    roles[ego] = Role.EGO | Role.UNSCORED
    here, end = position[:, now], position[:, -1]
    ahead = position.shape[1] - 1 - now
    predicted = here + (here - position[:, now - 10]) * (ahead / 10.0)
    moved = _length(end - here)
    surprise = np.minimum(_length(end - predicted), 20.0)
    apart = _length(here - here[ego])
    others = complete.copy()
    others[ego] = False
    away = _length(position[:, now:] - junction)
    comes = (away[:, 0] > 8.0) & (away.min(axis=1) < np.minimum(away[:, 0] - 5.0, 20.0))
    weight = np.where(comes, _COMES, 1.0)
    for name, value in _WEIGHT.items():
        weight[kind == name] *= value
    score = weight * (2.0 + surprise) * (0.5 + draws.table(tracks))
    candidates = others & (moved > 2.0) & (apart < _NEAR)
    if candidates.any():
        focal = int(np.where(candidates, score, -1.0).argmax())
        roles[focal] = Role.FOCAL | Role.SCORED
    else:
        focal = ego
        roles[focal] |= Role.FOCAL | Role.SCORED
        roles[focal] &= ~Role.UNSCORED
    # Neighbours that move come first; a few that stand are asked about, too.
    near = _length(here - here[focal])
    rank = near * (0.6 + 0.8 * draws.table(tracks)) + np.where(moved > 1.0, 0.0, 45.0)
    rank -= np.where(comes, 35.0, 0.0)
    others[focal] = False
    order = np.argsort(np.where(others & (near < _NEAR), rank, np.inf), kind="stable")
    wanted = order[:MOST_SCORED]
    wanted = wanted[(others & (near < _NEAR))[wanted] & (rank[wanted] < 58.0)]
    roles[wanted] = Role.SCORED
    return roles


def _length(vector: Array) -> Array:
    return np.asarray(np.sqrt(vector[..., 0] ** 2 + vector[..., 1] ** 2))
