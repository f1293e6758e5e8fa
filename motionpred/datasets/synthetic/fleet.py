"""The vehicles that are on the road at one moment, as columns. n vehicles."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.population import Drivers

Array = npt.NDArray[Any]


@dataclass
class Fleet:
    """State and habits of each vehicle; rows come and go."""

    slot: Array  # [n] row in Drivers
    segment: Array  # [n]
    following: Array  # [n] the segment chosen to come next, -1 while undecided
    before: Array  # [n] segment of the lane that it is leaving, -2 where it is not
    along: Array  # [n] metres on the segment, of the middle of the vehicle
    speed: Array  # [n] m/s
    acceleration: Array  # [n] m/s2
    mood: Array  # [n] slow drift of the wanted speed, a factor
    shift: Array  # [n] metres to the left at the start of a lane change
    changing: Array  # [n] share of a lane change that is left, 1 to 0
    ticket: Array  # [n] place in the order of passing where it is now, inf without
    next_ticket: Array  # [n] likewise on the segment that comes next
    waited: Array  # [n] seconds at a stop line
    length: Array  # [n]
    width: Array  # [n]
    pace: Array  # [n]
    headway: Array  # [n]
    standstill: Array  # [n]
    push: Array  # [n]
    comfort: Array  # [n]
    gap: Array  # [n]
    restless: Array  # [n]
    halt_side: Array  # [n] 0 once the halt is over
    halt_at: Array  # [n]
    halt_seconds: Array  # [n] that are left

    def __len__(self) -> int:
        return len(self.slot)

    def keep(self, mask: Array) -> None:
        """Drop the vehicles outside ``mask``."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name)[mask])

    def add(self, drivers: Drivers, slots: Array, speed: Array) -> None:
        """Put vehicles on the road at the places where they start."""
        count = len(slots)
        new = {
            "slot": slots,
            "segment": drivers.segment[slots],
            "following": np.full(count, -1, np.int64),
            "before": np.full(count, -2, np.int64),
            "along": drivers.along[slots],
            "speed": speed,
            "mood": np.ones(count),
            "ticket": np.full(count, np.inf),
            "next_ticket": np.full(count, np.inf),
            "length": drivers.size[slots, 0],
            "width": drivers.size[slots, 1],
            **{name: getattr(drivers, name)[slots] for name in _HABITS},
        }
        for item in fields(self):
            added = new.get(item.name, np.zeros(count))
            setattr(self, item.name, np.concatenate([getattr(self, item.name), added]))

    @classmethod
    def empty(cls) -> Fleet:
        """No vehicle."""
        whole = {"slot", "segment", "following", "before"}
        return cls(
            **{
                item.name: np.zeros(0, np.int64 if item.name in whole else np.float64)
                for item in fields(cls)
            }
        )


_HABITS = (
    "pace",
    "headway",
    "standstill",
    "push",
    "comfort",
    "gap",
    "restless",
    "halt_side",
    "halt_at",
    "halt_seconds",
)
CHANGE_SECONDS = 3.6  # a lane change


def lateral(shift: Array, left: Array) -> tuple[Array, Array]:
    """Metres to the left of the lane, and m/s to the left, with a share of the change left."""
    smooth = left * left * (3.0 - 2.0 * left)
    return shift * smooth, -shift * 6.0 * left * (1.0 - left) / CHANGE_SECONDS
