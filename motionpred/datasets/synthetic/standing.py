"""What never moves: cars along the kerbs and on lots, people who wait. D of them; metres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.arms import PARKING, STEP, Arm
from motionpred.datasets.synthetic.draws import Draws
from motionpred.datasets.synthetic.layouts import Layout
from motionpred.scene import AgentType

Array = npt.NDArray[Any]

_BESIDE_LANE = 2.4  # metres from the middle of a lane to a car along the kerb
_OFF_LANE = 3.6  # to one on a lot, which may stand across
_BEHIND_CAR = 5.0  # metres between the middles of cars along the kerb
_BESIDE_CAR = 2.45  # of cars side by side
_OFF_CAR = 5.2  # of different rows
_ROW_DEPTH = 5.3  # metres between two rows of a lot


@dataclass(frozen=True)
class Standing:
    """Cars that are parked, and people who stand."""

    type: Array  # [D]
    position: Array  # [D, 2]
    direction: Array  # [D, 2] unit vectors
    size: Array  # [D, 3]


class _Places:
    """Places for cars as they are gathered, row by row."""

    def __init__(self) -> None:
        self.position: list[Array] = [np.zeros((0, 2))]
        self.direction: list[Array] = [np.zeros((0, 2))]
        self.clearance: list[Array] = [np.zeros(0)]
        self.spacing: list[Array] = [np.zeros(0)]
        self.row: list[Array] = [np.zeros(0, np.int64)]

    def add(self, position: Array, direction: Array, clearance: float, spacing: float) -> None:
        self.position.append(position)
        self.direction.append(direction)
        self.clearance.append(np.full(len(position), clearance))
        self.spacing.append(np.full(len(position), spacing))
        self.row.append(np.full(len(position), len(self.row)))

    def free(self, layout: Layout) -> Array:
        """Which places ``[D]`` lie on no lane and on no earlier place."""
        position, row = np.concatenate(self.position), np.concatenate(self.row)
        clearance = np.concatenate(self.clearance)[:, None]
        spacing = np.concatenate(self.spacing)
        apart = position[:, None] - layout.network.points[None, ::2]
        on_road = (apart[..., 0] ** 2 + apart[..., 1] ** 2 < clearance**2).any(axis=1)
        apart = position[:, None] - position[None]
        least = np.where(row[:, None] == row[None], spacing, _OFF_CAR)
        near = apart[..., 0] ** 2 + apart[..., 1] ** 2 < least**2
        return np.asarray(~on_road & ~np.tril(near, -1).any(axis=1))


def draw_standing(draws: Draws, layout: Layout) -> Standing:
    """Cars along the kerbs and on lots off the road, and a few people."""
    places = _Places()
    full = draws.number(0.03, 0.5)
    lots = draws.choose((0.08, 0.3, 0.75), (5, 3, 1.8))
    for arm in layout.arms:
        for side, strip in zip((-1, 1), arm.parking, strict=True):
            if strip:
                _park_along(draws, arm, side, full, places)
            if draws.chance(lots):
                _park_on_lot(draws, arm, side, 2 if draws.chance(lots) else 1, places)
    position = np.concatenate(places.position)
    kept = places.free(layout)
    position, direction = position[kept], np.concatenate(places.direction)[kept]
    people = _waiting_people(draws, layout)
    cars, count = len(position), len(position) + len(people)
    size = np.empty((count, 3))
    size[:cars] = np.array([4.6, 1.88, 1.65]) * (1.0 + 0.05 * draws.bell(cars, 3))
    size[cars:] = np.array([0.7, 0.7, 1.7]) * (1.0 + 0.06 * draws.bell(count - cars, 3))
    across = draws.table(count - cars) * 2.0 - 1.0
    facing = np.stack([across, np.sqrt(1.0 - across**2)], axis=-1)
    kinds = [AgentType.VEHICLE, AgentType.PEDESTRIAN]
    return Standing(
        type=np.repeat(kinds, [cars, count - cars]).astype(np.int8),
        position=np.concatenate([position, people]),
        direction=np.concatenate([direction, facing]),
        size=np.round(size, 2),
    )


def _park_along(draws: Draws, arm: Arm, side: int, full: float, places: _Places) -> None:
    """Cars in the strip beyond the outer lane, none near the junction."""
    edge = arm.lanes_right if side < 0 else arm.lanes_left
    line = arm.offset_line(edge + side * PARKING / 2)
    along = np.arange(8.0 + draws.number(0.0, 6.0), 80.0, draws.number(5.9, 7.0))
    along = along[draws.table(len(along)) < full]
    along = along + draws.between(-0.3, 0.3, len(along))
    normal = _along(arm.normal, along)
    outward = np.stack([normal[:, 1], -normal[:, 0]], axis=-1)
    aside = side * draws.between(-0.1, 0.2, len(along))[:, None]
    facing = outward * -side + normal * 0.02 * draws.bell(len(along))[:, None]
    places.add(_along(line, along) + aside * normal, _unit(facing), _BESIDE_LANE, _BEHIND_CAR)


def _park_on_lot(draws: Draws, arm: Arm, side: int, rows: int, places: _Places) -> None:
    """Rows of cars side by side beyond the pavement."""
    edge = arm.kerb_right if side < 0 else arm.kerb_left
    first = draws.number(7.0, 13.0)
    start = draws.number(10.0, 32.0)
    pitch = draws.number(2.6, 3.0)
    count = draws.integer(4, 12)
    for row in range(rows):
        line = arm.offset_line(edge + side * (first + row * _ROW_DEPTH))
        along = start + pitch * np.arange(count)
        along = along[draws.table(count) < 0.75]
        normal = _along(arm.normal, along)
        aside = draws.between(-0.3, 0.3, len(along))[:, None]
        way = np.where(draws.table(len(along)) < 0.5, 1.0, -1.0)[:, None]
        places.add(
            _along(line, along) + aside * normal, _unit(normal) * way, _OFF_LANE, _BESIDE_CAR
        )


def _waiting_people(draws: Draws, layout: Layout) -> Array:
    """People who wait somewhere on a pavement, in ones and twos."""
    groups = 0 if layout.kind == "merge" else draws.integer(0, 2)
    found = [np.zeros((0, 2))]
    for _ in range(groups):
        arm = draws.choose(layout.arms, [1.0] * len(layout.arms))
        edge = arm.kerb_right - 1.0 if draws.chance(0.5) else arm.kerb_left + 1.0
        place = np.array([draws.number(2.0, 40.0)])
        people = draws.integer(1, 2)
        spread = np.stack([np.arange(people) * 0.8, draws.between(-0.3, 0.3, people)], axis=-1)
        found.append(_along(arm.offset_line(edge), place) + spread)
    return np.concatenate(found)


def _along(values: Array, place: Array) -> Array:
    """Rows of a reference line's array at ``place`` metres from the mouth."""
    at = place / STEP
    whole = np.clip(at.astype(np.int64), 0, len(values) - 2)
    part = (at - whole)[:, None]
    return np.asarray(values[whole] * (1.0 - part) + values[whole + 1] * part)


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.sqrt(vector[:, 0] ** 2 + vector[:, 1] ** 2)[:, None])
