"""Roads that meet at a junction: reference lines, lanes beside them, crossings at their mouths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

REACH = 125.0  # metres, length of a road from its junction
STEP = 2.0  # metres between the points of a reference line
PARKING = 2.3  # metres, width of a parking strip
PAVEMENT = 1.8  # metres from the kerb to the line that pedestrians keep
CROSSING_DEPTH = 2.6  # metres from the stop line to the middle of the crosswalk
CROSSING_HALF = 1.6  # metres, half the width of a crosswalk


@dataclass(frozen=True)
class Arm:
    """One road, seen from the junction outwards. Traffic keeps to the right.

    Offsets are metres to the left of the reference line: outbound lanes lie at negative ones.
    Lane 0 is next to the reference line.
    """

    angle: float  # radians, direction outwards at the mouth
    points: Array  # [n, 2] reference line, the mouth (stop line) first
    normal: Array  # [n, 2] unit vectors to the left
    inbound: int
    outbound: int
    width: float  # metres, of a lane
    median: float  # metres between the inner lanes
    limit: float  # m/s
    parking: tuple[bool, bool]  # strips beyond the outbound and the inbound lanes
    crosswalk: bool

    @property
    def lanes_right(self) -> float:
        """Offset of the outer edge of the outbound lanes."""
        return -(self.median / 2 + self.outbound * self.width)

    @property
    def lanes_left(self) -> float:
        """Offset of the outer edge of the inbound lanes."""
        return self.median / 2 + self.inbound * self.width

    @property
    def kerb_right(self) -> float:
        """Offset of the kerb at the outbound side."""
        return self.lanes_right - (PARKING if self.parking[0] else 0.3)

    @property
    def kerb_left(self) -> float:
        """Offset of the kerb at the inbound side."""
        return self.lanes_left + (PARKING if self.parking[1] else 0.3)

    def offset_line(self, offset: float) -> Array:
        """The reference line moved to the left, outwards."""
        return np.asarray(self.points + offset * self.normal)

    def lane_offset(self, inbound: bool, lane: int) -> float:
        """Offset of the middle of a lane."""
        away = self.median / 2 + (lane + 0.5) * self.width
        return away if inbound else -away

    def lane_line(self, inbound: bool, lane: int) -> Array:
        """The middle of a lane, in driving direction."""
        line = self.offset_line(self.lane_offset(inbound, lane))
        return line[::-1] if inbound else line

    def before_mouth(self, inward: float, offset: float) -> Array:
        """A point ``[2]`` that lies ``inward`` metres inside the mouth."""
        outward = np.array([self.normal[0, 1], -self.normal[0, 0]])
        return np.asarray(self.points[0] - inward * outward + offset * self.normal[0])


def make_arm(
    angle: float,
    mouth: float,
    bends: list[tuple[float, float]],
    *,
    lanes: tuple[int, int],
    width: float,
    median: float,
    limit: float,
    parking: tuple[bool, bool],
    crosswalk: bool,
    clear: float = 8.0,
) -> Arm:
    """An arm whose mouth lies ``mouth`` metres from the origin in the direction ``angle``.

    ``lanes`` are those inbound and outbound; the ``bends`` (metre, curvature) count from ``clear``
    metres beyond the mouth, before which the road is straight.
    """
    start = mouth * np.array([np.cos(angle), np.sin(angle)])
    points, normal = reference_line(start, angle, REACH, [(clear + at, bend) for at, bend in bends])
    return Arm(
        angle=float(angle),
        points=points,
        normal=normal,
        inbound=lanes[0],
        outbound=lanes[1],
        width=width,
        median=median,
        limit=limit,
        parking=parking,
        crosswalk=crosswalk,
    )


def reference_line(
    start: Array, angle: float, length: float, bends: list[tuple[float, float]]
) -> tuple[Array, Array]:
    """Points and left normals from a start; ``bends`` are (from metre, curvature in 1/m)."""
    along = np.arange(0.0, length + STEP, STEP)
    curvature = np.zeros(len(along) - 1)
    for begin, value in bends:
        curvature[along[:-1] >= begin] = value
    heading = angle + np.concatenate([[0.0], np.cumsum(curvature * STEP)])
    middle = (heading[1:] + heading[:-1]) / 2
    move = STEP * np.stack([np.cos(middle), np.sin(middle)], axis=-1)
    points = start + np.concatenate([np.zeros((1, 2)), np.cumsum(move, axis=0)])
    return points, np.stack([-np.sin(heading), np.cos(heading)], axis=-1)


def connecting_curve(start: Array, leave: Array, stop: Array, arrive: Array) -> Array:
    """A cubic curve between two poses given as points and unit directions."""
    reach = float(np.sqrt(((stop - start) ** 2).sum()))
    handle = reach * (0.34 + 0.06 * (1.0 - float(leave[0] * arrive[0] + leave[1] * arrive[1])))
    t = np.linspace(0.0, 1.0, max(6, int(reach / 1.0)))[:, None]
    u = 1.0 - t
    return np.asarray(
        u**3 * start
        + 3 * u**2 * t * (start + handle * leave)
        + 3 * u * t**2 * (stop - handle * arrive)
        + t**3 * stop
    )
