"""The traffic between recorded steps: where everything is at any time of an animation.

Shapes: A agents, T steps, K modes, N agents of a forecast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.geometry.angles import interpolate
from motionpred.scene import Scene
from motionpred.viz.contents import Contents, ShownForecast

Array = npt.NDArray[Any]

_SAME = 1e-6  # s: times nearer than this are one
STANDS = 0.02  # metres a step: slower motion has no direction


@dataclass(frozen=True)
class Moment:
    """The recorded traffic at one time."""

    seconds: float  # after now
    step: int  # the last recorded step at or before that time
    shown: Array  # [A] bool
    position: Array  # [A, 2] metres
    heading: Array  # [A] radians
    held: bool  # the record has ended: this is its last step


def moment_at(scene: Scene, seconds: float, last: int) -> Moment:
    """The traffic ``seconds`` after ``now``, from steps up to ``last``.

    Between two steps agents with a state at both move evenly; one with a state at a single one is
    where that says while it is the nearer one.
    """
    tracks, time = scene.tracks, scene.time
    at = time[scene.now] + seconds
    step = int(np.clip(np.searchsorted(time[: last + 1], at + _SAME, "right") - 1, 0, last))
    after = min(step + 1, last)
    interval = time[after] - time[step]
    share = float(np.clip((at - time[step]) / interval, 0, 1)) if after > step else 0.0
    share = 0.0 if share * interval < _SAME else share
    nearer = after if share > 0.5 else step
    position = tracks.position[:, nearer, :2].copy()
    heading = tracks.heading[:, nearer].astype(np.float64)
    both = tracks.valid[:, step] & tracks.valid[:, after]
    if share:
        begin, end = tracks.position[both, step, :2], tracks.position[both, after, :2]
        position[both] = begin + share * (end - begin)
        heading[both] = interpolate(
            tracks.heading[both, step].astype(np.float64),
            tracks.heading[both, after].astype(np.float64),
            share,
        )
    return Moment(
        seconds=seconds,
        step=step,
        shown=np.asarray(tracks.valid[:, nearer]),
        position=position,
        heading=heading,
        held=bool(at > time[last] + _SAME),
    )


@dataclass(frozen=True)
class Course:
    """The futures of one forecast, at any time from ``now``."""

    time: Array  # [T + 1] seconds after now, from 0
    position: Array  # [K, N, T + 1, 2] metres
    heading: Array  # [K, N, T + 1] radians

    @classmethod
    def of(cls, contents: Contents, forecast: ShownForecast) -> Course:
        """From where the agents are at ``now``; one without a state there starts in its future."""
        scene, prediction = contents.scene, forecast.prediction
        known = contents.at_now[forecast.agent]
        now = scene.tracks.position[forecast.agent, scene.now, :2]
        first = np.where(known[:, None], now, prediction.position[:, :, 0])
        path = np.concatenate([first[:, :, None], prediction.position], axis=2)
        turned = scene.tracks.heading[forecast.agent, scene.now].astype(np.float64)
        if prediction.heading is not None:
            start = np.where(known, turned, prediction.heading[:, :, 0])
            heading = np.concatenate([start[..., None], prediction.heading], axis=2)
        else:
            heading = _path_heading(path, turned)
        return cls(np.r_[0.0, prediction.time], path, heading)

    def at(self, seconds: float) -> tuple[Array, Array]:
        """Positions ``[K, N, 2]`` and headings ``[K, N]``; those of the end after it."""
        after = int(np.clip(np.searchsorted(self.time, seconds), 1, len(self.time) - 1))
        begin, end = self.time[after - 1], self.time[after]
        share = float(np.clip((seconds - begin) / (end - begin), 0, 1))
        start = self.position[:, :, after - 1]
        position = start + share * (self.position[:, :, after] - start)
        heading = interpolate(self.heading[:, :, after - 1], self.heading[:, :, after], share)
        return position, heading


def _path_heading(path: Array, start: Array) -> Array:
    """The direction of every step ``[K, N, T + 1]`` of paths; while an agent stands, its last."""
    step = np.diff(path, axis=2)
    moving = np.hypot(step[..., 0], step[..., 1]) > STANDS
    angle = np.arctan2(step[..., 1], step[..., 0])
    heading = np.empty(path.shape[:3])
    heading[:, :, 0] = start
    for t in range(step.shape[2]):
        heading[:, :, t + 1] = np.where(moving[:, :, t], angle[:, :, t], heading[:, :, t])
    return heading
