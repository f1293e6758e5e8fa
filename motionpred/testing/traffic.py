"""Scenes on any clock with every kind of agent that a model has to cope with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.scene import AgentType, Role, Scene, TimeSpec
from motionpred.testing.scenes import crossing_map, make_scene, make_tracks

Array = npt.NDArray[Any]

_CENTER = (3000.0, 1500.0)


def traffic_scene(
    time: TimeSpec, scene_id: str = "traffic", *, seed: int = 0, cars: int = 4
) -> Scene:
    """Cars on arcs around a crossing, and one of each odd agent, on the clock of ``time``.

    ``car-*`` are SCORED. ``walker`` is a pedestrian; ``parked`` and ``idle`` never move, and of
    ``idle`` no heading is known; ``cone`` is STATIC;
    ``gone`` was there before ``now``, ``blink`` misses ``now`` alone; ``late`` is there at ``now``
    only (and after), ``future`` after ``now`` only; ``young`` has the newer half of the history;
    ``gap`` misses every third step. Needs three steps of history.
    """
    rng = np.random.default_rng(seed)
    second = (np.arange(time.steps) - time.history + 1) * time.dt
    paths = [
        arc(rng.uniform(-40, 40, 2), rng.uniform(-np.pi, np.pi), speed, turn, second)
        for speed, turn in zip(rng.uniform(2, 15, cars), rng.uniform(-0.3, 0.3, cars), strict=True)
    ]
    odd = ("walker", "parked", "idle", "cone", "gone", "blink", "late", "future", "young", "gap")
    for name in odd:
        speed = {"parked": 0.0, "idle": 0.0, "cone": 0.0, "walker": 1.3}.get(
            name, rng.uniform(3, 9)
        )
        start, heading = rng.uniform(-40, 40, 2), rng.uniform(-np.pi, np.pi)
        paths.append(arc(start, heading, speed, 0.0, second))
    names = [*(f"car-{i}" for i in range(cars)), *odd]
    valid = np.ones((len(names), time.steps), bool)
    row, now = {name: i for i, name in enumerate(names)}, time.history - 1
    valid[row["gone"], now - 1 :] = False
    valid[row["blink"], now] = False
    valid[row["late"], :now] = False
    valid[row["future"], : now + 1] = False
    valid[row["young"], : now // 2 + 1] = False
    valid[row["gap"]] = (np.arange(time.steps) - now) % 3 != 1
    kind = {"walker": AgentType.PEDESTRIAN, "cone": AgentType.STATIC}
    position = np.stack([path[:, :2] for path in paths]) + np.asarray(_CENTER)
    tracks = make_tracks(
        position,
        dt=time.dt,
        valid=valid,
        type=[kind.get(name, AgentType.VEHICLE) for name in names],
        roles=[Role.SCORED if name.startswith("car") else Role.UNSCORED for name in names],
        track_id=names,
        heading=np.stack([path[:, 2] for path in paths]),
        size=[(4.6, 1.9, 1.6)] * len(names),
    )
    directed, heading = tracks.heading_valid.copy(), tracks.heading.copy()
    directed[row["idle"]], heading[row["idle"]] = False, 0.0
    tracks = replace(tracks, heading_valid=directed, heading=heading)
    return make_scene(tracks, now, map=crossing_map(_CENTER), scene_id=scene_id, dt=time.dt)


def lone_car(time: TimeSpec, speed: float, scene_id: str = "lone") -> Scene:
    """One scored car on the x axis at ``speed`` (m/s), without a map."""
    second = (np.arange(time.steps) - time.history + 1) * time.dt
    path = arc(np.zeros(2), 0.0, speed, 0.0, second)
    tracks = make_tracks(path[None, :, :2] + np.asarray(_CENTER), dt=time.dt, track_id=["car"])
    return make_scene(tracks, time.history - 1, scene_id=scene_id, dt=time.dt)


def arc(start: Array, heading: float, speed: float, turn: float, second: Array) -> Array:
    """Poses ``[T, 3]`` (x, y, heading) of constant speed and turn rate, at ``start`` at time 0."""
    half = turn * second / 2
    length = speed * second * np.sinc(half / np.pi)
    x, y = start[0] + length * np.cos(heading + half), start[1] + length * np.sin(heading + half)
    return np.stack([x, y, heading + turn * second], axis=-1)
