"""Where the paths through a junction meet. C connectors; distances are metres along a connector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.datasets.synthetic.network import Network

Array = npt.NDArray[Any]

CLEAR, CROSS, MERGE, DIVERGE = range(4)
WIDTH = 2.5  # metres between two paths below which two cars touch


@dataclass(frozen=True)
class Conflicts:
    """For every ordered pair of connectors: how they meet, and where on the first one."""

    kind: Array  # [C, C] int8, CLEAR, CROSS, MERGE or DIVERGE
    enter: Array  # [C, C] where the first comes close to the second, inf where never
    leave: Array  # [C, C] where it is past it, -inf where never
    yields: Array  # [C, C] bool, the first gives way to the second by the rules of the road


def find_conflicts(
    network: Network, connectors: Array, source: Array, target: Array, rank: Array, approach: Array
) -> Conflicts:
    """Conflicts of ``connectors`` ``[C]`` (segments).

    ``source`` and ``target`` ``[C]`` are the segments before and after; ``rank`` ``[C]`` is higher
    for those with the right of way; connectors of one ``approach`` ``[C]`` never yield to another.
    """
    points, along, first = [], [], []
    total = 0
    for segment in connectors.tolist():
        line = network.line(segment)
        index = np.unique(np.concatenate([np.arange(0, len(line), 2), [len(line) - 1]]))
        first.append(total)
        total += len(index)
        points.append(line[index])
        along.append(index * network.step[segment])
    place = np.concatenate(along)
    flat = np.concatenate(points)
    delta = flat[:, None] - flat[None]
    near = delta[..., 0] ** 2 + delta[..., 1] ** 2 < WIDTH**2
    touches = np.logical_or.reduceat(near, first, axis=1)  # [points, C]
    enter = np.minimum.reduceat(np.where(touches, place[:, None], np.inf), first, axis=0)
    leave = np.maximum.reduceat(np.where(touches, place[:, None], -np.inf), first, axis=0)
    kind = np.where(np.isfinite(enter), CROSS, CLEAR)
    kind[target[:, None] == target[None]] = MERGE
    kind[source[:, None] == source[None]] = DIVERGE
    kind[np.arange(len(kind)), np.arange(len(kind))] = CLEAR
    # The reverse must hold too: sampling may see a graze from one side only.
    kind = np.where((kind == CROSS) & (kind.T != CROSS), CLEAR, kind)
    return Conflicts(
        kind=kind.astype(np.int8),
        enter=enter,
        leave=leave,
        yields=(rank[None] > rank[:, None]) & (approach[:, None] != approach[None]),
    )
