"""A scene on another clock.

Shapes: A agents, T steps, N new samples.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionpred.errors import ConfigError
from motionpred.geometry.angles import interpolate
from motionpred.scene.scene import Scene, Signals, Tracks

Array = npt.NDArray[Any]

_SAME_STAMP = 1e-3  # seconds; a sample this near to a recorded stamp is that recorded state
_LONGEST_STEP = 1.5  # nominal steps; a longer interval between two stamps is a hole


def resample(scene: Scene, dt: float) -> Scene:
    """The scene at ``time[now] + k * dt`` for every whole ``k`` within the recording.

    A sample within 1 ms of a recorded stamp is that state, unchanged. Any other, at ``t`` between
    the neighbouring stamps ``t0 < t < t1``, is ``(1 - f) * x0 + f * x1`` with
    ``f = (t - t0) / (t1 - t0)`` for positions and velocities, the same along the shorter arc for
    headings, and has the size of the earlier state. It is valid only where both neighbours are
    (a velocity or heading where both have one), and never ``measured``; nothing is extrapolated,
    and a hole of more than one step stays a hole. Signals keep their last state.

    ``now`` is the same instant, and samples up to it come from steps up to it only. Every track is
    kept, also one that has no state on the new clock.

    Raises:
        ConfigError: ``dt`` is not a positive number of seconds.
    """
    if not (np.isfinite(dt) and dt > 0):
        raise ConfigError(f"is {dt}", field="dt", remedy="Give a positive number of seconds")
    recorded, start = scene.time, scene.time[scene.now]
    before = int((start - recorded[0] + _SAME_STAMP) // dt)
    after = int((recorded[-1] - start + _SAME_STAMP) // dt)
    time = start + dt * np.arange(-before, after + 1)
    between = _Between.of(recorded, time, scene.dt)
    signals = scene.signals
    return replace(
        scene,
        time=time,
        dt=float(dt),
        now=before,
        tracks=_tracks(scene.tracks, between),
        signals=Signals(signals.lane, signals.state[:, between.first], signals.stop_point),
    )


class _Between(NamedTuple):
    """Between which recorded steps each sample lies; both are the same for a recorded state."""

    first: Array  # [N] int64
    second: Array  # [N] int64
    fraction: Array  # [N] float64, way from the first to the second
    inside: Array  # [N] bool, there is no hole between them

    @classmethod
    def of(cls, recorded: Array, time: Array, dt: float) -> _Between:
        """For samples within 1 ms of the recorded span."""
        last = len(recorded) - 1
        first = np.clip(np.searchsorted(recorded, time, side="right") - 1, 0, last)
        second = np.minimum(first + 1, last)
        nearer = time - recorded[first] <= recorded[second] - time
        nearest = np.where(nearer, first, second)
        exact = np.abs(time - recorded[nearest]) <= _SAME_STAMP
        first, second = np.where(exact, nearest, first), np.where(exact, nearest, second)
        span = recorded[second] - recorded[first]
        fraction = (time - recorded[first]) / np.where(span > 0, span, 1.0)
        fraction = np.where(exact, 0.0, np.clip(fraction, 0.0, 1.0))
        return cls(first, second, fraction, span <= _LONGEST_STEP * dt)


def _tracks(tracks: Tracks, between: _Between) -> Tracks:
    first, second, fraction = between.first, between.second, between.fraction
    exact = first == second

    def both(mask: Array) -> Array:
        return np.asarray(mask[:, first] & mask[:, second] & between.inside)

    def linear(values: Array, valid: Array) -> Array:
        part = fraction[:, None].astype(values.dtype)
        found = values[:, first] + part * (values[:, second] - values[:, first])
        return np.asarray(np.where(valid[..., None], found, values.dtype.type(0)))

    valid = both(tracks.valid)
    moving, directed = both(tracks.velocity_valid), both(tracks.heading_valid)
    heading = tracks.heading
    turned = interpolate(heading[:, first], heading[:, second], fraction.astype(heading.dtype))
    turned = np.where(exact, heading[:, first], turned)  # wrapping could move a half turn
    return replace(
        tracks,
        position=linear(tracks.position, valid),
        heading=np.where(directed, turned, heading.dtype.type(0)),
        velocity=linear(tracks.velocity, moving),
        size=np.where(valid[..., None], tracks.size[:, first], tracks.size.dtype.type(0)),
        valid=valid,
        measured=both(tracks.measured) & exact,
        velocity_valid=moving,
        heading_valid=directed,
    )
