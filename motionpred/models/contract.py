"""What a forecasting model is.

Shapes: B scenes, K modes, A agents, T future steps. Everything in the batch's scene frame.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from motionpred.graph import SceneBatch
from motionpred.scene import TimeSpec


@dataclass(frozen=True)
class Term:
    """One part of a loss as a sum and the count to divide it by.

    Sums and counts, not means: so that any split over devices, accumulation steps or batches with
    nothing to score gives the same gradient.
    """

    sum: Tensor  # scalar
    count: Tensor  # scalar


@dataclass
class Forecast:
    """K futures of every agent of a batch; entries of agents without ``predict`` mean nothing."""

    position: Tensor  # [B, K, A, T, 2] metres, scene frame
    probability: Tensor  # [B, K] joint, or [B, A, K] marginal; sums to 1 over K
    heading: Tensor | None = None  # [B, K, A, T] radians, scene frame
    scale: Tensor | None = None  # [B, K, A, T, 2] Laplace b per axis, agent's own frame at now
    # What the model calls each mode, where that means something (the same query every time); int64,
    # in the shape of ``probability``.
    mode: Tensor | None = None

    @property
    def joint(self) -> bool:
        """Whether a mode is one future of the whole scene."""
        return self.probability.ndim == 2

    def combine(self, batch: SceneBatch, top: int) -> Forecast:
        """A marginal forecast as the ``top`` most probable joint ones; a joint one is only cut.

        Agents are taken for independent, see :func:`motionpred.reduction.most_probable_scenes`;
        the probability of a scene is that of its SCORED agents (of all where none is).
        """
        from motionpred.models.modes import combined_modes, top_modes

        return top_modes(self, top) if self.joint else combined_modes(self, batch, top)


class ForecastModel(nn.Module, ABC):
    """A model of the zoo.

    In tree: a folder ``motionpred/models/<family>/`` whose ``__init__`` has
    ``MODELS = {"<name>": <class>}``. Plug-in: an entry point of group ``motionpred.models``.
    The class names its typed settings in ``Config`` (a dataclass); it is built as
    ``Model(config, time)``. ``motionpred.testing.check_model`` says whether it keeps the contract:
    future values are read in ``loss`` only, results do not depend on padding, order, other scenes
    of the batch or the frame of the world, and every parameter takes part in every loss.
    """

    name: ClassVar[str]
    Config: ClassVar[type[Any]]
    trainable: ClassVar[bool] = True
    capabilities: ClassVar[frozenset[str]] = frozenset()  # of "sample", "log_prob", "fill"

    def __init__(self, config: Any, time: TimeSpec) -> None:
        super().__init__()
        self.config = config
        self.time = time

    @abstractmethod
    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        """Terms of the loss, whose means are added up; randomness is keyed by seed and epoch."""

    @abstractmethod
    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        """At most ``modes`` futures, the most probable first; never reads ``batch.target``."""

    def diagnostics(self, batch: SceneBatch, forecast: Forecast) -> dict[str, Term]:
        """Figures of health of a ``forecast`` of ``batch``, for the log: no part of the loss.

        May read ``batch.target``. Terms carry no gradient and add up over batches; a count of 0
        means that there is nothing to say. None by default.
        """
        return {}
