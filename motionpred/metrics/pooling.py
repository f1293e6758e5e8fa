"""Scores of scenes brought together; the same whatever the order and the split into shards."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from motionpred.errors import SceneError
from motionpred.metrics.protocol import Figure, Scores
from motionpred.scene import CLOCK_TOLERANCE

WITHOUT_TRUTH = "without_truth"
HORIZON = "horizon"  # key of Scores.samples: seconds that the scene was scored over


@dataclass(frozen=True)
class Pooled:
    """Sums over scenes."""

    terms: Mapping[tuple[str, int], tuple[float, float]]  # (metric, k) -> sum, count
    samples: tuple[Mapping[str, Any], ...]  # of the scored scenes, by scene id
    scenes: int  # scored: they add to some figure
    without_truth: int
    horizon: float  # seconds, 0 where nothing was scored
    notes: Mapping[str, int]

    def figure(self, metric: str, k: int, agents: str, over: str, unit: str) -> Figure:
        """The mean of one metric; NaN where nothing counts."""
        total, count = self.terms.get((metric, k), (0.0, 0.0))
        value = total / count if count else math.nan
        return Figure(metric, value, k, self.horizon, agents, round(count), over, unit)


def pool(scores: Iterable[Scores]) -> Pooled:
    """Sum the terms of all scenes, each scene once, exactly rounded.

    Padded samplers repeat scenes; the first of each id counts and the rest are noted as
    ``duplicate_scenes``.

    Raises:
        SceneError: two scenes were scored over different horizons.
    """
    once: dict[str, Scores] = {}
    notes: Counter[str] = Counter()
    for item in scores:
        if item.scene_id in once:
            notes["duplicate_scenes"] += 1
        else:
            once[item.scene_id] = item
    listed = [once[scene_id] for scene_id in sorted(once)]
    columns: dict[tuple[str, int], tuple[list[float], list[float]]] = {}
    for item in listed:
        notes.update(item.notes)
        for key, (total, count) in item.terms.items():
            totals, counts = columns.setdefault(key, ([], []))
            totals.append(total)
            counts.append(count)
    scored = [item for item in listed if any(count for _, count in item.terms.values())]
    without_truth = notes.pop(WITHOUT_TRUTH, 0)
    return Pooled(
        # In the order of ids, and rounded once: neither shards nor a long sum show in a figure.
        terms={key: (math.fsum(a), math.fsum(b)) for key, (a, b) in columns.items()},
        samples=tuple(item.samples for item in scored),
        scenes=len(scored),
        without_truth=without_truth,
        horizon=_one_horizon(scored),
        notes=dict(sorted(notes.items())),
    )


def _one_horizon(scored: list[Scores]) -> float:
    if not scored:
        return 0.0
    horizons = sorted((float(s.samples[HORIZON]), s.scene_id) for s in scored)
    (low, first), (high, last) = horizons[0], horizons[-1]
    if high - low > CLOCK_TOLERANCE * high:
        raise SceneError(
            f"was scored over {high:.3g} s, and scene {first} over {low:.3g} s",
            scene=last,
            field="prediction.time",
            remedy="Figures of different horizons cannot be averaged: evaluate them apart",
        )
    return round(horizons[len(horizons) // 2][0], 2)
