"""Directed path segments with successors: what vehicles drive on and pedestrians walk on.

Shapes: S segments, P points, n agents. Metres, local frame. Points lie at equal distances along a
segment, so that a place on it is found without a search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MOST_SUCCESSORS = 4
SPACING = 1.0  # metres between the points of a segment, about
SIDEWAYS = 2.2  # m/s2 that drivers accept in a curve
_ROUND = 6  # decimals of coordinates: hides what sine and cosine do differently across machines


@dataclass(frozen=True)
class Network:
    """Segments as flattened points, with what a driver must know of each."""

    points: Array  # [P, 2]
    tangent: Array  # [P, 2] unit vectors
    base: Array  # [S] first point
    count: Array  # [S] number of points
    step: Array  # [S] metres between points
    length: Array  # [S]
    limit: Array  # [S] m/s, from the road and from the tightest bend
    successor: Array  # [S, 4], -1 where there is none
    choices: Array  # [S] number of successors
    share: Array  # [S, 4] how often each successor is taken, added up along the row
    left: Array  # [S] lane beside it that runs the same way, else -1
    right: Array  # [S]

    def __len__(self) -> int:
        return len(self.base)

    def pose(self, segment: Array, along: Array) -> tuple[Array, Array]:
        """Position and unit tangent ``[..., 2]`` at ``along`` metres of segments ``[...]``."""
        place = along / self.step[segment]
        whole = np.clip(place.astype(np.int64), 0, self.count[segment] - 2)
        part = (place - whole)[..., None]
        first = self.base[segment] + whole
        start, direction = self.points[first], self.tangent[first]
        position = start + (self.points[first + 1] - start) * part
        direction = direction + (self.tangent[first + 1] - direction) * np.clip(part, 0.0, 1.0)
        norm = np.sqrt(direction[..., 0] ** 2 + direction[..., 1] ** 2)
        return position, direction / norm[..., None]

    def line(self, segment: int) -> Array:
        """Points ``[n, 2]`` of one segment."""
        first = int(self.base[segment])
        return np.asarray(self.points[first : first + int(self.count[segment])])


class NetworkBuilder:
    """Gathers segments and links."""

    def __init__(self) -> None:
        self._lines: list[Array] = []
        self._limits: list[float] = []
        self._links: list[tuple[int, int, float]] = []
        self._beside: list[tuple[int, int]] = []

    def add(self, line: Array, limit: float) -> int:
        """Append a segment along a polyline ``[n, 2]``; returns its index."""
        self._lines.append(even(line, SPACING))
        self._limits.append(limit)
        return len(self._lines) - 1

    def link(self, before: int, after: int, weight: float = 1.0) -> None:
        """Let ``after`` follow ``before``, as often as ``weight`` says among its like."""
        self._links.append((before, after, weight))

    def neighbours(self, left: int, right: int) -> None:
        """Let two lanes that run the same way lie side by side."""
        self._beside.append((left, right))

    def finish(self) -> Network:
        """The network of everything that was added."""
        count = np.array([len(line) for line in self._lines], np.int64)
        base = np.concatenate([[0], np.cumsum(count)[:-1]])
        points = np.round(np.concatenate(self._lines), _ROUND)
        step = np.empty(len(count))
        delta = np.diff(points, axis=0)
        span = np.sqrt(delta[:, 0] ** 2 + delta[:, 1] ** 2)
        last = base + count - 1
        total = np.concatenate([[0.0], np.cumsum(span)])
        step = (total[last] - total[base]) / (count - 1)
        tangent = _tangents(points, base, last)
        bend = np.zeros(len(points))
        turn = np.diff(tangent, axis=0)
        bend[1:] = np.sqrt(turn[:, 0] ** 2 + turn[:, 1] ** 2)
        bend[base] = 0.0
        sharpest = np.maximum.reduceat(bend, base) / step
        limit = np.minimum(self._limits, np.sqrt(SIDEWAYS / np.maximum(sharpest, 1e-4)))
        successor = np.full((len(count), MOST_SUCCESSORS), -1, np.int64)
        choices = np.zeros(len(count), np.int64)
        weight = np.zeros((len(count), MOST_SUCCESSORS))
        for before, after, often in self._links:
            successor[before, choices[before]] = after
            weight[before, choices[before]] = often
            choices[before] += 1
        share = np.cumsum(weight, axis=1)
        share /= np.maximum(share[:, -1:], 1e-9)
        # Rounding must not leave a number that picks nothing.
        share[np.arange(MOST_SUCCESSORS) >= choices[:, None] - 1] = 1.0
        left, right = np.full((2, len(count)), -1, np.int64)
        for one, other in self._beside:
            right[one], left[other] = other, one
        return Network(
            points=points,
            tangent=tangent,
            base=base,
            count=count,
            step=step,
            length=step * (count - 1),
            limit=limit,
            successor=successor,
            choices=choices,
            share=share,
            left=left,
            right=right,
        )


def even(line: Array, spacing: float) -> Array:
    """The polyline at equal distances of about ``spacing`` metres; end points are kept."""
    delta = np.diff(line, axis=0)
    along = np.concatenate([[0.0], np.cumsum(np.sqrt(delta[:, 0] ** 2 + delta[:, 1] ** 2))])
    pieces = max(1, round(float(along[-1]) / spacing))
    wanted = np.linspace(0.0, along[-1], pieces + 1)
    return np.stack([np.interp(wanted, along, line[:, axis]) for axis in (0, 1)], axis=-1)


def _tangents(points: Array, first: Array, last: Array) -> Array:
    tangent = np.empty_like(points)
    tangent[1:-1] = points[2:] - points[:-2]
    tangent[first] = points[first + 1] - points[first]
    tangent[last] = points[last] - points[last - 1]
    return np.asarray(tangent / np.sqrt(tangent[:, 0] ** 2 + tangent[:, 1] ** 2)[:, None])
