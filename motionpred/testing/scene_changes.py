"""Changes of a scene after which a forecast must be the same, or must move along."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.geometry.angles import wrap
from motionpred.geometry.frames import rotate
from motionpred.scene import RoadMap, Scene

Array = npt.NDArray[Any]

_PER_POLYLINE = (
    "kind",
    "polyline_id",
    "lane_type",
    "marking",
    "intersection",
    "width",
    "speed_limit",
    "has_z",
)


def moved(scene: Scene, angle: float, dx: float, dy: float) -> Scene:
    """The scene turned by ``angle`` (radians) about the origin of the world, then shifted.

    ``dx``, ``dy`` are metres. Positions, headings, velocities, map and stop points are moved in
    float64 and stored in the types of the contract; invalid entries stay 0.
    """
    tracks = scene.tracks

    def move(points: Array) -> Array:
        flat = rotate(points[..., :2], np.float64(angle)) + np.array([dx, dy])
        return np.concatenate([flat, points[..., 2:]], axis=-1)

    # Wrapped as it is stored: -pi + 1e-9 is inside the range only in float64.
    heading = wrap((tracks.heading.astype(np.float64) + angle).astype(np.float32))
    velocity = rotate(tracks.velocity.astype(np.float64), np.float64(angle))
    return replace(
        scene,
        tracks=replace(
            tracks,
            position=np.where(tracks.valid[..., None], move(tracks.position), 0.0),
            heading=np.where(tracks.heading_valid, heading, np.float32(0)),
            velocity=np.where(tracks.velocity_valid[..., None], velocity, 0.0).astype(np.float32),
        ),
        map=replace(scene.map, points=move(scene.map.points)),
        signals=replace(scene.signals, stop_point=move(scene.signals.stop_point)),
    )


def permuted(scene: Scene, seed: int = 0) -> Scene:
    """The same scene with its agents and its map polylines in another order."""
    rng = np.random.default_rng(seed)
    road = scene.map
    order = rng.permutation(len(road))
    place = np.empty(len(road), np.int64)
    place[order] = np.arange(len(road))
    parts = [road.polyline(i) for i in order]
    hole_of = road.hole_of[order]
    lane = scene.signals.lane
    return replace(
        scene,
        tracks=scene.tracks.take(rng.permutation(len(scene.tracks))),
        map=replace(
            road,
            points=np.concatenate([*parts, np.zeros((0, 3))]),
            start=np.cumsum([0, *map(len, parts)], dtype=np.int64),
            edges=place[road.edges],
            hole_of=np.where(hole_of >= 0, place[hole_of], -1) if len(road) else hole_of,
            **{name: getattr(road, name)[order] for name in _PER_POLYLINE},
        ),
        signals=replace(
            scene.signals, lane=np.where(lane >= 0, place[lane], -1) if len(road) else lane
        ),
    )


def without_map(scene: Scene) -> Scene:
    """The scene on an empty map."""
    lane = np.full_like(scene.signals.lane, -1)
    return replace(scene, map=RoadMap.empty(), signals=replace(scene.signals, lane=lane))


def with_other_future(scene: Scene, seed: int = 0) -> Scene:
    """The scene with other states after ``now``: noise, agents that vanish, agents that appear."""
    rng = np.random.default_rng(seed)
    tracks, after = scene.tracks, slice(scene.now + 1, None)
    changed = {name: getattr(tracks, name).copy() for name in ("position", "heading", "velocity")}
    masks = ("valid", "measured", "velocity_valid", "heading_valid")
    flags = {name: getattr(tracks, name).copy() for name in masks}
    shape = tracks.valid[:, after].shape
    there = rng.random(shape) < 0.5
    for flag in flags.values():
        flag[:, after] = there
    for values in changed.values():
        noise = rng.normal(size=values[:, after].shape)
        values[:, after] = noise * (there if values.ndim == 2 else there[..., None])
    state = scene.signals.state.copy()
    state[:, after] = 0
    size = np.where(flags["valid"][..., None], tracks.size, 0.0).astype(np.float32)
    return replace(
        scene,
        tracks=replace(tracks, **changed, **flags, size=size),
        signals=replace(scene.signals, state=state),
    )


def without_future(scene: Scene) -> Scene:
    """The scene with all its steps, but no state after ``now``."""
    tracks = scene.tracks
    valid = tracks.valid.copy()
    valid[:, scene.now + 1 :] = False
    return replace(
        scene,
        tracks=replace(
            tracks,
            valid=valid,
            measured=tracks.measured & valid,
            velocity_valid=tracks.velocity_valid & valid,
            heading_valid=tracks.heading_valid & valid,
            position=np.where(valid[..., None], tracks.position, 0.0),
            heading=np.where(valid, tracks.heading, 0.0).astype(np.float32),
            velocity=np.where(valid[..., None], tracks.velocity, 0.0).astype(np.float32),
            size=np.where(valid[..., None], tracks.size, 0.0).astype(np.float32),
        ),
    )


def with_placeholders(scene: Scene, value: float) -> Scene:
    """The scene with ``value`` in place of the zeros of invalid states.

    Such a scene breaks the contract on purpose: whatever stands there must not matter.
    """
    tracks = scene.tracks
    return replace(
        scene,
        tracks=replace(
            tracks,
            position=np.where(tracks.valid[..., None], tracks.position, value),
            heading=np.where(tracks.heading_valid, tracks.heading, value).astype(np.float32),
            velocity=np.where(tracks.velocity_valid[..., None], tracks.velocity, value).astype(
                np.float32
            ),
            size=np.where(tracks.valid[..., None], tracks.size, value).astype(np.float32),
        ),
    )
