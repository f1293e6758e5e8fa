"""What traffic looks like in figures: motion, presence, closeness and conflicts of agents.

Definitions. N is ``now``, H the last step that counts (N + 6 s).

- Agents are vehicles (with buses), pedestrians and cyclists (with motorcyclists); nothing else
  counts, not even as a neighbour.
- A track is *complete* if valid from N to H, and *static* if it stays within 1 m of where it is at
  N; *history* means valid over the second before N.
- Positions are smoothed by a mean over 5 steps (3 or 1 where steps are missing) before speeds are
  taken; accelerations are speed differences over 0.5 s; a turn is 20 degrees or more on a path of
  over 5 m, by heading or by course (the direction of the first and of the last second).
- *Constant velocity* continues the mean velocity of the last second.
- Two vehicles are *in conflict* if their boxes would meet under constant velocity and do not meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.geometry.angles import wrap
from motionpred.geometry.boxes import corners, overlap
from motionpred.scene import AgentType, Scene

Array = npt.NDArray[Any]

CLASSES = {
    "vehicle": (AgentType.VEHICLE, AgentType.BUS),
    "pedestrian": (AgentType.PEDESTRIAN,),
    "cyclist": (AgentType.CYCLIST, AgentType.MOTORCYCLIST),
}
FUTURE, SECOND, HALF = 60, 10, 5  # steps
DT = 0.1
STATIC_M, TURN_PATH_M, MISS_M, NEAR_PAIR_M = 1.0, 5.0, 2.0, 30.0
TURN = np.radians(20.0)
SLOW = 0.5  # m/s


def measure(scenes: Iterable[Scene]) -> dict[str, Array]:
    """Samples of all scenes by name, ``<class>.<measure>``; ``scene`` is all classes together."""
    gathered: dict[str, list[Array]] = {}
    for scene in scenes:
        for name, values in _measure_one(scene).items():
            gathered.setdefault(name, []).append(np.atleast_1d(values))
    return {name: np.concatenate(values) for name, values in gathered.items()}


def _measure_one(scene: Scene) -> dict[str, Array]:
    now, end = scene.now, scene.now + FUTURE
    kinds = scene.tracks.type
    tracks = scene.tracks.take(
        np.isin(kinds, [kind for group in CLASSES.values() for kind in group])
    )
    valid = tracks.valid[:, : end + 1]
    position = tracks.position[:, : end + 1, :2]
    heading = tracks.heading[:, : end + 1].astype(float)
    complete = valid[:, now:].all(axis=1)
    history = valid[:, now - SECOND : now + 1].all(axis=1)
    moved = _norm(position[:, now:] - position[:, now, None]).max(axis=1)
    moving = complete & (moved >= STATIC_M)
    motion = _motion(position, heading, valid, now, end)
    near = _nearest(position, valid, complete, now, end)
    found = {f"scene.{name}": values for name, values in _presence(valid, now, end).items()}
    for name, group in CLASSES.items():
        mine = np.isin(tracks.type, group)
        full, go = mine & complete, mine & moving
        known = go & history
        rows = {
            **_presence(valid[mine], now, end),
            "complete": complete[mine & valid[:, now]],
            "static": ~moving[full],
            "near_now": near[go, 0],
            "near_future": _smallest(near[go, 1:]),
            "near_now_all": near[full, 0],
            "near_future_all": _smallest(near[full, 1:]),
            "cv_miss_all": motion["cv_fde"][full & history] > MISS_M,
        }
        for key in ("speed", "starting", "stopping", "path", "turning"):
            rows[key] = motion[key][go]
        rows["turning_course"] = motion["turning_course"][go & motion["has_course"]]
        rows["acceleration"] = motion["acceleration"][go].ravel()
        rows["yaw_rate"] = motion["yaw_rate"][go][motion["travels"][go]]
        for key in ("cv_ade", "cv_fde"):
            rows[key] = motion[key][known]
        rows["cv_miss"] = motion["cv_fde"][known] > MISS_M
        if name == "vehicle":
            size = np.where(tracks.size[..., :2] > 0, tracks.size[..., :2], 0.0).max(axis=1)
            rows.update(_conflicts(full & history, moving, position, heading, size, now, end))
        found.update({f"{name}.{key}": values[~_missing(values)] for key, values in rows.items()})
    return found


def _presence(valid: Array, now: int, end: int) -> dict[str, Array]:
    valid = valid[valid.any(axis=1)]
    here = valid[:, now]
    first = valid.argmax(axis=1)
    last = end - valid[:, ::-1].argmax(axis=1)
    return {
        "count": np.array([here.sum()]),
        "history": valid[here, now - SECOND : now + 1].all(axis=1),
        "leaves_now": last[here] < end,
        "appears": first > now,
        "leaves": last < end,
        "gaps": valid.sum(axis=1) < last - first + 1,
    }


def _motion(position: Array, heading: Array, valid: Array, now: int, end: int) -> dict[str, Array]:
    place = _smooth(position, valid)
    step = _norm(np.diff(place[:, now:], axis=1))
    speed = step / DT
    centred = _norm(place[:, now + 1] - place[:, now - 1]) / (2 * DT)
    unit = _smooth(np.stack([np.cos(heading), np.sin(heading)], axis=-1), valid)[:, now:]
    angle = np.arctan2(unit[..., 1], unit[..., 0])
    travel = _norm(place[:, now + HALF :] - place[:, now:-HALF]) / (HALF * DT)
    leave = position[:, now + SECOND] - position[:, now]
    arrive = position[:, end] - position[:, end - SECOND]
    bend = wrap(np.arctan2(arrive[:, 1], arrive[:, 0]) - np.arctan2(leave[:, 1], leave[:, 0]))
    path = step.sum(axis=1)
    far = path > TURN_PATH_M
    velocity = (position[:, now] - position[:, now - SECOND]) / SECOND
    ahead = np.arange(1, end - now + 1)[:, None]
    error = _norm(position[:, now, None] + velocity[:, None] * ahead - position[:, now + 1 :])
    speed_now = np.where(valid[:, now - 1], centred, speed[:, 0])
    return {
        "speed": speed_now,
        "starting": speed_now < SLOW,
        "stopping": speed[:, -1] < SLOW,
        "acceleration": np.abs(speed[:, HALF:] - speed[:, :-HALF]) / (HALF * DT),
        "yaw_rate": np.abs(wrap(angle[:, HALF:] - angle[:, :-HALF])) / (HALF * DT),
        "travels": travel >= SLOW,
        "path": path,
        "turning": far & (np.abs(wrap(heading[:, end] - heading[:, now])) >= TURN),
        "turning_course": far & (np.abs(bend) >= TURN),
        "has_course": np.minimum(_norm(leave), _norm(arrive)) >= STATIC_M / 2,
        "cv_ade": error.mean(axis=1),
        "cv_fde": error[:, -1],
    }


def _smooth(values: Array, valid: Array) -> Array:
    """Mean over the widest centred window of 5, 3 or 1 steps that is valid; NaN where invalid."""
    known = np.where(valid[..., None], values, np.nan)
    result = known
    for half in (1, 2):
        windows = np.lib.stride_tricks.sliding_window_view(known, 2 * half + 1, axis=1)
        inner = result[:, half:-half]
        mean = windows.mean(axis=-1)
        wider = np.concatenate(
            [result[:, :half], np.where(np.isnan(mean), inner, mean), result[:, -half:]], axis=1
        )
        result = wider
    return result


def _nearest(position: Array, valid: Array, rows: Array, now: int, end: int) -> Array:
    """Distance ``[A, H - N + 1]`` to the nearest other agent; NaN where alone or not asked."""
    near = np.full((len(position), end - now + 1), np.nan)
    chosen = np.flatnonzero(rows)
    for step in range(now, end + 1):
        others = np.flatnonzero(valid[:, step])
        apart = _norm(position[chosen, None, step] - position[None, others, step])
        apart[chosen[:, None] == others[None]] = np.inf
        if len(others) > 1:
            near[chosen, step - now] = apart.min(axis=1)
    return near


def _conflicts(
    rows: Array, moving: Array, position: Array, heading: Array, size: Array, now: int, end: int
) -> dict[str, Array]:
    """Pairs of vehicles of which at least one moves, apart at N."""
    one, other = np.triu_indices(int(rows.sum()), 1)
    chosen = np.flatnonzero(rows)
    one, other = chosen[one], chosen[other]
    keep = moving[one] | moving[other]
    one, other = one[keep], other[keep]

    def meet(place: Array, angle: Array) -> Array:
        boxes = corners(place, angle, size)
        return overlap(boxes[one], boxes[other])

    apart = ~meet(position[:, now], heading[:, now])
    velocity = (position[:, now] - position[:, now - SECOND]) / SECOND
    predicted, truth = np.zeros((2, len(one)), bool)
    for k in range(1, end - now + 1):
        predicted |= meet(position[:, now] + k * velocity, heading[:, now])
        truth |= meet(position[:, now + k], heading[:, now + k])
    conflict = predicted & ~truth & apart
    close = _norm(position[one, now] - position[other, now]) <= NEAR_PAIR_M
    hit = np.zeros(len(rows), bool)
    hit[one[conflict]] = hit[other[conflict]] = True
    return {
        "pair_conflict": conflict[apart],
        "pair_conflict_near": conflict[apart & close],
        "pair_truth": truth[apart],
        "track_conflict": hit[rows & moving],
    }


def _smallest(near: Array) -> Array:
    known = np.where(np.isnan(near), np.inf, near)
    least = known.min(axis=1, initial=np.inf)
    return np.where(np.isfinite(least), least, np.nan)


def _missing(values: Array) -> Array:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)


def _norm(vector: Array) -> Array:
    return np.asarray(np.hypot(vector[..., 0], vector[..., 1]))
