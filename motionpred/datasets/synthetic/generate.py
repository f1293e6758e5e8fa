"""Scenes of synthetic traffic: ``generate(seed, index)`` is a pure function."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.draws import Draws
from motionpred.datasets.synthetic.layouts import Layout
from motionpred.datasets.synthetic.places import draw_layout
from motionpred.datasets.synthetic.population import draw_drivers, draw_walkers
from motionpred.datasets.synthetic.road_map import PlacedMap, build_map
from motionpred.datasets.synthetic.roles import assign_roles
from motionpred.datasets.synthetic.sensing import blurred, fragments, visible
from motionpred.datasets.synthetic.signals import SignalPlan, draw_plan
from motionpred.datasets.synthetic.simulate import (
    CONTROL,
    PEOPLE_NUMBERS,
    VEHICLE_NUMBERS,
    WARM_UP,
    Numbers,
    Recording,
    Traffic,
)
from motionpred.datasets.synthetic.standing import draw_standing
from motionpred.datasets.synthetic.states import (
    States,
    join,
    people_states,
    standing_states,
    vehicle_states,
)
from motionpred.errors import ConfigError
from motionpred.geometry.angles import wrap
from motionpred.scene import AgentType, FieldSource, Role, Scene, Signals, TimeSpec, Tracks

Array = npt.NDArray[Any]

VERSION = "synthetic-v1"
TIME = TimeSpec(dt=0.1, history=50, future=60)
NOW = TIME.history - 1

_WORLD = 4000.0  # metres, how far from the origin of the world a scene may lie
_LAST_PAST_CONTROL = WARM_UP + NOW // 2  # decides the motion up to now
_NEAR_CENTRE = 32.0  # metres within which the recording car is at now
_ATTEMPTS = 50
# The parts of a scene draw from streams of their own, so that none moves another.
_PLACE, _PEOPLE, _SENSOR, _WHERE, _ROLES, _PAST, _FUTURE = range(7)


def scene_id(seed: int, index: int) -> str:
    """The id of a scene, which is unique among all scenes of this version."""
    return f"{VERSION}-{seed}-{index:06d}"


def generate(seed: int, index: int, *, future: int = 0, split: str = "") -> Scene:
    """Scene ``index`` of ``seed``: the same on every machine, whatever was made before.

    ``future`` 0 is the scene of the data set. Another number lets the same past go on otherwise:
    every choice after ``now`` (ways, who yields, lane changes, moods) is drawn anew, and
    everything up to ``now`` is the same but for the roles, which look at whole tracks.

    Raises:
        ConfigError: a number is negative.
    """
    for name, value in (("seed", seed), ("index", index), ("future", future)):
        if value < 0:
            raise ConfigError(f"is {value}", field=name, remedy="Use 0 or more")
    for attempt in range(_ATTEMPTS):
        key = (seed, index, attempt)
        layout = draw_layout(Draws(*key, _PLACE))
        plan, recorded, states = _simulate(key, layout, future)
        ego = _recording_car(Draws(*key, _WHERE), layout, recorded, states)
        if ego is not None:
            return _observe(key, layout, plan, states, ego, scene_id(seed, index), split)
    raise ConfigError(f"no scene came of {_ATTEMPTS} attempts", scene=scene_id(seed, index))


def scenes(seed: int, count: int, *, start: int = 0, split: str = "") -> Iterator[Scene]:
    """Scenes ``start`` to ``start + count - 1`` of ``seed``, one at a time."""
    for index in range(start, start + count):
        yield generate(seed, index, split=split)


def content_hash(items: Iterable[Scene]) -> str:
    """SHA-256 of ids, states, roles, maps and signals of scenes, in their order."""
    digest = hashlib.sha256()
    for scene in items:
        tracks, road, signals = scene.tracks, scene.map, scene.signals
        digest.update(scene.scene_id.encode())
        for words in (tracks.track_id, road.polyline_id):
            digest.update("\0".join(words.tolist()).encode())
        for array in (
            tracks.type,
            tracks.roles,
            tracks.valid,
            tracks.position,
            tracks.heading,
            tracks.velocity,
            tracks.size,
            road.points,
            road.start,
            road.kind,
            road.edges,
            road.edge_kind,
            road.edge_opposite,
            signals.lane,
            signals.state,
        ):
            # Adding 0 makes the two zeros one; the byte order is fixed.
            plain = np.ascontiguousarray(array + 0 if array.dtype != bool else array)
            digest.update(plain.astype(plain.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def _simulate(
    key: tuple[int, ...], layout: Layout, future: int
) -> tuple[SignalPlan, Recording, States]:
    draws = Draws(*key, _PEOPLE)
    steps = WARM_UP + (TIME.steps + 1) // 2
    seconds = steps * CONTROL
    drivers = draw_drivers(draws, layout, seconds)
    walkers = draw_walkers(draws, layout, seconds)
    standing = draw_standing(draws, layout)
    plan = draw_plan(draws, layout.phases, steps, CONTROL)
    numbers = _decisions(key, future, steps, len(drivers), len(walkers.start))
    driven, walked = Traffic(layout, drivers, walkers, plan, numbers).run(TIME.steps)
    return (
        plan,
        driven,
        join(
            vehicle_states(driven, layout.network, drivers),
            people_states(walked, layout.walkways.network, walkers),
            standing_states(standing, TIME.steps),
        ),
    )


def _decisions(
    key: tuple[int, ...], future: int, steps: int, vehicles: int, people: int
) -> Numbers:
    """Random numbers of every control step: those after ``now`` come from a stream of their own."""
    before = _LAST_PAST_CONTROL + 1
    parts = [(Draws(*key, _PAST), before), (Draws(*key, _FUTURE, future), steps - before)]
    return Numbers(
        np.concatenate([draws.table(n, vehicles, VEHICLE_NUMBERS) for draws, n in parts]),
        np.concatenate([draws.table(n, people, PEOPLE_NUMBERS) for draws, n in parts]),
    )


def _recording_car(draws: Draws, layout: Layout, recorded: Recording, states: States) -> int | None:
    """A car near the junction that has been there all the time and cannot leave too soon."""
    cars = len(recorded.present)
    there = recorded.present[:, : NOW + 1].all(axis=1) & (states.type[:cars] == AgentType.VEHICLE)
    outbound = np.zeros(len(layout.network), bool)
    outbound[[lane.segment for lane in layout.lanes if not lane.inbound]] = True
    segment, along = recorded.segment[:, NOW], recorded.along[:, NOW]
    rest = layout.network.length[segment] - along
    stays = ~outbound[segment] | (rest > 8.5 * layout.network.limit[segment])
    here = states.position[:cars, NOW]
    near = here[:, 0] ** 2 + here[:, 1] ** 2 < _NEAR_CENTRE**2
    fit = np.flatnonzero(there & stays & near)
    if not len(fit):
        return None
    return int(fit[draws.integer(0, len(fit) - 1)])


def _observe(
    key: tuple[int, ...],
    layout: Layout,
    plan: SignalPlan,
    states: States,
    ego: int,
    name: str,
    split: str,
) -> Scene:
    draws = Draws(*key, _SENSOR)
    seen = visible(draws, states, ego)
    position, heading, velocity = blurred(draws, states, ego)
    number = fragments(seen)
    order = np.argsort(draws.table(len(states)), kind="stable")
    place = _Placement(Draws(*key, _WHERE, 1))
    agent, part = [], []
    for row in order.tolist():
        for fragment in range(int(number[row].max(initial=0)) + 1):
            if row != ego and (seen[row] & (number[row] == fragment)).any():
                agent.append(row)
                part.append(fragment)
    agent.append(ego)
    part.append(0)
    rows, parts = np.array(agent), np.array(part)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ids = [
        str(10000 + 10 * rank[row] + fragment) for row, fragment in zip(agent, part, strict=True)
    ]
    ids[-1] = "AV"
    valid = seen[rows] & (number[rows] == parts[:, None])
    valid[-1] = states.present[ego]
    world = place.points(position[rows])
    roles = assign_roles(
        Draws(*key, _ROLES), world, valid, states.type[rows], NOW, len(rows) - 1, place.origin
    )
    placed = build_map(layout, place.points)
    focal = ids[int(np.flatnonzero(roles & Role.FOCAL)[0])]
    return Scene(
        scene_id=name,
        dataset="synthetic",
        split=split,
        time=np.arange(TIME.steps) * TIME.dt,
        dt=TIME.dt,
        now=NOW,
        tracks=_tracks(
            ids,
            states.type[rows],
            roles,
            world,
            wrap(heading[rows] + place.angle),
            place.vectors(velocity[rows]),
            states.size[rows],
            valid,
        ),
        map=placed.road,
        signals=_signals(layout, plan, placed),
        info={"city": "synthetic", "focal_track_id": focal, "layout": layout.kind},
    )


def _tracks(
    ids: list[str],
    kind: Array,
    roles: Array,
    position: Array,
    heading: Array,
    velocity: Array,
    size: Array,
    valid: Array,
) -> Tracks:
    """Rounded as a publisher's files are, and 0 where there is no state."""
    shown = valid[..., None]
    full = np.zeros((*valid.shape, 3))
    full[..., :2] = np.where(shown, position, 0.0)
    angle = np.where(valid, np.clip(np.round(heading, 4), -3.1415, 3.1415), 0.0)
    return Tracks(
        track_id=np.array(ids, np.str_),
        type=kind.astype(np.int8),
        raw_type=np.array([AgentType(value).name.lower() for value in kind.tolist()], np.str_),
        roles=roles.astype(np.int16),
        position=full,
        heading=angle.astype(np.float32),
        velocity=np.where(shown, np.round(velocity, 3), 0.0).astype(np.float32),
        size=np.where(shown, size[:, None], 0.0).astype(np.float32),
        valid=valid,
        measured=valid.copy(),
        velocity_valid=valid.copy(),
        heading_valid=valid.copy(),
        has_z=False,
        source=dict.fromkeys(("heading", "velocity", "size"), FieldSource.RECORDED),
    )


def _signals(layout: Layout, plan: SignalPlan, placed: PlacedMap) -> Signals:
    lit = np.flatnonzero(layout.paths.phase >= 0)
    if not len(lit):
        return Signals.empty(TIME.steps)
    control = WARM_UP + np.arange(TIME.steps) // 2
    state = plan.state[control][:, layout.paths.phase[lit]].T
    stop = placed.stop_point[lit]
    return Signals(
        lane=placed.connector[lit],
        state=np.ascontiguousarray(state).astype(np.int8),
        stop_point=np.concatenate([stop, np.zeros((len(stop), 1))], axis=1),
    )


class _Placement:
    """Where in the world a scene lies, and which way it is turned."""

    def __init__(self, draws: Draws) -> None:
        self.angle = draws.number(-np.pi, np.pi)
        self.origin = draws.between(-_WORLD, _WORLD, 2)
        # Rounded: the last bits of sine and cosine differ between machines.
        self.cos, self.sin = (
            round(float(np.cos(self.angle)), 9),
            round(float(np.sin(self.angle)), 9),
        )

    def vectors(self, local: Array) -> Array:
        """Vectors ``[..., 2]`` turned into the world frame."""
        x, y = local[..., 0], local[..., 1]
        return np.stack([self.cos * x - self.sin * y, self.sin * x + self.cos * y], axis=-1)

    def points(self, local: Array) -> Array:
        """Points ``[..., 2]`` in the world frame, to the millimetre."""
        return np.asarray(np.round(self.vectors(local) + self.origin, 3))
