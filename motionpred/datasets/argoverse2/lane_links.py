"""Links between lanes, checked by what the file holds and by geometry. L lanes, E links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.scene import EdgeKind

Array = npt.NDArray[Any]
_Pairs = set[tuple[int, int]]

_SIDES = (("left_neighbor_id", EdgeKind.LEFT), ("right_neighbor_id", EdgeKind.RIGHT))


def lane_links(
    lanes: Sequence[Mapping[str, Any]],
    index: Mapping[str, int],
    direction: Array,
    report: Counter[str],
) -> tuple[Array, Array, Array]:
    """Edges ``[2, E]``, their kind ``[E]``, and whether the lanes run against each other ``[E]``.

    ``index`` maps a lane's id to its place in ``lanes``; ``direction`` ``[L, 2]`` points from the
    first to the last point of each lane. A successor is an edge if either end states it. Links to
    absent lanes and to the lane itself are dropped. ``report`` counts both, links that only one
    end states, and pairs of lanes whose sides cannot both be true.
    """

    def known(place: int, names: Iterable[Any], relation: str) -> list[int]:
        found = []
        for name in names:
            other = index.get(str(name))
            if other is None:
                report["dangling_links"] += 1
                report[f"dangling_{relation}"] += 1
            elif other == place:
                report["self_links"] += 1
            else:
                found.append(other)
        return found

    forward: _Pairs = set()
    backward: _Pairs = set()
    side: dict[EdgeKind, _Pairs] = {EdgeKind.LEFT: set(), EdgeKind.RIGHT: set()}
    for place, lane in enumerate(lanes):
        for other in known(place, lane.get("successors") or (), "successors"):
            forward.add((place, other))
        for other in known(place, lane.get("predecessors") or (), "predecessors"):
            backward.add((other, place))
        for name, kind in _SIDES:
            if (neighbour := lane.get(name)) is not None:
                for other in known(place, (neighbour,), f"{kind.name.lower()}_neighbours"):
                    side[kind].add((place, other))
    report["one_sided_links"] += len(forward ^ backward)

    groups = [(EdgeKind.SUCCESSOR, sorted(forward | backward))]
    groups += [(relation, sorted(pairs)) for relation, pairs in side.items()]
    kinds = [relation for relation, pairs in groups for _ in pairs]
    edge_kind = np.array(kinds, np.int8)
    edges = np.array([pair for _, pairs in groups for pair in pairs], np.int64).reshape(-1, 2).T
    against = (direction[edges[0]] * direction[edges[1]]).sum(axis=1) < 0
    opposite = against & (edge_kind != EdgeKind.SUCCESSOR)
    report["side_conflicts"] += _side_conflicts(side, edges[:, opposite])
    return edges, edge_kind, opposite


def _side_conflicts(side: Mapping[EdgeKind, _Pairs], opposite: Array) -> int:
    """Pairs of lanes on the same side of each other that run the same way, or on both sides."""
    oncoming = set(map(tuple, opposite.T.tolist()))
    left, right = side[EdgeKind.LEFT], side[EdgeKind.RIGHT]
    mutual = {
        frozenset(pair)
        for pairs in (left, right)
        for pair in pairs
        if pair[::-1] in pairs and pair not in oncoming
    }
    return len(mutual | {frozenset(pair) for pair in left & right})
