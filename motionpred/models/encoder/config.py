"""Settings of the scene encoder that are no matter of size."""

from __future__ import annotations

from dataclasses import dataclass

from motionpred.errors import ConfigError


@dataclass(frozen=True)
class EncoderConfig:
    """Settings of :class:`SceneEncoder`.

    ``edge_layers``: layers after the others in which agents look at agents and map with an explicit
    embedding of every pair's relative pose; dearer, and sharper where pairs are few.
    ``cell``: metres; attention is computed for square cells of the scene, one after another, which
    rounds less where scenes are larger than some 150 m. 60 is a good value, None is off.
    """

    edge_layers: int = 0
    cell: float | None = None

    def __post_init__(self) -> None:
        if self.edge_layers < 0:
            raise ConfigError(
                f"is {self.edge_layers}", field="encoder.edge_layers", remedy="Use 0 or more"
            )
        if self.cell is not None and not self.cell > 0:
            raise ConfigError(
                f"is {self.cell}", field="encoder.cell", remedy="Use a length > 0, or null"
            )
