"""People on foot: along pavements, round corners, over crosswalks when it is safe or green.

Shapes: q people, R presences of vehicles (see right_of_way).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.car_following import wall_pressure
from motionpred.datasets.synthetic.draws import pick
from motionpred.datasets.synthetic.fleet import Fleet
from motionpred.datasets.synthetic.layouts import Layout
from motionpred.datasets.synthetic.population import Walkers
from motionpred.datasets.synthetic.right_of_way import Presences
from motionpred.datasets.synthetic.signals import SignalPlan

Array = npt.NDArray[Any]

_EXIT_CROSSING = 4.6  # metres before the end of a connector at which the crosswalk begins
_LOOK_AHEAD = 3.0  # metres before a corner at which people choose their way
_PAUSE = 0.002  # share of steps at which somebody stops for a while
_RESUME = 0.04


class Crowd:
    """Everybody on foot; columns over all of them, most of the time all are there."""

    def __init__(self, walkers: Walkers, layout: Layout) -> None:
        self.walkers = walkers
        self.layout = layout
        count = len(walkers.start)
        self.segment = walkers.segment.copy()
        self.following = np.full(count, -1, np.int64)
        self.along = walkers.along.copy()
        self.speed = walkers.pace.copy()
        self.mood = np.ones(count)
        self.drift = np.zeros(count)
        self.sidestep = np.zeros(count)
        self.acceleration = np.zeros(count)
        self.pausing = np.zeros(count, bool)
        self.present = np.zeros(count, bool)
        self.left = np.zeros(count, bool)

    def __len__(self) -> int:
        return len(self.segment)

    def arrive(self, time: float) -> None:
        """Let those appear whose time has come."""
        self.present = ~self.left & (self.walkers.start <= time)

    def crossing(self) -> tuple[Array, Array, Array]:
        """Arm, offset from its reference line and direction of everybody on a crosswalk."""
        ways = self.layout.walkways
        who = np.flatnonzero(self.present & (ways.crosses[self.segment] >= 0))
        segment = self.segment[who]
        sign = ways.sign[segment]
        return ways.crosses[segment], ways.start[segment] + sign * self.along[who], sign

    def decide(
        self,
        fleet: Fleet,
        rows: Presences,
        plan: SignalPlan,
        step: int,
        dt: float,
        numbers: Array,
    ) -> None:
        """Settle where and how fast to walk for ``dt`` seconds; ``numbers`` ``[q, 4]`` uniform."""
        network = self.layout.walkways.network
        rest = network.length[self.segment] - self.along
        undecided = (
            (self.following < 0) & (rest < _LOOK_AHEAD) & (network.choices[self.segment] > 0)
        )
        if undecided.any():
            who = np.flatnonzero(undecided)
            segment = self.segment[who]
            self.following[who] = pick(
                network.successor[segment], network.share[segment], numbers[who, 0]
            )
        waits = self._waits(fleet, rows, plan, step, rest, numbers)
        crosses = self.layout.walkways.crosses[self.segment] >= 0
        stops = ~crosses & (numbers[:, 1] < _PAUSE)
        self.pausing = (self.pausing | stops) & (numbers[:, 2] >= _RESUME) & ~crosses
        self.mood += -(self.mood - 1.0) * (dt / 5.0) + 0.2 * (numbers[:, 3] - 0.5)
        self.sidestep = -self.drift / 8.0 + 0.22 / dt * (numbers[:, 2] - 0.5)
        wanted = self.walkers.pace * np.clip(self.mood, 0.4, 1.6)
        wanted = np.where(waits | self.pausing, 0.0, np.where(crosses, 1.1 * wanted, wanted))
        self.acceleration = np.clip((wanted - self.speed) / dt, -2.0, 1.5)

    def advance(self, dt: float) -> None:
        """Walk for ``dt`` seconds."""
        network = self.layout.walkways.network
        self.speed = np.maximum(self.speed + self.acceleration * dt, 0.0)
        # Who stands does not slide sideways.
        self.drift += self.sidestep * np.minimum(self.speed, 1.0) * dt
        self.along += np.where(self.present, self.speed * dt, 0.0)
        over = self.along - network.length[self.segment]
        passed = over >= 0
        self.left |= passed & (self.following < 0)
        go = passed & (self.following >= 0)
        self.segment = np.where(go, self.following, self.segment)
        self.along = np.where(go, over, self.along)
        self.following[go] = -1

    def _waits(
        self,
        fleet: Fleet,
        rows: Presences,
        plan: SignalPlan,
        step: int,
        rest: Array,
        numbers: Array,
    ) -> Array:
        """Who stands at the kerb because it is not yet time to cross."""
        ways = self.layout.walkways
        arm = np.where(self.following >= 0, ways.crosses[np.maximum(self.following, 0)], -1)
        at_kerb = self.present & (arm >= 0) & (rest < 0.8)
        waits = np.zeros(len(self), bool)
        if not at_kerb.any():
            return waits
        who = np.flatnonzero(at_kerb)
        arm = arm[who]
        if plan.phases:
            need = ways.network.length[self.following[who]] / (1.1 * self.walkers.pace[who])
            waits[who] = plan.red_left[step][self.layout.arm_phase[arm]] < 0.8 * need
        else:
            calm, polite = _traffic(fleet, rows, self.layout, arm)
            stops = numbers[who, 3] < 0.25 * self.layout.crosswalk_courtesy
            waits[who] = ~(calm | (polite & stops))
        return waits


def _traffic(fleet: Fleet, rows: Presences, layout: Layout, arm: Array) -> tuple[Array, Array]:
    """Whether nobody comes to the crosswalk of ``arm`` ``[m]``, and whether all could stop."""
    paths = layout.paths
    speed = fleet.speed[rows.vehicle]
    before = -rows.along - fleet.length[rows.vehicle] / 2
    after = before + paths.length[rows.connector] - _EXIT_CROSSING
    distance = np.concatenate([before, after])
    at = np.concatenate([paths.arm[0, rows.connector], paths.arm[1, rows.connector]])
    both = np.concatenate([speed, speed])
    length = np.concatenate([fleet.length[rows.vehicle]] * 2)
    concerns = (at[None] == arm[:, None]) & (distance > -4.0 - length)[None]
    soon = (distance < 4.5 * both + 1.0) & (both > 0.3)
    cannot_stop = distance < both * both / 4.0 + 1.0
    near = (distance < 1.0) & (both > 0.3)
    return ~(concerns & soon[None]).any(axis=1), ~(
        concerns & (cannot_stop & soon | near)[None]
    ).any(axis=1)


def press_at_crosswalks(
    pressed: Array,
    fleet: Fleet,
    layout: Layout,
    rows: Presences,
    people: tuple[Array, Array, Array],
) -> None:
    """Raise ``pressed`` ``[n]`` of vehicles before a crosswalk with somebody in their way."""
    arm, offset, sign = people
    if not len(arm) or not len(rows.vehicle):
        return
    paths = layout.paths
    front = rows.along + fleet.length[rows.vehicle] / 2
    for end, gap in enumerate((-front, paths.length[rows.connector] - _EXIT_CROSSING - front)):
        lane = paths.offset[end, rows.connector]
        ahead = (lane[:, None] - offset[None]) * sign[None]
        blocked = (paths.arm[end, rows.connector][:, None] == arm[None]) & (ahead > -2.0)
        who = np.flatnonzero((blocked & (ahead < 4.5)).any(axis=1) & (gap > -0.5))
        press = wall_pressure(fleet, rows.vehicle[who], gap[who])
        np.maximum.at(pressed, rows.vehicle[who], press)
