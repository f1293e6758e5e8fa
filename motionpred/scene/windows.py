"""Scenes cut from a long recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from motionpred.errors import ConfigError
from motionpred.scene.scene import Scene, TimeSpec


def windows(recording: Scene, spec: TimeSpec, stride: int = 1) -> Iterator[Scene]:
    """Scenes of ``spec.steps`` steps, one every ``stride`` steps, in order of time.

    The scene whose ``now`` is step ``n`` of the recording is called ``<recording>@<n>``. Tracks
    without a state inside the window are left out; roles and the map are the recording's.

    Raises:
        ConfigError: the recording has another clock (see :meth:`TimeSpec.same_clock`), or
            ``stride`` is below 1.
    """
    if stride < 1:
        raise ConfigError(f"stride is {stride}", field="stride", remedy="Use 1 or more")
    if not spec.same_clock(recording.dt):
        raise ConfigError(
            f"the windows want dt {spec.dt} s and the recording has {recording.dt} s",
            scene=recording.scene_id,
            field="dt",
            remedy="Call motionpred.scene.resample(recording, spec.dt) first",
        )
    for start in range(0, len(recording.time) - spec.steps + 1, stride):
        stop = start + spec.steps
        now = start + spec.history - 1
        tracks = recording.tracks.steps(start, stop)
        yield replace(
            recording,
            scene_id=f"{recording.scene_id}@{now}",
            time=recording.time[start:stop],
            now=spec.history - 1,
            tracks=tracks.take(tracks.valid.any(axis=1)),
            signals=replace(recording.signals, state=recording.signals.state[:, start:stop]),
        )
