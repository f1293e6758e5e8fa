"""Which augmentations there are, and all of them in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from motionpred.errors import ConfigError
from motionpred.graph.augmentation.draws import Draws
from motionpred.graph.augmentation.drops import AgentDrop, HistoryDrop
from motionpred.graph.augmentation.mirror import Mirror
from motionpred.graph.augmentation.position_noise import PositionNoise
from motionpred.graph.batch import SceneBatch

__all__ = ["Augmentation", "AugmentationOptions", "Draws", "augment"]


class Augmentation(Protocol):
    """One way to change training scenes."""

    def __call__(self, batch: SceneBatch, draws: Draws) -> SceneBatch:
        """The batch with some scenes or agents changed; the one that was given stays as it is."""
        ...


@dataclass(frozen=True)
class AugmentationOptions:
    """What is done to training scenes; 0 is off. Evaluation never sees any of it."""

    mirror: float = 0.0  # share of scenes whose left and right are exchanged
    agent_drop: float = 0.0  # share of agents that are left out; never SCORED ones
    drop_ego: bool = False  # whether the recording car may be left out too
    history_drop: float = 0.0  # share of agents whose oldest steps become invalid
    history_keep: int = 2  # steps up to the last valid one that an agent keeps in any case
    position_noise: float = 0.0  # metres, standard deviation of past positions

    def __post_init__(self) -> None:
        for name in ("mirror", "agent_drop", "history_drop"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(
                    f"is {getattr(self, name)}",
                    field=f"augmentation.{name}",
                    remedy="Use a share between 0 and 1",
                )
        for name, least in (("history_keep", 1), ("position_noise", 0)):
            if not getattr(self, name) >= least:
                raise ConfigError(
                    f"is {getattr(self, name)}",
                    field=f"augmentation.{name}",
                    remedy=f"Use {least} or more",
                )

    def augmentations(self) -> list[Augmentation]:
        """Those that are on, in the order in which they are applied."""
        found: list[Augmentation] = []
        if self.mirror:
            found.append(Mirror(self.mirror))
        if self.agent_drop:
            found.append(AgentDrop(self.agent_drop, drop_ego=self.drop_ego))
        if self.history_drop:
            found.append(HistoryDrop(self.history_drop, keep=self.history_keep))
        if self.position_noise:
            found.append(PositionNoise(self.position_noise))
        return found


def augment(
    batch: SceneBatch, options: AugmentationOptions, *, seed: int, epoch: int
) -> SceneBatch:
    """The batch as training sees it in ``epoch``; without augmentations the same object."""
    draws = Draws(seed, epoch)
    for augmentation in options.augmentations():
        batch = augmentation(batch, draws)
    return batch
