"""Velocity and heading derived from positions, from past and present steps only.

A centred difference would carry the next step into the present one: a leak of the future.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


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


def last_valid(valid: Array) -> Array:
    """Index of the last valid step along the last axis, -1 where there is none."""
    steps = valid.shape[-1]
    if steps == 0:
        return np.full(valid.shape[:-1], -1)
    found = steps - 1 - np.argmax(valid[..., ::-1], axis=-1)
    return np.where(valid.any(axis=-1), found, -1)
