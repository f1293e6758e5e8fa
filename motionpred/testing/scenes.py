"""Tiny scenes made by hand, for tests and for ``motionpred demo``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.geometry.angles import wrap
from motionpred.geometry.frames import rotate
from motionpred.geometry.kinematics import backward_heading, backward_velocity
from motionpred.scene import (
    AgentType,
    EdgeKind,
    FieldSource,
    LaneType,
    MapKind,
    Marking,
    RoadMap,
    Role,
    Scene,
    Signals,
    Tracks,
)

Array = npt.NDArray[Any]


def make_tracks(
    position: npt.ArrayLike,
    *,
    dt: float = 0.1,
    valid: npt.ArrayLike | None = None,
    type: Sequence[AgentType] | None = None,
    roles: Sequence[Role] | None = None,
    track_id: Sequence[str] | None = None,
    heading: npt.ArrayLike | None = None,
    velocity: npt.ArrayLike | None = None,
    size: npt.ArrayLike | None = None,
) -> Tracks:
    """Tracks from positions ``[A, T, 2 or 3]``; what is not given is derived or absent.

    ``valid`` ``[A, T]`` defaults to everywhere; ``type`` to VEHICLE; ``roles`` to SCORED; ``size``
    ``[A, 2 or 3]`` metres to absent. A derived heading is that of ``backward_heading``.
    """
    position = np.asarray(position, np.float64)
    agents, steps, dimensions = position.shape
    mask = np.ones((agents, steps), bool) if valid is None else np.asarray(valid, bool)
    full = np.zeros((agents, steps, 3))
    full[..., :dimensions] = position
    full[~mask] = 0
    if velocity is None:
        derived, known = backward_velocity(full, np.arange(steps) * dt, mask)
        velocity_source = FieldSource.DERIVED
    else:
        derived, known = np.where(mask[..., None], np.asarray(velocity, float), 0.0), mask
        velocity_source = FieldSource.RECORDED
    if heading is None:
        angle, directed = backward_heading(derived, known, mask)
        heading_source = FieldSource.DERIVED
    else:
        angle, directed = np.asarray(heading, float), mask
        heading_source = FieldSource.RECORDED
    sizes = np.zeros((agents, steps, 3), np.float32)
    if size is not None:
        given = np.asarray(size, np.float32)
        sizes[..., : given.shape[1]] = given[:, None]
        sizes[~mask] = 0
    kinds = [AgentType.VEHICLE] * agents if type is None else list(type)
    bits = [Role.SCORED] * agents if roles is None else list(roles)
    names = [str(i) for i in range(agents)] if track_id is None else list(track_id)
    return Tracks(
        track_id=np.array(names, np.str_),
        type=np.array(kinds, np.int8),
        raw_type=np.array([AgentType(kind).name.lower() for kind in kinds], np.str_),
        roles=np.array(bits, np.int16),
        position=full,
        heading=wrap(np.where(mask & directed, angle, 0.0).astype(np.float32)),
        velocity=derived.astype(np.float32),
        size=sizes,
        valid=mask,
        measured=mask.copy(),
        velocity_valid=known,
        heading_valid=mask & directed,
        has_z=dimensions == 3,
        source={
            "heading": heading_source,
            "velocity": velocity_source,
            "size": FieldSource.ABSENT if size is None else FieldSource.RECORDED,
        },
    )


def make_map(
    polylines: Sequence[tuple[MapKind, npt.ArrayLike]],
    *,
    polyline_id: Sequence[str] | None = None,
    edges: Sequence[tuple[int, int, EdgeKind]] = (),
    opposite: Sequence[bool] = (),
    attributes: Mapping[str, Sequence[Any]] | None = None,
    report: Mapping[str, int] | None = None,
) -> RoadMap:
    """A map from (kind, points ``[n, 2 or 3]``) pairs and (source, destination, kind) links.

    ``attributes`` replaces whole per-polyline columns of :class:`RoadMap` by name.
    """
    count = len(polylines)
    points = [np.asarray(p, np.float64) for _, p in polylines]
    flat = [np.pad(p, ((0, 0), (0, 3 - p.shape[1]))) for p in points]
    kind = np.array([k for k, _ in polylines], np.int8)
    lane = kind == MapKind.LANE
    columns: dict[str, Array] = {
        "lane_type": np.where(lane, LaneType.VEHICLE, LaneType.UNKNOWN).astype(np.int8),
        "marking": np.full(count, Marking.UNKNOWN, np.int8),
        "intersection": np.zeros(count, bool),
        "width": np.zeros(count, np.float32),
        "speed_limit": np.zeros(count, np.float32),
        "hole_of": np.full(count, -1, np.int64),
        "has_z": np.array([p.shape[1] == 3 for p in points], bool),
    }
    for name, values in (attributes or {}).items():
        columns[name] = np.asarray(values).astype(columns[name].dtype)
    return RoadMap(
        points=np.concatenate([*flat, np.zeros((0, 3))]),
        start=np.cumsum([0, *map(len, flat)], dtype=np.int64),
        kind=kind,
        polyline_id=np.array(polyline_id or [str(i) for i in range(count)], np.str_),
        edges=np.array([(a, b) for a, b, _ in edges], np.int64).reshape(-1, 2).T.copy(),
        edge_kind=np.array([k for _, _, k in edges], np.int8),
        edge_opposite=np.array(list(opposite) or [False] * len(edges), bool),
        report=dict(report or {}),
        **columns,
    )


def make_scene(
    tracks: Tracks,
    now: int,
    *,
    map: RoadMap | None = None,
    signals: Signals | None = None,
    scene_id: str = "scene",
    dataset: str = "",
    split: str = "",
    dt: float = 0.1,
    time: npt.ArrayLike | None = None,
    info: Mapping[str, Any] | None = None,
) -> Scene:
    """A validated scene; ``time`` defaults to steps of ``dt`` from 0, the map to an empty one."""
    steps = tracks.valid.shape[1]
    return Scene(
        scene_id=scene_id,
        dataset=dataset,
        split=split,
        time=np.arange(steps) * dt if time is None else np.asarray(time, np.float64),
        dt=dt,
        now=now,
        tracks=tracks,
        map=RoadMap.empty() if map is None else map,
        signals=Signals.empty(steps) if signals is None else signals,
        info=dict(info or {}),
    ).validate()


def crossing_scene(
    scene_id: str = "crossing",
    *,
    seed: int = 0,
    steps: int = 110,
    now: int = 49,
    split: str = "train",
    center: tuple[float, float] = (3000.0, 1500.0),
) -> Scene:
    """A four-way crossing in the shape of Argoverse 2: cars that go straight, turn and wait.

    110 steps at 10 Hz. The ego waits for the focal car, which goes straight, turns left or turns
    right (by seed); a pedestrian crosses; a parked car never moves; one car appears late and one
    leaves early.
    """
    rng = np.random.default_rng(seed)
    dt = 0.1
    time = np.arange(steps) * dt
    turn = (-1, 0, 1)[seed % 3]  # right, straight, left
    speed = rng.uniform(6.0, 11.0)
    paths = [
        _drive(-45.0 + rng.uniform(-6, 6), speed, turn, time),  # focal, from the west
        _wait_then_go(
            -14.0 + rng.uniform(-2, 2), rng.uniform(5.5, 7.5), time
        ),  # ego, from the south
        np.stack([60.0 - rng.uniform(7, 10) * time, np.full(steps, 1.75)], -1),  # oncoming
        np.stack([np.full(steps, 9.0), -9.0 + rng.uniform(1.0, 1.6) * time], -1),  # pedestrian
        np.tile([[-25.0 + rng.uniform(-5, 5), -4.6]], (steps, 1)),  # parked
        np.stack([-80.0 + rng.uniform(8, 11) * time, np.full(steps, -1.75)], -1),  # appears late
        np.stack([np.full(steps, -1.75), 40.0 + 9.0 * time], -1),  # leaves early
    ]
    position = np.stack(paths) + np.asarray(center)
    valid = np.ones(position.shape[:2], bool)
    valid[5, : now - 12] = False
    valid[6, now + 8 :] = False
    heading = _path_heading(position)
    heading[4] = 0.0
    tracks = make_tracks(
        position,
        valid=valid,
        type=[AgentType.VEHICLE] * 3 + [AgentType.PEDESTRIAN] + [AgentType.VEHICLE] * 3,
        roles=[
            Role.FOCAL | Role.SCORED,
            Role.EGO | Role.UNSCORED,
            Role.SCORED,
            Role.SCORED,
            Role.SCORED,
            Role.UNSCORED,
            Role.FRAGMENT,
        ],
        track_id=["101", "AV", "102", "103", "104", "105", "106"],
        heading=heading,
        velocity=np.diff(position, axis=1, prepend=position[:, :1]) / dt,
    )
    return make_scene(
        tracks,
        now,
        map=crossing_map(center),
        scene_id=scene_id,
        dataset="argoverse2",
        split=split,
        time=time,
        info={"city": "austin", "focal_track_id": "101"},
    )


def _drive(start: float, speed: float, turn: int, time: Array) -> Array:
    """Along the road from the west at constant speed; an arc of 90 degrees where it turns."""
    along = start + speed * time
    if turn == 0:
        return np.stack([along, np.full_like(along, -1.75)], -1)
    radius = 9.75 if turn > 0 else 6.25
    arc = radius * np.pi / 2
    begin = -8.0
    angle = np.clip((along - begin) / radius, 0.0, np.pi / 2)
    beyond = np.maximum(along - begin - arc, 0.0)
    x = np.where(along < begin, along, begin + radius * np.sin(angle))
    y = -1.75 + turn * (radius * (1 - np.cos(angle)) + beyond)
    return np.stack([x, y], -1)


def _wait_then_go(y: float, leave: float, time: Array) -> Array:
    moved = 1.0 * np.maximum(time - leave, 0.0) ** 2
    return np.stack([np.full_like(time, 1.75), y + moved], -1)


def _path_heading(position: Array) -> Array:
    step = np.diff(position, axis=1, append=2 * position[:, -1:] - position[:, -2:-1])
    moved = np.hypot(step[..., 0], step[..., 1]) > 1e-6
    angle = np.arctan2(step[..., 1], step[..., 0])
    # A car that waits already points along the road that it will take.
    first = np.argmax(moved, axis=1)
    angle = np.where(moved, angle, np.take_along_axis(angle, first[:, None], axis=1))
    return np.asarray(angle)


def crossing_map(center: tuple[float, float] = (0.0, 0.0)) -> RoadMap:
    """The map of :func:`crossing_scene`: eight arms, twelve connections, a crosswalk, one area."""
    lanes: dict[str, Array] = {}
    arms = (0.0, np.pi / 2, np.pi, -np.pi / 2)  # direction of travel of the incoming lane
    for i, angle in enumerate(arms):
        lanes[f"1{i}"] = rotate(_line((-80.0, -1.75), (-8.0, -1.75), 19), angle)
        lanes[f"2{i}"] = rotate(_line((8.0, -1.75), (80.0, -1.75), 19), angle)
    names = list(lanes)
    edges: list[tuple[int, int, EdgeKind]] = []
    opposite: list[bool] = []
    for i in range(4):
        for turn in (-1, 0, 1):
            out = (i + turn) % 4
            name = f"3{i}{turn + 1}"
            shape = _drive(-8.0, 1.0, turn, np.linspace(0, 16 if turn == 0 else _arc(turn), 11))
            lanes[name] = rotate(shape, arms[i])
            names.append(name)
            edges += [
                (names.index(f"1{i}"), len(names) - 1, EdgeKind.SUCCESSOR),
                (len(names) - 1, names.index(f"2{out}"), EdgeKind.SUCCESSOR),
            ]
            opposite += [False, False]
        # The lane beside an incoming one runs the other way: out of the crossing.
        oncoming = names.index(f"2{(i + 2) % 4}")
        edges.append((names.index(f"1{i}"), oncoming, EdgeKind.LEFT))
        opposite.append(True)
    polylines: list[tuple[MapKind, Array]] = [(MapKind.LANE, lanes[name]) for name in names]
    walk = np.array([(7.5, -6.0), (10.5, -6.0), (10.5, 6.0), (7.5, 6.0)])
    quarter = np.array([(-80, -6), (-6, -6), (-6, -80)], float)
    area = np.concatenate([rotate(quarter, angle) for angle in arms])
    polylines += [(MapKind.CROSSWALK, walk), (MapKind.DRIVABLE_AREA, area)]
    shifted = [(kind, points + np.asarray(center)) for kind, points in polylines]
    inside = [name.startswith("3") for name in names] + [False, False]
    return make_map(
        shifted,
        polyline_id=[*names, "900", "901"],
        edges=edges,
        opposite=opposite,
        attributes={"intersection": inside},
    )


def _arc(turn: int) -> float:
    return (9.75 if turn > 0 else 6.25) * np.pi / 2


def _line(start: tuple[float, float], stop: tuple[float, float], count: int) -> Array:
    return np.linspace(start, stop, count)
