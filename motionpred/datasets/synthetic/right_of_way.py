"""Who passes a conflict first: tickets that drivers draw when they come near.

A ticket is the moment at which a driver means to pass. The lower one goes first; the other waits,
or, where two paths become one, falls in behind. Rules of the road decide who must find a gap
before drawing a ticket; courtesy, impatience and misjudgement move it, so that the same approach
may end either way. Tickets grow along a lane, so nobody waits for somebody behind.

Shapes: R presences (a vehicle on a connector, or about to enter one).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.car_following import FAR, pressure, wall_pressure
from motionpred.datasets.synthetic.conflicts import CROSS, DIVERGE, MERGE
from motionpred.datasets.synthetic.fleet import Fleet
from motionpred.datasets.synthetic.layouts import Layout
from motionpred.scene import SignalState

Array = npt.NDArray[Any]

_COURTESY = 0.3  # share of drivers with the right of way who let somebody in
_COURTESY_SECONDS = 5.0
_HESITATION = 1.8  # seconds, deviation among equals
_IMPATIENCE = 0.22  # seconds of margin given up for each second of waiting
_SLOW = 2.0  # m/s below which somebody ahead may be about to stand
_BEHIND = 2.5  # metres that are kept free behind a standing vehicle
_BRISK = 1.6  # m/s2
_IN = 4.0  # metres inside a merge after which one is in
_BOLDEST = -1.5  # seconds, the smallest margin
_STOP_ZONE = 5.0  # metres before a stop sign in which one has stopped


@dataclass(frozen=True)
class Presences:
    """Vehicles on connectors and before them, one row each."""

    vehicle: Array  # [R] index in the fleet
    connector: Array  # [R]
    along: Array  # [R] metres on the connector; negative before it
    ticket: Array  # [R]
    ahead: Array  # [R] bool, the vehicle is before the connector


def presences(fleet: Fleet, layout: Layout) -> Presences:
    """Rows of everybody on a connector and of everybody whose next segment is one."""
    here = layout.connector_of[fleet.segment]
    there = np.where(fleet.following >= 0, layout.connector_of[np.maximum(fleet.following, 0)], -1)
    on, coming = np.flatnonzero(here >= 0), np.flatnonzero(there >= 0)
    vehicle = np.concatenate([on, coming])
    rest = fleet.along[coming] - layout.network.length[fleet.segment[coming]]
    return Presences(
        vehicle=vehicle,
        connector=np.concatenate([here[on], there[coming]]),
        along=np.concatenate([fleet.along[on], rest]),
        ticket=np.concatenate([fleet.ticket[on], fleet.next_ticket[coming]]),
        ahead=np.arange(len(vehicle)) >= len(on),
    )


class Negotiation:
    """One control step at the conflicts: tickets are drawn, and those who wait are pressed.

    Pair arrays ``[R, R]`` are about the first presence, as it meets the second.
    """

    def __init__(self, fleet: Fleet, layout: Layout, rows: Presences) -> None:
        self.fleet, self.layout, self.rows = fleet, layout, rows
        one, other = rows.connector[:, None], rows.connector[None]
        self.kind = layout.conflicts.kind[one, other]
        self.kind[rows.vehicle[:, None] == rows.vehicle[None]] = 0
        self.yields = layout.conflicts.yields[one, other]
        self.enter = layout.conflicts.enter[one, other]
        leave = layout.conflicts.leave[one, other]
        half = fleet.length[rows.vehicle] / 2
        self.front, self.back = rows.along + half, rows.along - half
        speed = fleet.speed[rows.vehicle]
        limit = layout.paths.limit[rows.connector]
        self.line = _duration(-self.front, speed, limit)
        speed, limit = speed[:, None], limit[:, None]
        self.arrive = _duration(self.enter - self.front[:, None], speed, limit)
        # Where two paths become one, it is enough to be in: the other falls in behind.
        done = np.where(self.kind == MERGE, np.minimum(leave, self.enter + _IN), leave)
        self.clear = _duration(done - self.back[:, None], speed, limit)
        self.gone = (self.back[:, None] > leave).T  # the second is past the conflict
        self.inside = self.front[:, None] > self.enter  # the first has reached it

    def hold_back(self, state: Array) -> None:
        """Take tickets back from those who can still stop before a red light or a full exit.

        ``state`` ``[F]`` is that of the lights.
        """
        rows, paths = self.rows, self.layout.paths
        phase = paths.phase[rows.connector]
        self.green = (phase < 0) | (state[phase] == SignalState.GO) if len(state) else phase < 0
        speed = self.fleet.speed[rows.vehicle]
        self.green &= ~self._no_room(speed)
        can_stop = -self.front > speed * speed / 6.0
        late = rows.ahead & ~self.green & can_stop
        rows.ticket[late] = np.inf
        self.fleet.next_ticket[rows.vehicle[late]] = np.inf

    def _no_room(self, speed: Array) -> Array:
        """For whom there is no place behind the last standing vehicle beyond the junction."""
        fleet, rows, paths = self.fleet, self.rows, self.layout.paths
        target = paths.target[rows.connector]
        room = np.full(len(self.layout.network), FAR)
        slow = fleet.speed < _SLOW
        back = (fleet.along - fleet.length / 2)[slow]
        np.minimum.at(room, fleet.segment[slow], back)
        length = fleet.length[rows.vehicle] + _BEHIND
        claimed = np.zeros(len(room))
        np.add.at(claimed, target[~rows.ahead], length[~rows.ahead])
        return np.asarray(rows.ahead & (room[target] - claimed[target] < length))

    def draw_tickets(self, time: float, leader: Array, numbers: Array) -> None:
        """Give tickets to those who may go; ``numbers`` ``[n, 2]`` are uniform draws.

        ``leader`` ``[n]`` is the vehicle ahead on the same segment, -1 without.
        """
        fleet, rows, paths = self.fleet, self.rows, self.layout.paths
        vehicle = rows.vehicle
        speed = fleet.speed[vehicle]
        wants = rows.ahead & np.isinf(rows.ticket) & self.green
        wants &= paths.controlled[rows.connector]
        ahead = leader[vehicle]
        wants &= (ahead < 0) | np.isfinite(fleet.next_ticket[ahead])
        stopped = (speed < 0.4) & (self.front > -_STOP_ZONE)
        wants &= ~paths.stop[rows.connector] | stopped
        if not wants.any():
            return
        meets = ((self.kind == CROSS) | (self.kind == MERGE)) & ~self.gone
        known = np.isfinite(rows.ticket) | (rows.ahead & self.green)
        later = np.where(np.isfinite(rows.ticket), rows.ticket - time, -np.inf)
        other_arrives = np.maximum(self.arrive.T, later[None])
        # Who has waited long goes although others must brake.
        gap = np.maximum(fleet.gap[vehicle] - _IMPATIENCE * fleet.waited[vehicle], _BOLDEST)
        fits = self.clear + gap[:, None] < other_arrives
        wants &= ~(meets & self.yields & known[None] & ~fits).any(axis=1)
        chosen = np.flatnonzero(wants)
        if not len(chosen):
            return
        waits = rows.ahead & (speed < 2.0) & (self.front > -8.0)
        asked = (meets & self.yields.T & waits[None]).any(axis=1)[chosen]
        equal = (meets & ~self.yields & ~self.yields.T).any(axis=1)[chosen]
        number = numbers[vehicle[chosen]]
        courteous = asked & (number[:, 0] < _COURTESY)
        # The sum of two uniform numbers, scaled to deviation 1.
        hesitation = np.where(equal, _HESITATION * 2.45 * (number.sum(axis=1) - 1.0), 0.0)
        ticket = time + self.line[chosen] + hesitation
        ticket += np.where(courteous, _COURTESY_SECONDS, 0.0)
        first = ahead[chosen]
        behind = np.where(first >= 0, fleet.next_ticket[first] + 0.1, -np.inf)
        ticket = np.maximum(ticket, behind)
        rows.ticket[chosen] = ticket
        fleet.next_ticket[vehicle[chosen]] = ticket

    def press(self, pressed: Array) -> None:
        """Raise ``pressed`` ``[n]`` for stop lines, crossing traffic and merging traffic."""
        fleet, rows, paths = self.fleet, self.rows, self.layout.paths
        held = rows.ahead & np.isinf(rows.ticket) & paths.controlled[rows.connector]
        line = np.flatnonzero(held)
        _raise(
            pressed, rows.vehicle[line], wall_pressure(fleet, rows.vehicle[line], -self.front[line])
        )
        if not self.kind.any():
            return
        earlier = rows.ticket[None] < rows.ticket[:, None]
        inside = self.inside.T
        passes = (self.clear + 0.7 < self.arrive.T) & ~inside
        ready = np.isfinite(rows.ticket)[None] & ~self.gone
        crossing = (self.kind == CROSS) & ready & ~self.inside & (earlier | inside) & ~passes
        self._press_crossing(pressed, *np.nonzero(crossing))
        rest = paths.length[rows.connector] - rows.along
        nearer = rest[None] < rest[:, None]
        first = np.where(
            self.inside & inside, nearer, np.where(self.inside | inside, inside, earlier)
        )
        merging = (self.kind == MERGE) & ready & first
        self._press_merging(pressed, rest, passes, *np.nonzero(merging))
        apart = self.back[None] - self.front[:, None]
        tails = (self.kind == DIVERGE) & ~self.gone & (rows.along[None] > rows.along[:, None])
        one, other = np.nonzero(tails)
        who = rows.vehicle[one]
        ahead_speed = fleet.speed[rows.vehicle[other]]
        _raise(pressed, who, pressure(fleet, who, apart[one, other], ahead_speed))

    def _press_crossing(self, pressed: Array, one: Array, other: Array) -> None:
        rows = self.rows
        enter, front = self.enter[one, other], self.front[one]
        # One waits at the stop line, unless the conflict lies well inside the junction.
        clear = self.layout.paths.keep_clear[rows.connector[one]] | (enter < 6.0)
        gap = np.where(rows.ahead[one] & clear, -front, enter - front - 1.0)
        _raise(pressed, rows.vehicle[one], wall_pressure(self.fleet, rows.vehicle[one], gap))

    def _press_merging(
        self, pressed: Array, rest: Array, passes: Array, one: Array, other: Array
    ) -> None:
        rows, fleet = self.rows, self.fleet
        who, leader = rows.vehicle[one], rows.vehicle[other]
        gap = rest[one] - rest[other] - (fleet.length[who] + fleet.length[leader]) / 2
        follows = gap > 0.3
        clear = rows.ahead[one] & self.layout.paths.keep_clear[rows.connector[one]]
        zone = self.enter[one, other] - self.front[one] - 0.5
        wall = np.where(clear, -self.front[one], zone)
        # They cannot touch before the paths do.
        press = pressure(fleet, who, np.maximum(gap, zone), fleet.speed[leader])
        stops = ~follows & ~self.inside[one, other] & ~passes[one, other]
        press = np.where(follows, press, np.where(stops, wall_pressure(fleet, who, wall), 0.0))
        _raise(pressed, who, press)


def _duration(distance: Array, speed: Array, limit: Array) -> Array:
    """Seconds that a driver reckons with for a distance: she speeds up to what is allowed."""
    reached = np.sqrt(speed * speed + 2.0 * _BRISK * np.maximum(distance, 0.0))
    allowed = np.maximum(limit, (speed + limit) / 2)
    mean = np.maximum(np.minimum((speed + reached) / 2, allowed), 1.0)
    return np.asarray(distance / mean)


def _raise(pressed: Array, who: Array, value: Array) -> None:
    np.maximum.at(pressed, who, np.minimum(value, FAR))
