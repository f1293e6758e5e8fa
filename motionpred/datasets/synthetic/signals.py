"""Traffic lights: which phase has green when. K control steps, F phases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.draws import Draws
from motionpred.scene import SignalState

Array = npt.NDArray[Any]

_YELLOW = 3.0  # seconds
_ALL_RED = 1.6


@dataclass(frozen=True)
class SignalPlan:
    """The lights of every phase over the whole simulation."""

    state: Array  # [K, F] int8, SignalState
    red_left: Array  # [K, F] seconds until the phase turns green; 0 while it is not red

    @property
    def phases(self) -> int:
        """Number of phases; 0 without signals."""
        return int(self.state.shape[1])


def draw_plan(draws: Draws, phases: int, steps: int, dt: float) -> SignalPlan:
    """Phases in turn, each with a green of its own length; the first begins anywhere."""
    if phases == 0:
        return SignalPlan(np.zeros((steps, 0), np.int8), np.zeros((steps, 0)))
    green = draws.between(7.0, 20.0, phases)
    cycle = green + _YELLOW + _ALL_RED
    edges = np.concatenate([[0.0], np.cumsum(cycle)])
    time = (np.arange(steps) * dt + draws.number(0.0, float(edges[-1]))) % edges[-1]
    since = time[:, None] - edges[:-1]  # of the green of each phase
    state = np.full((steps, phases), SignalState.STOP, np.int8)
    state[(since >= 0) & (since < green)] = SignalState.GO
    state[(since >= green) & (since < green + _YELLOW)] = SignalState.CAUTION
    until = (-since) % edges[-1]
    return SignalPlan(state, np.where(state == SignalState.STOP, until, 0.0))
