"""Where the figures of a run go beside its own ``metrics.csv``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from motionpred.errors import ConfigError

LoggerName = Literal["csv", "tensorboard", "wandb"]


@dataclass(frozen=True)
class LoggerConfig:
    """``csv`` is the run's own ``metrics.csv``, which is always written; others come on top.

    A logger that fails, or that stands still for 5 s, is left behind with a warning.
    """

    name: LoggerName = "csv"
    pictures_every: int = 1  # validations between two sets of pictures; 0: none
    pictures: int = 2  # scenes in a set, the first of the validation
    bundle: bool = True  # whether the best bundle is kept there too (wandb)
    project: str = "motionpred"  # wandb
    mode: Literal["offline", "online"] = "offline"  # wandb; offline is uploaded by `wandb sync`
    tags: list[str] = field(default_factory=list)  # wandb

    def __post_init__(self) -> None:
        for name in ("pictures_every", "pictures"):
            if getattr(self, name) < 0:
                raise ConfigError(
                    f"is {getattr(self, name)}", field=f"logger.{name}", remedy="Use 0 or more"
                )
