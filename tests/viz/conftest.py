"""A forecast made by hand: six simple futures per scored agent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from motionpred.prediction import Prediction
from motionpred.scene import Role, Scene

PROBABILITY = np.array([0.30, 0.20, 0.15, 0.13, 0.12, 0.10])
_SPEED_AND_TURN = [(1.0, 0.0), (0.5, 0.0), (0.0, 0.0), (1.0, 0.15), (1.0, -0.15), (1.5, 0.0)]


def _fan(
    scene: Scene, *, joint: bool = True, source: str = "fan", steps: int = 60, seed: int = 0
) -> Prediction:
    tracks, now = scene.tracks, scene.now
    agent = np.flatnonzero(tracks.valid[:, now] & ((tracks.roles & Role.SCORED) != 0))
    time = scene.dt * np.arange(1, steps + 1)
    speed = np.hypot(*tracks.velocity[agent, now].T).astype(np.float64)
    heading = tracks.heading[agent, now].astype(np.float64)
    modes = []
    for factor, turn in _SPEED_AND_TURN:
        angle = heading[:, None] + turn * time
        step = factor * speed[:, None, None] * scene.dt
        moved = np.cumsum(step * np.stack([np.cos(angle), np.sin(angle)], -1), axis=1)
        modes.append(tracks.position[agent, now, None, :2] + moved)
    own = np.random.default_rng(seed).dirichlet(np.ones(6), len(agent))
    return Prediction(
        scene_id=scene.scene_id,
        track_id=tracks.track_id[agent],
        time=time,
        position=np.stack(modes),
        probability=PROBABILITY.copy() if joint else own,
        joint=joint,
        source=source,
    ).validate()


@pytest.fixture
def fan() -> Callable[..., Prediction]:
    """Constant speed and turn rate for every scored agent, by six factors."""
    return _fan


@pytest.fixture
def count_colors() -> Callable[[np.ndarray], int]:
    """How many different colours an image has, as read by matplotlib."""

    def count(image: np.ndarray) -> int:
        channels = np.round(image[..., :3] * 255).astype(np.int64)
        return len(np.unique(channels @ [1, 256, 65536]))

    return count
