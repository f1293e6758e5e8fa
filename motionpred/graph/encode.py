"""From a Scene to the arrays of a batch row.

Everything but ``target`` is computed from ``scene.observed()``: what comes after ``now`` cannot
change it. Shapes: A agents, H history steps, F future steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.errors import ConfigError
from motionpred.geometry.kinematics import last_valid
from motionpred.graph.arrays import DROPPED, SceneArrays
from motionpred.graph.keys import stable_key, stable_keys
from motionpred.graph.map_pieces import encode_map
from motionpred.graph.options import BatchOptions
from motionpred.scene import AgentType, RoadMap, Role, Scene, TimeSpec, Tracks

Array = npt.NDArray[Any]

_CLOCK_TOLERANCE = 0.02


def encode(scene: Scene, time: TimeSpec, options: BatchOptions | None = None) -> SceneArrays:
    """One scene as arrays on the clock of ``time``, in a frame whose origin is near the agents.

    A scene with less history than ``time.history`` is padded at the front with invalid steps, one
    with more loses its oldest; a longer future is cropped and a shorter one is invalid. Agents
    without a state in the history are left out; those that miss ``now`` stay as context, at their
    last valid pose.

    Raises:
        ConfigError: ``scene.dt`` is not ``time.dt`` (within 2 %).
    """
    options = options or BatchOptions()
    _check_clock(scene, time)
    seen = scene.observed()
    first = max(scene.now + 1 - time.history, 0)
    padded = max(time.history - scene.now - 1, 0)
    history = seen.tracks.steps(first, scene.now + 1)
    kept, last, cut = _choose_agents(history, options)
    rows = np.arange(len(kept))
    valid = history.valid[kept]
    at_now = valid[:, -1]
    pose_xy = history.position[kept, last, :2]
    origin = _origin(pose_xy, at_now, seen.map)

    state, flags = _steps(history, kept, padded, time.history, origin)
    recorded = seen.time[first:] - seen.time[-1]
    stamps = np.concatenate([recorded[0] + time.dt * np.arange(-padded, 0), recorded])
    enough = valid.sum(axis=1) >= options.min_history
    kind = history.type[kept]
    eligible = at_now & (kind != AgentType.STATIC)
    predict = eligible & enough
    anchors = pose_xy - origin
    if predict.any():
        anchors = anchors[predict]
    pieces = encode_map(
        seen.map, seen.signals, origin, anchors if len(anchors) else np.zeros((1, 2)), options
    )

    # The same tracks in the whole scene, where the future is.
    whole = np.flatnonzero(scene.tracks.valid[:, : scene.now + 1].any(axis=1))[kept]
    future = scene.tracks.steps(scene.now + 1, scene.now + 1 + time.future)
    target_state, target_flags = _steps(future, whole, 0, time.future, origin)
    track_id = history.track_id[kept]
    return SceneArrays(
        scene_id=scene.scene_id,
        scene_key=stable_key(scene.scene_id),
        track_id=track_id,
        track_key=stable_keys(track_id.tolist()),
        origin=origin,
        time=stamps.astype(np.float32),
        history_state=state,
        history_flags=flags,
        pose=state[rows, last + padded, :3],
        age=-stamps[last + padded].astype(np.float32),
        type=kind.astype(np.int64),
        roles=history.roles[kept].astype(np.int64),
        predict=predict,
        map_points=pieces.points,
        map_pose=pieces.pose,
        map_category=pieces.category,
        map_attributes=pieces.attributes,
        lane_edges=pieces.edges,
        target_state=target_state,
        target_flags=target_flags,
        dropped=_counts(
            agents=cut,
            agents_missing_at_now=int((~at_now).sum()),
            agents_below_min_history=int((eligible & ~enough).sum()),
            map_pieces=pieces.cut,
            map_pieces_far=pieces.far,
            scenes_without_lanes=int(pieces.lanes == 0),
            history_padded=padded,
            history_cropped=first,
            future_cropped=max(len(scene.time) - scene.now - 1 - time.future, 0),
        ),
    )


def _check_clock(scene: Scene, time: TimeSpec) -> None:
    if abs(scene.dt - time.dt) > _CLOCK_TOLERANCE * time.dt:
        raise ConfigError(
            f"the scene has a step of {scene.dt:g} s and the model expects {time.dt:g} s",
            scene=scene.scene_id,
            field="dt",
            remedy="Set the option resample, or use a model of that clock",
        )


def _choose_agents(history: Tracks, options: BatchOptions) -> tuple[Array, Array, int]:
    """Kept tracks in the scene's order, their last valid step, and how many the cap cut."""
    last = last_valid(history.valid)
    present = last >= 0
    scored = (history.roles & Role.SCORED) != 0
    if not options.include_ego:
        present &= scored | ((history.roles & Role.EGO) == 0)
    kept = np.flatnonzero(present)
    cap = options.max_agents
    if cap is None or len(kept) <= cap:
        return kept, last[kept], 0
    position = history.position[kept, last[kept], :2]
    asked = scored[kept]
    distance = _distance_to_asked(position, asked, history, kept)
    # Scored agents come first and are never cut, even where they alone are more than the cap.
    order = np.lexsort((history.track_id[kept], distance, ~asked))
    count = max(cap, int(asked.sum()))
    chosen = np.sort(order[:count])
    return kept[chosen], last[kept[chosen]], len(kept) - count


def _distance_to_asked(position: Array, asked: Array, history: Tracks, kept: Array) -> Array:
    """Distance to the nearest scored agent; without one to the ego; without that to the middle."""
    anchors = position[asked]
    if not len(anchors):
        anchors = position[(history.roles[kept] & Role.EGO) != 0]
    if not len(anchors):
        anchors = np.median(position, axis=0)[None]
    offset = position[:, None] - anchors
    return np.asarray(np.hypot(offset[..., 0], offset[..., 1]).min(axis=1))


def _origin(position: Array, at_now: Array, road: RoadMap) -> Array:
    """Mean position of the agents valid at ``now``, else of all agents, else of the map, else 0."""
    if at_now.any():
        return np.asarray(position[at_now].mean(axis=0))
    if len(position):
        return np.asarray(position.mean(axis=0))
    if len(road.points):
        return np.asarray(road.points[:, :2].mean(axis=0))
    return np.zeros(2)


def _steps(
    tracks: Tracks, rows: Array, front: int, count: int, origin: Array
) -> tuple[Array, Array]:
    """States ``[A, count, 8]`` and flags ``[A, count, 3]``, from column ``front`` on; the rest is 0.

    Whatever is stored where a state is invalid is overwritten by 0.
    """
    state = np.zeros((len(rows), count, 8), np.float32)
    flags = np.zeros((len(rows), count, 3), bool)
    there = slice(front, front + tracks.valid.shape[1])
    valid = tracks.valid[rows]
    moving = tracks.velocity_valid[rows] & valid
    part = state[:, there]
    part[..., 0:2] = tracks.position[rows, :, :2] - origin
    part[..., 2] = tracks.heading[rows]
    part[..., 3:5] = tracks.velocity[rows]
    part[..., 5:8] = tracks.size[rows]
    part[~valid] = 0
    part[..., 3:5][~moving] = 0
    flags[:, there, 0] = valid
    flags[:, there, 1] = tracks.measured[rows] & valid
    flags[:, there, 2] = moving
    return state, flags


def _counts(**counts: int) -> dict[str, int]:
    return {name: counts[name] for name in DROPPED if counts[name]}
