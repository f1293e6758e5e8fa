"""The Argoverse 2 benchmarks: ``argoverse2-single`` and ``argoverse2-multi``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from motionpred.errors import ConfigError
from motionpred.metrics.argoverse import Select, multi_world, single_agent
from motionpred.metrics.matching import Match, check_scene, match, whole_future
from motionpred.metrics.pooling import HORIZON, WITHOUT_TRUTH, pool
from motionpred.metrics.protocol import Protocol, Report, Scores
from motionpred.prediction import Prediction
from motionpred.scene import Role, Scene

Array = npt.NDArray[Any]
Terms = Mapping[tuple[str, int], tuple[float, float]]
Pooling = Literal["agents", "scenes"]

KS = (1, 6)  # both leaderboards rank by these


class _Argoverse2(Protocol):
    """What both benchmarks share: whole horizon, complete targets only, K = 1 and 6."""

    modes = 6
    agents: ClassVar[str]
    figures: ClassVar[Mapping[str, tuple[str, str]]]  # metric -> what its mean runs over, unit

    def __init__(self, select: Select = "fde") -> None:
        _choice("select", select, ("fde", "own"))
        self.select = select

    @property
    def variant(self) -> dict[str, str]:
        """Options that differ from the publisher's rule; they are part of the report's name."""
        return {} if self.select == "fde" else {"select": self.select}

    def score(self, scene: Scene, prediction: Prediction) -> Scores:
        """What this scene adds: nothing where it has no truth, or no complete target."""
        check_scene(scene, prediction)
        if not scene.has_future:
            return Scores(scene.scene_id, {}, {WITHOUT_TRUTH: 1})
        whole_future(scene, prediction)
        targets = self.targets(scene)
        # Official targets have every step; one that has not cannot be compared with a leaderboard.
        complete = scene.tracks.valid[targets][:, scene.now :].all(axis=1)
        notes = {"incomplete_targets": int((~complete).sum())}
        if not complete.any():
            notes["scenes_without_complete_target"] = 1
            return Scores(scene.scene_id, {}, _counted(notes))
        matched = match(scene, prediction, targets[complete])
        if prediction.modes < self.modes:
            notes[f"forecasts_of_fewer_than_{self.modes}_modes"] = 1
        horizon = float(prediction.time[-1])
        return Scores(scene.scene_id, self.terms(matched), _counted(notes), {HORIZON: horizon})

    @abstractmethod
    def terms(self, matched: Match) -> Terms:
        """Sum and count of every figure."""

    def report(self, scores: Iterable[Scores]) -> Report:
        """Figures over scenes; a scene that comes twice counts once."""
        pooled = pool(scores)
        options = ", ".join(f"{name}={value}" for name, value in self.variant.items())
        return Report(
            protocol=f"{self.name} ({options})" if options else self.name,
            figures=tuple(
                pooled.figure(metric, k, self.agents, self.over(metric), unit)
                for k in KS
                for metric, (_, unit) in self.figures.items()
            ),
            scenes=pooled.scenes,
            without_truth=pooled.without_truth,
            notes=pooled.notes,
        )

    def over(self, metric: str) -> str:
        """What the mean of ``metric`` runs over."""
        return self.figures[metric][0]


class Argoverse2Single(_Argoverse2):
    """Argoverse 2 single agent: the focal track, its modes as its own (a joint forecast's too).

    Every figure is that of the mode of least FDE; ``select="own"`` gives minADE and the Brier
    figures their own minimum, as some published code does.
    """

    name = "argoverse2-single"
    agents = "focal"
    headline = ("minFDE", True)
    figures: ClassVar[Mapping[str, tuple[str, str]]] = {
        "minADE": ("agents", "m"),
        "minFDE": ("agents", "m"),
        "MR": ("agents", "share"),
        "brier-minFDE": ("agents", "m + 1"),
        "brier-minADE": ("agents", "m + 1"),
    }

    def targets(self, scene: Scene) -> Array:
        """Index of the focal track."""
        return np.flatnonzero(scene.tracks.roles & Role.FOCAL)

    def terms(self, matched: Match) -> Terms:
        """Sum and count of every figure."""
        forecast = matched.forecast.marginal()
        totals: dict[tuple[str, int], tuple[float, float]] = {}
        for k in KS:
            rows = [
                single_agent(
                    forecast.position[:, i],
                    matched.truth[i],
                    forecast.probability[i],
                    k,
                    self.select,
                )
                for i in range(len(matched.track))
            ]
            for metric in self.figures:
                totals[metric, k] = (sum(row[metric] for row in rows), float(len(rows)))
        return totals


class Argoverse2Multi(_Argoverse2):
    """Argoverse 2 multi-agent: scored and focal tracks in one world, the same for every figure.

    ``select="own"`` gives avgMinADE and avgBrierMinFDE their own minimum; actorMR and actorCR
    always follow the world of least mean FDE. ``pooling`` of these two: over all agents (default),
    or the mean over scenes of each scene's share.
    """

    name = "argoverse2-multi"
    agents = "focal and scored"
    headline = ("avgMinFDE", True)
    figures: ClassVar[Mapping[str, tuple[str, str]]] = {
        "avgMinADE": ("scenes", "m"),
        "avgMinFDE": ("scenes", "m"),
        "actorMR": ("agents", "share"),
        "actorCR": ("agents", "share"),
        "avgBrierMinFDE": ("scenes", "m + 1"),
    }

    def __init__(self, select: Select = "fde", pooling: Pooling = "agents") -> None:
        super().__init__(select)
        _choice("pooling", pooling, ("agents", "scenes"))
        self.pooling = pooling

    @property
    def variant(self) -> dict[str, str]:
        """Options that differ from the default."""
        extra = {} if self.pooling == "agents" else {"pooling": self.pooling}
        return {**super().variant, **extra}

    def over(self, metric: str) -> str:
        """What the mean of ``metric`` runs over."""
        return "scenes" if self.pooling == "scenes" else super().over(metric)

    def targets(self, scene: Scene) -> Array:
        """Indices of the scored tracks and the focal one."""
        return np.flatnonzero(scene.tracks.roles & (Role.SCORED | Role.FOCAL))

    def score(self, scene: Scene, prediction: Prediction) -> Scores:
        """What this scene adds.

        Raises:
            ConfigError: the forecast is marginal, it has no worlds.
            SceneError: the forecast does not fit the scene.
        """
        if not prediction.joint:
            raise ConfigError(
                f"{self.name} scores worlds, and this forecast is marginal: its modes are not "
                "paired across agents",
                scene=prediction.scene_id,
                field="prediction.joint",
                remedy=f"Use a model with joint modes, or the protocol {Argoverse2Single.name!r}",
            )
        return super().score(scene, prediction)

    def terms(self, matched: Match) -> Terms:
        """Sum and count of every figure."""
        totals: dict[tuple[str, int], tuple[float, float]] = {}
        position = matched.forecast.position.swapaxes(0, 1)
        for k in KS:
            values = multi_world(
                position, matched.truth, matched.forecast.probability, k, self.select
            )
            for metric, value in values.items():
                per_agent = np.ndim(value) == 1
                if per_agent and self.pooling == "agents":
                    totals[metric, k] = (float(value.sum()), float(value.size))
                else:
                    totals[metric, k] = (float(np.mean(value)), 1.0)
        return totals


def _choice(field: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ConfigError(f"is {value!r}", field=field, remedy=f"Use one of {', '.join(known)}")


def _counted(notes: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in notes.items() if count}


PROTOCOLS = {kind.name: kind for kind in (Argoverse2Single, Argoverse2Multi)}
