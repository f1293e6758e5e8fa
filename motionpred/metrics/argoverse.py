"""Argoverse 2 metrics: pure functions that equal the publisher's package.

Source: ``av2.datasets.motion_forecasting.eval.metrics`` 0.3.6 for the values of modes and worlds,
the leaderboards' rules for the choice of the mode or world.
Shapes: M agents, K modes or worlds, N future steps. Metres, float64.

The package has no masks: give agents whose truth is complete.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from motionpred.metrics.displacement import (
    MISS_THRESHOLD,
    ade,
    brier_penalty,
    displacement,
    fde,
    missed,
    most_probable,
)

Array = npt.NDArray[Any]
Select = Literal["fde", "own"]

COLLISION_DISTANCE = 1.0  # metres between centres; strictly closer collides


def world_fde(position: Array, truth: Array) -> Array:
    """Mean over agents of the final displacement error: ``[K]``.

    ``position`` ``[M, K, N, 2]``, ``truth`` ``[M, N, 2]``.
    """
    return np.asarray(fde(displacement(position, truth[:, None])).mean(axis=0))


def world_ade(position: Array, truth: Array) -> Array:
    """Mean over agents of the average displacement error: ``[K]``."""
    return np.asarray(ade(displacement(position, truth[:, None])).mean(axis=0))


def world_misses(position: Array, truth: Array, threshold: float = MISS_THRESHOLD) -> Array:
    """Whether each agent is missed in each world: ``[M, K]`` bool."""
    return missed(fde(displacement(position, truth[:, None])), threshold)


def world_brier_fde(position: Array, truth: Array, probability: npt.ArrayLike) -> Array:
    """``world_fde`` plus ``(1 - p)**2`` of each world: ``[K]``; ``probability`` is ``[K]``."""
    return np.asarray(world_fde(position, truth) + brier_penalty(probability))


def world_collisions(position: Array, distance: float = COLLISION_DISTANCE) -> Array:
    """Whether an agent's centre comes closer than ``distance`` to another's: ``[M, K]`` bool.

    ``position`` ``[M, K, N, 2]``. Only predictions meet: the same step of the same world.
    """
    agents, worlds = position.shape[:2]
    collided = np.zeros((agents, worlds), bool)
    for i in range(agents - 1):
        gap = displacement(position[i + 1 :], position[i])
        near = (gap < distance).any(axis=-1)  # [M - i - 1, K]
        collided[i] |= near.any(axis=0)
        collided[i + 1 :] |= near
    return collided


def single_agent(
    position: Array, truth: Array, probability: Array, k: int, select: Select = "fde"
) -> dict[str, float]:
    """The single-agent figures of one focal track among its ``k`` most probable modes.

    ``position`` ``[K, N, 2]``, ``truth`` ``[N, 2]``, ``probability`` ``[K]``. The best mode is the
    one of least FDE (the first on a tie), for every figure; with ``select="own"`` minADE and the
    Brier figures take their own minimum. The probability is that among all modes; with ``k=1`` the
    most probable mode counts as certain.
    """
    order, probability = _ranked(probability, k)
    error = displacement(position[order], truth)
    ades, fdes = ade(error), fde(error)
    penalty = brier_penalty(probability)
    best = int(fdes.argmin())
    values = {
        "minADE": ades,
        "minFDE": fdes,
        "MR": missed(fdes),
        "brier-minFDE": fdes + penalty,
        "brier-minADE": ades + penalty,
    }
    own = ("minADE", "brier-minFDE", "brier-minADE") if select == "own" else ()
    return {
        name: float(value.min() if name in own else value[best]) for name, value in values.items()
    }


def multi_world(
    position: Array, truth: Array, probability: Array, k: int, select: Select = "fde"
) -> dict[str, Array]:
    """The multi-world figures of one scene among its ``k`` most probable worlds.

    ``position`` ``[M, K, N, 2]``, ``truth`` ``[M, N, 2]``, ``probability`` ``[K]``. One world, that
    of least mean FDE (the first on a tie), serves every figure; with ``select="own"`` avgMinADE and
    avgBrierMinFDE take their own minimum. Values of a scene are scalars; actorMR and actorCR
    are ``[M]`` bool, one entry an agent. With ``k=1`` the most probable world counts as certain.
    """
    order, probability = _ranked(probability, k)
    position = position[:, order]
    fdes = world_fde(position, truth)
    ades = world_ade(position, truth)
    briers = world_brier_fde(position, truth, probability)
    best = int(fdes.argmin())
    own = select == "own"
    return {
        "avgMinADE": ades.min() if own else ades[best],
        "avgMinFDE": fdes[best],
        "actorMR": world_misses(position, truth)[:, best],
        "actorCR": world_collisions(position[:, [best]])[:, 0],
        "avgBrierMinFDE": briers.min() if own else briers[best],
    }


def _ranked(probability: Array, k: int) -> tuple[Array, Array]:
    order = most_probable(probability, k)
    return order, np.ones(1) if k == 1 else probability[order]
