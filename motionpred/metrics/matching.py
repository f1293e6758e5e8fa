"""Bringing a forecast and the truth of a scene together, or saying why they do not fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.errors import SceneError
from motionpred.prediction import Prediction
from motionpred.scene import AgentType, Scene

Array = npt.NDArray[Any]

_NEAR = 0.3  # steps that a forecast's time may be off its recorded step


@dataclass(frozen=True)
class Match:
    """A forecast of M targets over N steps, in the order of ``track``, and their truth."""

    track: Array  # [M] int64, index into the scene's tracks
    steps: Array  # [N] int64, index into the scene's steps
    forecast: Prediction  # position [K, M, N, 2]
    truth: Array  # [M, N, 2] float64, metres, world frame; 0 where invalid
    valid: Array  # [M, N] bool; the truth was measured, not interpolated


def check_scene(scene: Scene, prediction: Prediction) -> None:
    """Refuse a forecast of another scene, or one that breaks its own contract.

    Raises:
        SceneError: names both scenes, or the field of the first fault.
    """
    if prediction.scene_id != scene.scene_id:
        raise SceneError(
            f"the forecast is of scene {prediction.scene_id!r}",
            scene=scene.scene_id,
            field="prediction.scene_id",
            remedy="Pair forecasts and scenes by scene id",
        )
    prediction.validate()


def match(scene: Scene, prediction: Prediction, targets: Array) -> Match:
    """The forecast of ``targets`` (track indices) beside their truth, step by step.

    Raises:
        SceneError: a target was not forecast, or the forecast's times are not the scene's.
    """
    steps = future_steps(scene, prediction)
    wanted = scene.tracks.track_id[targets].tolist()
    predicted = set(prediction.track_id.tolist())
    missing = [track for track in wanted if track not in predicted]
    if missing:
        raise _lacking(scene, prediction, missing, len(wanted))
    tracks = scene.tracks
    return Match(
        track=targets,
        steps=steps,
        forecast=prediction.select(wanted),
        truth=tracks.position[targets][:, steps, :2],
        valid=(tracks.valid & tracks.measured)[targets][:, steps],
    )


def _lacking(scene: Scene, prediction: Prediction, missing: list[str], wanted: int) -> SceneError:
    known = set(scene.tracks.track_id.tolist())
    foreign = [track for track in prediction.track_id.tolist() if track not in known]
    message = f"the forecast lacks target track {missing[0]!r}"
    if len(missing) > 1:
        message += f" and {len(missing) - 1} more of {wanted} targets"
    if foreign:
        message += f"; it has {foreign[0]!r}, which is no track of this scene"
    indices = bool(foreign) and all(track.isdecimal() for track in foreign)
    if indices and all(int(track) < len(known) for track in foreign):
        remedy = "Name tracks by the publisher's id, not by their index"
    elif scene.tracks.type[scene.tracks.track_id == missing[0]] == AgentType.STATIC:
        remedy = "It is of a static class, and the benchmark asks for it: forecast it all the same"
    else:
        remedy = "Forecast every target of the benchmark (--agents scored)"
    return SceneError(
        message, scene=scene.scene_id, field=f"prediction.track_id[{missing[0]!r}]", remedy=remedy
    )


def future_steps(scene: Scene, prediction: Prediction) -> Array:
    """Indices ``[N]`` of the scene's steps that the forecast's times mean.

    Times are matched by the recorded clock, else by the nominal one (a model's dt may be a
    little off the recording's).

    Raises:
        SceneError: the forecast is longer than the truth, or lies between recorded steps.
    """
    recorded = scene.time[scene.now + 1 :] - scene.time[scene.now]
    nominal = scene.dt * np.arange(1, len(recorded) + 1)
    time = np.asarray(prediction.time, np.float64)
    if not len(time):
        raise SceneError("has no step", scene=scene.scene_id, field="prediction.time")
    for clock in (recorded, nominal):
        index = np.abs(clock[None, :] - time[:, None]).argmin(axis=1)
        near = np.abs(clock[index] - time) <= _NEAR * scene.dt
        if near.all() and (np.diff(index) > 0).all():
            return np.asarray(scene.now + 1 + index)
    if time[-1] > max(recorded[-1], nominal[-1]) + _NEAR * scene.dt:
        raise SceneError(
            f"the forecast goes on for {time[-1]:.3g} s and the truth for {recorded[-1]:.3g} s",
            scene=scene.scene_id,
            field="prediction.time",
            remedy="Cut the forecast to the recorded future",
        )
    raise SceneError(
        f"the forecast's times do not lie on the scene's steps ({_clock(time)} against "
        f"{_clock(recorded)} seconds after now)",
        scene=scene.scene_id,
        field="prediction.time",
        remedy="Give the time of every step in seconds after now; the first comes after now",
    )


def whole_future(scene: Scene, prediction: Prediction) -> None:
    """Refuse a forecast that does not have a point at every recorded step after now.

    Raises:
        SceneError: names both horizons.
    """
    steps, wanted = future_steps(scene, prediction), len(scene.time) - scene.now - 1
    if len(steps) != wanted:
        truth = scene.time[-1] - scene.time[scene.now]
        raise SceneError(
            f"the forecast has {len(steps)} steps to {prediction.time[-1]:.3g} s and the benchmark "
            f"asks for {wanted} to {truth:.3g} s",
            scene=scene.scene_id,
            field="prediction.time",
            remedy="Forecast the whole horizon, or use the protocol 'joint'",
        )


def cut(prediction: Prediction, horizon: float) -> Prediction:
    """The first ``horizon`` seconds of a forecast.

    Raises:
        SceneError: the forecast is shorter.
    """
    spacing = float(np.min(np.diff(prediction.time, prepend=0.0), initial=np.inf))
    kept = prediction.time <= horizon + _NEAR * spacing
    if not kept.any() or prediction.time[kept][-1] < horizon - _NEAR * spacing:
        raise SceneError(
            f"the forecast has no point {horizon:.3g} s after now, it goes on for "
            f"{np.max(prediction.time, initial=0.0):.3g} s",
            scene=prediction.scene_id,
            field="prediction.time",
            remedy="Score a shorter horizon",
        )
    heading, scale = prediction.heading, prediction.scale
    return replace(
        prediction,
        time=prediction.time[kept],
        position=prediction.position[:, :, kept],
        heading=None if heading is None else heading[:, :, kept],
        scale=None if scale is None else scale[:, :, kept],
    )


def _clock(time: Array) -> str:
    shown = ", ".join(f"{value:.3g}" for value in time[:2])
    return f"{shown}, … {time[-1]:.3g}" if len(time) > 2 else shown
