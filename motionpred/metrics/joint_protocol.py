"""``joint``: whole-scene futures on any dataset — displacement, plausibility, likelihood."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from motionpred.errors import ConfigError
from motionpred.metrics.displacement import displacement
from motionpred.metrics.joint import (
    Term,
    joint_displacement,
    marginal_displacement,
    own_winners,
    winner,
)
from motionpred.metrics.matching import Match, check_scene, cut, match
from motionpred.metrics.plausibility import (
    drivable_area,
    first_direction,
    hard_steps,
    on_area,
    overlapping_pairs,
    travel_heading,
)
from motionpred.metrics.pooling import HORIZON, WITHOUT_TRUTH, Pooled, pool
from motionpred.metrics.protocol import Figure, Protocol, Report, Scores, at_largest_k
from motionpred.metrics.uncertainty import (
    calibration_bins,
    calibration_error,
    laplace_nll,
)
from motionpred.prediction import Prediction
from motionpred.scene import AgentType, Role, Scene
from motionpred.scene.default_sizes import size_or_default

Array = npt.NDArray[Any]

_K = 6
_VEHICLES = (AgentType.VEHICLE, AgentType.BUS, AgentType.MOTORCYCLIST)

# metric, modes that it looks at, its agents, what its mean runs over, unit; in the report's order
_JOINT = (("minADE", "scenes", "m"), ("minFDE", "scenes", "m"), ("MR", "agents", "share"))
_PER_AGENT = (
    ("off-road", 1, "scored vehicles", "agents", "share"),
    ("kinematic", 1, "scored", "steps", "share"),
    ("NLL", _K, "scored", "steps", "nats"),
    ("ECE", _K, "scored", "modes", "share"),
)
_FIGURES: tuple[tuple[str, int, str, str, str], ...] = (
    *((name, k, "scored", over, unit) for k in (1, _K) for name, over, unit in _JOINT),
    ("overlap", 1, "scored", "agents", "share"),
    *_PER_AGENT,
    *(
        (f"marginal {name}", k, "scored", "agents", unit)
        for k in (1, _K)
        for name, _, unit in _JOINT
    ),
    *((f"marginal {name}", k, agents, over, unit) for name, k, agents, over, unit in _PER_AGENT),
)


class Joint(Protocol):
    """Figures of scene modes, and beside them, under names of their own, of each agent's modes.

    A joint forecast gets both sets. A marginal one gets the ``marginal`` set only: it has no scene
    modes, and its best per-agent numbers must not stand under a joint name. Agents are the SCORED
    ones that are there at now, whoever else was forecast. The figures of plausibility are those of
    the most probable mode. ``horizon`` scores the first seconds of longer forecasts.
    """

    name = "joint"
    modes: ClassVar[int] = _K
    headline: ClassVar[tuple[str, bool]] = ("minFDE", True)

    def __init__(self, horizon: float | None = None) -> None:
        if horizon is not None and not horizon > 0:
            raise ConfigError(
                f"is {horizon}", field="horizon", remedy="Give a positive number of seconds"
            )
        self.horizon = horizon

    def targets(self, scene: Scene) -> Array:
        """Indices of the SCORED tracks that can move."""
        tracks = scene.tracks
        scored = (tracks.roles & Role.SCORED) != 0
        return np.flatnonzero(scored & (tracks.type != AgentType.STATIC))

    def score(self, scene: Scene, prediction: Prediction) -> Scores:
        """What this scene adds: nothing where no target has a truth within the horizon."""
        check_scene(scene, prediction)
        if not scene.has_future:
            return Scores(scene.scene_id, {}, {WITHOUT_TRUTH: 1})
        if self.horizon is not None:
            prediction = cut(prediction, self.horizon)
        targets = self.targets(scene)
        here = scene.tracks.valid[targets, scene.now]
        matched = match(scene, prediction, targets[here])
        notes = {"targets_absent_at_now": int((~here).sum())}
        if not matched.valid.any():
            notes["scenes_without_target_truth"] = 1
            return Scores(scene.scene_id, {}, _counted(notes))
        notes["targets_without_truth"] = int((~matched.valid.any(axis=1)).sum())
        notes["targets_without_last_step"] = int((~matched.valid[:, -1]).sum())
        if prediction.modes < _K:
            notes[f"forecasts_of_fewer_than_{_K}_modes"] = 1
        samples: dict[str, Any] = {HORIZON: float(prediction.time[-1])}
        terms: dict[tuple[str, int], Term] = {}
        if prediction.joint:
            terms.update(_joint_displacement(matched, samples))
            terms["overlap", 1] = _overlap(scene, matched, notes)
        else:
            notes["marginal_forecasts"] = 1
        terms.update(_marginal_displacement(matched, samples))
        # One set of names a forecast: an agent's most probable path is the same in both views.
        prefix = "" if prediction.joint else "marginal "
        for (name, k), term in _per_agent(scene, matched, notes).items():
            terms[prefix + name, k] = term
        return Scores(scene.scene_id, terms, _counted(notes), samples)

    def report(self, scores: Iterable[Scores]) -> Report:
        """Figures over scenes; a scene that comes twice counts once."""
        pooled = pool(scores)
        calibration = _calibration(pooled)
        return Report(
            protocol=self.name,
            figures=tuple(
                _figure(pooled, calibration, *figure)
                for figure in _FIGURES
                if figure[:2] in pooled.terms or figure[0] in calibration
            ),
            scenes=pooled.scenes,
            without_truth=pooled.without_truth,
            notes=pooled.notes,
        )

    def leading(self, report: Report) -> Figure:
        """minFDE of scene modes; of a marginal forecast, which has none, that of agents' modes."""
        (metric, _), names = self.headline, {figure.metric for figure in report.figures}
        return at_largest_k(report, metric if metric in names else f"marginal {metric}")


def _joint_displacement(matched: Match, samples: dict[str, Any]) -> dict[tuple[str, int], Term]:
    terms = {}
    for k in (1, _K):
        top = matched.forecast.top(k)
        error = displacement(top.position, matched.truth)
        terms.update({(m, k): t for m, t in joint_displacement(error, matched.valid).items()})
    closest = np.arange(top.modes) == winner(error, matched.valid)
    samples["ECE"] = calibration_bins(top.probability, closest)
    return terms


def _marginal_displacement(matched: Match, samples: dict[str, Any]) -> dict[tuple[str, int], Term]:
    terms = {}
    for k in (1, _K):
        top = matched.forecast.marginal().top(k)
        error = displacement(top.position, matched.truth)
        terms.update({(m, k): t for m, t in marginal_displacement(error, matched.valid).items()})
    seen = matched.valid.any(axis=1)
    closest = np.arange(top.modes) == own_winners(error, matched.valid)[:, None]
    samples["marginal ECE"] = calibration_bins(top.probability[seen], closest[seen])
    return terms


def _overlap(scene: Scene, matched: Match, notes: dict[str, int]) -> Term:
    """Agents whose box meets another's in the most probable mode, and how many agents there are.

    A box without a heading points along the agent's first displacement, else along x; such agents
    are counted as ``assumed_headings``.
    """
    tracks, now = scene.tracks, scene.now
    sizes, assumed = size_or_default(tracks, now)
    size = sizes[matched.track, :2]
    steps = np.r_[now, matched.steps]
    truth = tracks.position[matched.track][:, steps, :2]
    valid = tracks.valid[matched.track][:, steps]
    turned = tracks.heading[matched.track][:, steps].astype(np.float64)
    known = tracks.heading_valid[matched.track][:, steps]
    best = matched.forecast.top(1)
    path = best.position[0]
    if best.heading is None:
        whole = np.concatenate([truth[:, :1], path], axis=1)
        start = np.where(known[:, 0], turned[:, 0], first_direction(whole))
        heading = travel_heading(path, truth[:, 0], start)
    else:
        heading = best.heading[0]
    met = overlapping_pairs(path, heading, size)
    # Boxes that meet in the recording (assumed sizes, loose labels) say nothing of the forecast.
    turned = np.where(known, turned, first_direction(truth, valid)[:, None])
    recorded = overlapping_pairs(truth, turned, size, valid)
    notes["assumed_headings"] = int((valid & ~known).any(axis=1).sum())
    notes["assumed_boxes"] = int(assumed[matched.track].sum())
    notes["pairs_overlapping_in_truth"] = int(recorded.sum()) // 2
    return float((met & ~recorded).any(axis=1).sum()), float(len(path))


def _per_agent(scene: Scene, matched: Match, notes: dict[str, int]) -> dict[tuple[str, int], Term]:
    """Off-road, kinematic and NLL: of each agent by itself, so for either kind of forecast."""
    tracks, now = scene.tracks, scene.now
    best = matched.forecast.marginal().top(1)
    start = tracks.position[matched.track, now, :2]
    heading = tracks.heading[matched.track, now].astype(np.float64)
    turned = None if best.heading is None else best.heading[0]
    hard = hard_steps(best.position[0], best.time, start, turned)
    terms: dict[tuple[str, int], Term] = {
        ("off-road", 1): _off_road(scene, matched.track, best.position[0], notes),
        ("kinematic", 1): (float(hard.sum()), float(hard.size)),
    }
    mixture = matched.forecast.marginal().top(_K)
    if mixture.scale is not None:
        nll = laplace_nll(
            mixture.position, mixture.scale, mixture.probability, matched.truth, heading
        )
        # Without a recorded heading only the model knows in which frame its scale is.
        framed = tracks.heading_valid[matched.track, now]
        notes["targets_without_heading_at_now"] = int((~framed).sum())
        nll = nll[matched.valid & framed[:, None]]
        terms["NLL", _K] = (float(nll.sum()), float(nll.size))
    return terms


def _off_road(scene: Scene, track: Array, path: Array, notes: dict[str, int]) -> Term:
    areas = drivable_area(scene.map)
    if not areas:
        notes["scenes_without_drivable_area"] = 1
        return 0.0, 0.0
    vehicle = np.isin(scene.tracks.type[track], _VEHICLES)
    start = on_area(scene.tracks.position[track, scene.now, :2], areas)
    # A vehicle parked beside the road cannot leave it.
    notes["vehicles_off_road_at_now"] = int((vehicle & ~start).sum())
    counted = vehicle & start
    left = ~on_area(path[counted], areas).all(axis=1)
    return float(left.sum()), float(counted.sum())


def _calibration(pooled: Pooled) -> dict[str, tuple[float, float]]:
    """Calibration errors by metric: bins are summed over all scenes before a gap is taken."""
    result = {}
    for metric in ("ECE", "marginal ECE"):
        scenes = [sample[metric] for sample in pooled.samples if metric in sample]
        if scenes:
            columns = np.array(scenes).reshape(len(scenes), -1).T
            bins = np.array([math.fsum(column) for column in columns.tolist()]).reshape(-1, 3)
            result[metric] = calibration_error(bins.tolist())
    return result


def _figure(
    pooled: Pooled,
    calibration: Mapping[str, tuple[float, float]],
    metric: str,
    k: int,
    agents: str,
    over: str,
    unit: str,
) -> Figure:
    if metric in calibration:
        gap, count = calibration[metric]
        value = gap / count if count else math.nan
        return Figure(metric, value, k, pooled.horizon, agents, round(count), over, unit)
    return pooled.figure(metric, k, agents, over, unit)


def _counted(notes: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in notes.items() if count}


PROTOCOLS = {Joint.name: Joint}
