"""Traffic over time: control every 0.2 s, states every 0.1 s.

N vehicles, Q people, T recorded steps. After a warm-up in which traffic develops, the states of
every step are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.car_following import (
    FAR,
    acceleration,
    leaders,
    pressure,
    wall_pressure,
    wanted_speed,
)
from motionpred.datasets.synthetic.draws import pick
from motionpred.datasets.synthetic.fleet import CHANGE_SECONDS, Fleet, lateral
from motionpred.datasets.synthetic.lane_change import change_lanes
from motionpred.datasets.synthetic.layouts import Layout
from motionpred.datasets.synthetic.pedestrians import Crowd, press_at_crosswalks
from motionpred.datasets.synthetic.population import INBOUND, OUTBOUND, Drivers, Walkers
from motionpred.datasets.synthetic.right_of_way import Negotiation, presences
from motionpred.datasets.synthetic.signals import SignalPlan
from motionpred.scene import SignalState

Array = npt.NDArray[Any]

CONTROL = 0.2  # seconds between decisions
WARM_UP = 100  # control steps before the recording
VEHICLE_NUMBERS = 5  # uniform draws for each vehicle and control step
PEOPLE_NUMBERS = 4
_ROOM = 9.0  # metres that must be free where somebody arrives
_DECIDE_SECONDS = 2.6  # before a junction at which drivers choose their way
_FIRM = 2.5  # m/s2, braking with which one could still stop then
_CLOSE_UP = 0.02  # share of control steps at which somebody in a queue closes up


@dataclass(frozen=True)
class Numbers:
    """Every random number that decisions take: by control step, so that the past can be kept."""

    vehicles: Array  # [K, N, 5]
    people: Array  # [K, Q, 4]


@dataclass(frozen=True)
class Recording:
    """Where everybody was, relative to the paths."""

    present: Array  # [N, T] bool
    segment: Array  # [N, T]
    along: Array  # [N, T]
    sideways: Array  # [N, T] metres to the left of the path
    drifting: Array  # [N, T] m/s to the left
    speed: Array  # [N, T]


class Traffic:
    """Moves everybody; holds the state between control steps."""

    def __init__(
        self,
        layout: Layout,
        drivers: Drivers,
        walkers: Walkers,
        plan: SignalPlan,
        numbers: Numbers,
    ) -> None:
        self.layout, self.drivers, self.plan, self.numbers = layout, drivers, plan, numbers
        self.fleet = Fleet.empty()
        self.crowd = Crowd(walkers, layout)
        self.side = np.zeros(len(layout.network))
        for lane in layout.lanes:
            if layout.network.right[lane.segment] < 0:
                self.side[lane.segment] = INBOUND if lane.inbound else OUTBOUND
        self.waiting = 0  # the first driver who has not come yet
        self.queue: list[int] = []  # drivers whose time has come and who find no room

    def run(self, steps: int) -> tuple[Recording, Recording]:
        """Warm up and record ``steps`` states (every 0.1 s) of vehicles and of people."""
        vehicles = _blank(len(self.drivers), steps)
        people = _blank(len(self.crowd), steps)
        for step in range(WARM_UP):
            self._control(step)
            self._advance(CONTROL)
        for first in range(0, steps, 2):
            self._record(first, vehicles, people)
            self._control(WARM_UP + first // 2)
            if first + 1 < steps:
                self._advance(CONTROL / 2)
                self._record(first + 1, vehicles, people)
                self._advance(CONTROL / 2)
        return vehicles, people

    def _control(self, step: int) -> None:
        layout, network, crowd = self.layout, self.layout.network, self.crowd
        time = step * CONTROL
        self._arrive(time)
        fleet = self.fleet
        numbers = self.numbers.vehicles[step][fleet.slot]
        red = self._before_red(step)
        self._choose_ways(numbers[:, 0], red)
        gap, leader, same = leaders(fleet, network)
        pressed = np.where(
            leader >= 0,
            pressure(fleet, np.arange(len(fleet)), gap, fleet.speed[leader] if len(fleet) else gap),
            0.0,
        )
        waits = np.flatnonzero(red & (fleet.following < 0))
        if len(waits):
            rest = network.length[fleet.segment[waits]] - fleet.along[waits]
            pressed[waits] = np.maximum(
                pressed[waits], wall_pressure(fleet, waits, rest - fleet.length[waits] / 2)
            )
        self._halt(pressed)
        rows = presences(fleet, layout)
        if len(rows.vehicle):
            scene = Negotiation(fleet, layout, rows)
            scene.hold_back(self.plan.state[step])
            scene.draw_tickets(time, np.where(same, leader, -1), numbers[:, 1:3])
            scene.press(pressed)
        if len(crowd):
            crowd.arrive(time)
            press_at_crosswalks(pressed, fleet, layout, rows, crowd.crossing())
            crowd.decide(fleet, rows, self.plan, step, CONTROL, self.numbers.people[step])
        wanted = wanted_speed(fleet, network)
        change_lanes(fleet, network, gap, wanted, numbers[:, 3], CONTROL)
        fleet.mood += (1.0 - fleet.mood) * (CONTROL / 2.5) + 0.14 * (numbers[:, 4] - 0.5)
        fleet.acceleration = acceleration(fleet, wanted, pressed)
        fleet.waited = np.where(fleet.speed < 0.5, fleet.waited + CONTROL, 0.0)
        self._close_up(numbers[:, 3])

    def _halt(self, pressed: Array) -> None:
        """Some stop for a while in the outer lane, and drive on."""
        fleet = self.fleet
        here = (fleet.halt_side > 0) & (fleet.halt_side == self.side[fleet.segment])
        rest = fleet.halt_at - fleet.along
        who = np.flatnonzero(here & (rest > -1.0))
        if len(who):
            press = wall_pressure(fleet, who, np.maximum(rest[who], 0.0) + 0.5)
            pressed[who] = np.maximum(pressed[who], press)
        stands = here & (rest < 2.0) & (fleet.speed < 0.3)
        fleet.halt_seconds = np.where(stands, fleet.halt_seconds - CONTROL, fleet.halt_seconds)
        over = here & ((rest <= -1.0) | (fleet.halt_seconds <= 0.0))
        fleet.halt_side = np.where(over, 0.0, fleet.halt_side)

    def _close_up(self, number: Array) -> None:
        """Who waits in a queue closes up by a metre or so from time to time."""
        fleet = self.fleet
        closes = (fleet.waited > 1.5) & (number < _CLOSE_UP)
        nearer = np.maximum(fleet.standstill - 1.3, 0.9)
        fleet.standstill = np.where(closes, nearer, fleet.standstill)
        driving = fleet.speed > 4.0
        fleet.standstill = np.where(driving, self.drivers.standstill[fleet.slot], fleet.standstill)

    def _arrive(self, time: float) -> None:
        while self.waiting < len(self.drivers) and self.drivers.start[self.waiting] <= time:
            self.queue.append(self.waiting)
            self.waiting += 1
        if not self.queue:
            return
        fleet, taken, coming, speeds = self.fleet, set(), [], []
        for slot in self.queue:
            segment = int(self.drivers.segment[slot])
            limit = float(self.layout.network.limit[segment] * self.drivers.pace[slot])
            if time == 0.0:
                coming.append(slot)
                speeds.append(0.7 * limit)
                continue
            on = fleet.segment == segment
            nearest = float((fleet.along - fleet.length / 2)[on].min()) if on.any() else FAR
            if nearest > _ROOM and segment not in taken:
                ahead = float(fleet.speed[on][fleet.along[on].argmin()]) if on.any() else limit
                coming.append(slot)
                # Nobody enters faster than the gap allows.
                speeds.append(min(limit, max(ahead, 0.35 * (nearest - 4.0))))
                taken.add(segment)
        if coming:
            self.queue = [slot for slot in self.queue if slot not in set(coming)]
            fleet.add(self.drivers, np.array(coming, np.int64), np.array(speeds))

    def _before_red(self, step: int) -> Array:
        """Who has a light ahead that is not green, and can stop before it."""
        fleet, layout = self.fleet, self.layout
        if not self.plan.phases:
            return np.zeros(len(fleet), bool)
        phase = layout.light[fleet.segment]
        red = (phase >= 0) & (self.plan.state[step][phase] != SignalState.GO)
        rest = layout.network.length[fleet.segment] - fleet.along - fleet.length / 2
        return np.asarray(red & (rest > fleet.speed * fleet.speed / 6.0))

    def _choose_ways(self, number: Array, red: Array) -> None:
        """Choose late: nobody but the driver knows before, and before a red light not even she."""
        fleet, network = self.fleet, self.layout.network
        rest = network.length[fleet.segment] - fleet.along
        stopping = fleet.speed * fleet.speed / (2.0 * _FIRM) + 6.0
        near = np.maximum(fleet.speed * _DECIDE_SECONDS, stopping)
        undecided = (fleet.following < 0) & (network.choices[fleet.segment] > 0) & ~red
        who = np.flatnonzero(undecided & (rest < near))
        if len(who):
            segment = fleet.segment[who]
            fleet.following[who] = pick(
                network.successor[segment], network.share[segment], number[who]
            )

    def _advance(self, dt: float) -> None:
        if len(self.crowd):
            self.crowd.advance(dt)
        fleet, network = self.fleet, self.layout.network
        after = np.maximum(fleet.speed + fleet.acceleration * dt, 0.0)
        fleet.along += (fleet.speed + after) * (dt / 2)
        fleet.speed = after
        fleet.changing = np.maximum(fleet.changing - dt / CHANGE_SECONDS, 0.0)
        fleet.before[fleet.changing < 0.55] = -2
        over = fleet.along - network.length[fleet.segment]
        passed = over >= 0
        if not passed.any():
            return
        go = np.flatnonzero(passed & (fleet.following >= 0))
        fleet.segment[go] = fleet.following[go]
        fleet.along[go] = over[go]
        fleet.following[go] = -1
        fleet.ticket[go] = fleet.next_ticket[go]
        fleet.next_ticket[go] = np.inf
        fleet.before[go] = -2
        passed[go] = False
        if passed.any():
            fleet.keep(~passed)

    def _record(self, step: int, vehicles: Recording, people: Recording) -> None:
        fleet = self.fleet
        slot = fleet.slot
        vehicles.present[slot, step] = True
        vehicles.segment[slot, step] = fleet.segment
        vehicles.along[slot, step] = fleet.along
        shift, drifting = lateral(fleet.shift, fleet.changing)
        vehicles.sideways[slot, step] = shift + self.drivers.sideways[slot]
        vehicles.drifting[slot, step] = drifting
        vehicles.speed[slot, step] = fleet.speed
        crowd = self.crowd
        if not len(crowd):
            return
        people.present[:, step] = crowd.present & ~crowd.left
        people.speed[:, step] = crowd.speed
        people.sideways[:, step] = crowd.drift + crowd.walkers.sideways
        people.segment[:, step] = crowd.segment
        people.along[:, step] = crowd.along


def _blank(count: int, steps: int) -> Recording:
    shape = (count, steps)
    return Recording(
        present=np.zeros(shape, bool),
        segment=np.zeros(shape, np.int64),
        along=np.zeros(shape),
        sideways=np.zeros(shape),
        drifting=np.zeros(shape),
        speed=np.zeros(shape),
    )
