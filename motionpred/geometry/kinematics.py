"""Velocity and heading derived from positions, from past and present steps only.

A centred difference would carry the next step into the present one: a leak of the future.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.geometry.angles import wrap

Array = npt.NDArray[Any]

# Below it the direction of a displacement is that of the noise of the positions: standing agents
# are recorded to a centimetre or so, which at 10 Hz is this much.
LEAST_SPEED = 0.1  # m/s


def backward_velocity(position: Array, time: Array, valid: Array) -> tuple[Array, Array]:
    """Velocity ``[A, T, 2]`` in m/s and where there is one ``[A, T]``.

    ``position`` ``[A, T, 2+]`` metres, ``time`` ``[T]`` recorded seconds, ``valid`` ``[A, T]``. The
    velocity at a step is the displacement from the step before it over the recorded interval; it
    exists only where both are valid, and is 0 elsewhere.
    """
    velocity = np.zeros((*valid.shape, 2))
    known = np.zeros_like(valid)
    known[:, 1:] = valid[:, 1:] & valid[:, :-1]
    step = np.diff(position[..., :2], axis=1)
    np.divide(step, np.diff(time)[None, :, None], out=velocity[:, 1:], where=known[:, 1:, None])
    return velocity, known


def backward_heading(velocity: Array, known: Array, valid: Array) -> tuple[Array, Array]:
    """Heading ``[A, T]`` in radians and where there is one ``[A, T]``, from velocities up to then.

    ``velocity`` ``[A, T, 2]`` m/s and ``known`` ``[A, T]`` as :func:`backward_velocity` gives them
    (over recorded intervals), ``valid`` ``[A, T]``. The heading at a valid step is the direction of
    the latest known velocity above ``LEAST_SPEED``, also across a gap; before the first such
    velocity there is none, and it is 0.
    """
    moving = known & (np.hypot(velocity[..., 0], velocity[..., 1]) > LEAST_SPEED)
    latest = np.maximum.accumulate(np.where(moving, np.arange(valid.shape[1]), -1), axis=1)
    directed = valid & (latest >= 0)
    angle = wrap(np.arctan2(velocity[..., 1], velocity[..., 0]))
    heading = np.take_along_axis(angle, np.maximum(latest, 0), axis=1)
    return np.where(directed, heading, 0.0), directed


def last_valid(valid: Array) -> Array:
    """Index of the last valid step along the last axis, -1 where there is none."""
    steps = valid.shape[-1]
    if steps == 0:
        return np.full(valid.shape[:-1], -1)
    found = steps - 1 - np.argmax(valid[..., ::-1], axis=-1)
    return np.where(valid.any(axis=-1), found, -1)
