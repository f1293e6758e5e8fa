"""A protocol: a named benchmark's rule for which agents, which steps and which reduction.

The same word (minADE, miss rate) means different things to different benchmarks, so a figure never
travels without its protocol, K, horizon, agent set and n.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy.typing as npt

from motionpred.errors import ConfigError
from motionpred.prediction import Prediction
from motionpred.registry import Registry, nearest
from motionpred.scene import Scene

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Figure:
    """One number of a report and everything needed to know what it says."""

    metric: str
    value: float  # NaN where n is 0
    k: int  # modes that the metric may look at
    horizon: float  # seconds
    agents: str  # the agent set, in words: "focal", "scored", ...
    n: int  # what the mean runs over
    over: str  # what n counts: "agents", "scenes", "steps", ...
    unit: str  # of value: "m", "share" (0..1), "nats", "m + 1" (metres and a Brier term), ...


@dataclass(frozen=True)
class Report:
    """All figures of one evaluation."""

    protocol: str
    figures: tuple[Figure, ...]
    scenes: int  # scored
    without_truth: int = 0  # scenes that have no future
    notes: Mapping[str, int] = field(default_factory=dict)  # counted oddities, by name

    def value(self, metric: str, k: int) -> float:
        """The figure called ``metric`` at ``k``; a ConfigError names those that there are."""
        known = {(f.metric, f.k): f.value for f in self.figures}
        if (metric, k) not in known:
            names = [f"{name} (K={modes})" for name, modes in known]
            raise ConfigError(
                f"{self.protocol} has no figure {metric!r} at K={k}",
                remedy=nearest(f"{metric} (K={k})", names),
            )
        return known[metric, k]


@dataclass(frozen=True)
class Scores:
    """What one scene adds to a report; plain values, so that processes can exchange them.

    ``terms`` maps (metric, k) to (sum, count). ``samples`` is for metrics that cannot be summed.
    """

    scene_id: str
    terms: Mapping[tuple[str, int], tuple[float, float]]
    notes: Mapping[str, int] = field(default_factory=dict)
    samples: Mapping[str, Any] = field(default_factory=dict)


class Protocol(ABC):
    """A benchmark.

    In tree: a module of ``motionpred.metrics`` that has ``PROTOCOLS = {"<name>": <class>}``.
    Plug-in: an entry point of group ``motionpred.protocols``. Options of a benchmark are arguments
    of the constructor with defaults that follow the publisher.
    """

    name: ClassVar[str]
    modes: ClassVar[int]  # K that the benchmark asks for
    headline: ClassVar[tuple[str, bool]]  # metric that ranks models, whether lower is better

    @abstractmethod
    def targets(self, scene: Scene) -> Array:
        """Indices of the tracks that the benchmark asks about, with or without a truth."""

    @abstractmethod
    def score(self, scene: Scene, prediction: Prediction) -> Scores:
        """What this scene adds.

        Raises:
            SceneError: the prediction lacks a target, has a wrong length, or is of another scene.
        """

    @abstractmethod
    def report(self, scores: Iterable[Scores]) -> Report:
        """Figures over scenes; a scene that comes twice counts once."""

    def leading(self, report: Report) -> Figure:
        """The figure that says which of two models is better: the headline at the largest K.

        Raises:
            ConfigError: ``report`` has no such figure.
        """
        return at_largest_k(report, self.headline[0])


def at_largest_k(report: Report, metric: str) -> Figure:
    """The figure called ``metric`` with the most modes; a ConfigError where there is none."""
    found = [figure for figure in report.figures if figure.metric == metric]
    if not found:
        known = sorted({figure.metric for figure in report.figures})
        raise ConfigError(
            f"{report.protocol} has no figure {metric!r}", remedy=nearest(metric, known)
        )
    return max(found, key=lambda figure: figure.k)


registry: Registry[type[Protocol]] = Registry(
    "protocol", package="motionpred.metrics", attribute="PROTOCOLS", group="motionpred.protocols"
)


def protocol_names() -> list[str]:
    """Names of every protocol, in tree and plugged in."""
    return registry.names()


def get_protocol(name: str) -> type[Protocol]:
    """The protocol called ``name``; a ConfigError names the nearest one."""
    return registry.get(name)
