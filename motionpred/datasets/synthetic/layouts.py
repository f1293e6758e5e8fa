"""A place: roads, the paths through their junction, the rules there, and where people walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.arms import Arm, connecting_curve
from motionpred.datasets.synthetic.conflicts import CROSS, MERGE, Conflicts, find_conflicts
from motionpred.datasets.synthetic.network import Network, NetworkBuilder
from motionpred.datasets.synthetic.walkways import Walkways, build_walkways

Array = npt.NDArray[Any]

LEFT, STRAIGHT, RIGHT = 1, 0, -1
_STRAIGHT_ON = 1.5  # how many go straight on for one who turns to a side


@dataclass(frozen=True)
class ArmLane:
    """A lane of an arm."""

    segment: int
    arm: int
    inbound: bool
    lane: int


@dataclass(frozen=True)
class Connector:
    """A path inside the junction. Arms are -1 where it begins or ends on a roundabout's ring."""

    segment: int
    source: int  # segment before
    target: int  # segment after
    from_arm: int
    from_offset: float  # metres to the left of the arm's reference line, at the stop line
    to_arm: int
    to_offset: float
    turn: int  # LEFT, STRAIGHT, RIGHT
    rank: int  # higher has the right of way
    stop: bool  # traffic must stop before it enters


@dataclass(frozen=True)
class Paths:
    """Columns of the connectors that the simulation reads at every step. C connectors."""

    length: Array  # [C] metres
    limit: Array  # [C] m/s
    controlled: Array  # [C] bool, entering takes a decision: conflicts or signals
    phase: Array  # [C] signal phase, -1 without signals
    stop: Array  # [C] bool
    target: Array  # [C] segment after it
    keep_clear: Array  # [C] bool, who waits does so before it, never on it
    arm: Array  # [2, C] arm whose crosswalk lies at the start and at the end, -1 for none
    offset: Array  # [2, C] metres to the left of that arm's reference line


@dataclass(frozen=True)
class Layout:
    """Everything about a place that does not move."""

    kind: str
    arms: tuple[Arm, ...]
    network: Network
    lanes: tuple[ArmLane, ...]
    connectors: tuple[Connector, ...]
    conflicts: Conflicts
    connector_of: Array  # [S] index of the connector that a segment is, else -1
    light: Array  # [S] signal phase at the end of a segment, -1 without one
    paths: Paths
    arm_phase: Array  # [arms] signal phase, -1 without signals
    phases: int
    walkways: Walkways
    crosswalk_courtesy: float  # probability that a driver stops for people at a crosswalk
    demand: float  # vehicles a second and entry lane
    ring: float  # metres, outer radius of a roundabout, else 0


class LayoutBuilder:
    """Roads first, then paths between their lanes."""

    def __init__(self, kind: str, arms: list[Arm]) -> None:
        self.kind = kind
        self.arms = arms
        self.builder = NetworkBuilder()
        self.lanes: list[ArmLane] = []
        self.segment: dict[tuple[int, bool, int], int] = {}
        self.connectors: list[Connector] = []
        for number, arm in enumerate(arms):
            for inbound, count in ((True, arm.inbound), (False, arm.outbound)):
                for lane in range(count):
                    index = self.builder.add(arm.lane_line(inbound, lane), arm.limit)
                    self.segment[number, inbound, lane] = index
                    self.lanes.append(ArmLane(index, number, inbound, lane))
                    if lane:
                        self.builder.neighbours(self.segment[number, inbound, lane - 1], index)

    def end_of(self, arm: int, lane: int) -> tuple[Array, Array]:
        """Point and direction at the stop line of an inbound lane."""
        shape = self.arms[arm]
        point = shape.before_mouth(0.0, shape.lane_offset(True, lane))
        return point, _inward(shape)

    def start_of(self, arm: int, lane: int) -> tuple[Array, Array]:
        """Point and direction at the mouth of an outbound lane."""
        shape = self.arms[arm]
        return shape.before_mouth(0.0, shape.lane_offset(False, lane)), -_inward(shape)

    def connect(
        self,
        line: Array,
        limit: float,
        *,
        source: tuple[int, int] | int,
        target: tuple[int, int] | int,
        turn: int = STRAIGHT,
        rank: int = 0,
        stop: bool = False,
        weight: float = 1.0,
    ) -> int:
        """Add a path from a lane (arm, lane) or a segment to another; returns its segment."""
        index = self.builder.add(line, limit)
        from_arm, from_lane = source if isinstance(source, tuple) else (-1, 0)
        to_arm, to_lane = target if isinstance(target, tuple) else (-1, 0)
        before = source if isinstance(source, int) else self.segment[from_arm, True, from_lane]
        after = target if isinstance(target, int) else self.segment[to_arm, False, to_lane]
        self.builder.link(before, index, weight)
        self.builder.link(index, after)
        self.connectors.append(
            Connector(
                segment=index,
                source=before,
                target=after,
                from_arm=from_arm,
                from_offset=_offset(self.arms, from_arm, True, from_lane),
                to_arm=to_arm,
                to_offset=_offset(self.arms, to_arm, False, to_lane),
                turn=turn,
                rank=rank,
                stop=stop,
            )
        )
        return index

    def join(
        self,
        source: tuple[int, int],
        target: tuple[int, int],
        limit: float,
        turn: int,
        *,
        rank: int = 0,
        stop: bool = False,
    ) -> None:
        """Add a smooth path from an inbound lane (arm, lane) to an outbound one."""
        line = connecting_curve(*self.end_of(*source), *self.start_of(*target))
        self.connect(
            line,
            limit,
            source=source,
            target=target,
            turn=turn,
            rank=rank,
            stop=stop,
            weight=_STRAIGHT_ON if turn == STRAIGHT else 1.0,
        )

    def finish(
        self,
        *,
        arm_phase: list[int] | None = None,
        crosswalk_courtesy: float = 0.8,
        demand: float = 0.1,
        ring: float = 0.0,
    ) -> Layout:
        """The layout of everything that was added.

        ``arm_phase`` gives signals to the arms; ``ring`` is the outer radius of a roundabout.
        """
        network = self.builder.finish()
        paths = self.connectors
        segments = np.array([path.segment for path in paths], np.int64)
        approach = np.array([path.from_arm for path in paths], np.int64)
        conflicts = find_conflicts(
            network,
            segments,
            np.array([path.source for path in paths], np.int64),
            np.array([path.target for path in paths], np.int64),
            np.array([path.rank for path in paths], np.int64),
            approach,
        )
        connector_of = np.full(len(network), -1, np.int64)
        connector_of[segments] = np.arange(len(paths))
        phases = np.array(arm_phase or [-1] * len(self.arms), np.int64)
        phase = np.where(approach >= 0, phases[approach], -1)
        light = np.full(len(network), -1, np.int64)
        light[[path.source for path in paths]] = phase
        meets = ((conflicts.kind == CROSS) | (conflicts.kind == MERGE)).any(axis=1)
        return Layout(
            kind=self.kind,
            arms=tuple(self.arms),
            network=network,
            lanes=tuple(self.lanes),
            connectors=tuple(paths),
            conflicts=conflicts,
            connector_of=connector_of,
            light=light,
            paths=Paths(
                length=network.length[segments],
                limit=network.limit[segments],
                controlled=meets | (phase >= 0),
                phase=phase,
                stop=np.array([path.stop for path in paths]),
                target=np.array([path.target for path in paths], np.int64),
                keep_clear=(phase < 0) & (self.kind != "merge"),
                arm=np.array([[path.from_arm, path.to_arm] for path in paths]).T.copy(),
                offset=np.array([[path.from_offset, path.to_offset] for path in paths]).T.copy(),
            ),
            arm_phase=phases,
            phases=int(phases.max()) + 1,
            walkways=build_walkways(self.arms, ring + 3.5 if ring else 0.0),
            crosswalk_courtesy=crosswalk_courtesy,
            demand=demand,
            ring=ring,
        )


def _inward(arm: Arm) -> Array:
    return np.array([-arm.normal[0, 1], arm.normal[0, 0]])


def _offset(arms: list[Arm], arm: int, inbound: bool, lane: int) -> float:
    return arms[arm].lane_offset(inbound, lane) if arm >= 0 else 0.0
