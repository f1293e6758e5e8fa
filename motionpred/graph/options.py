"""What of a scene goes into a batch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from motionpred.errors import ConfigError
from motionpred.scene import MapKind

MAP_KINDS = (
    MapKind.LANE,
    MapKind.CROSSWALK,
    MapKind.ROAD_EDGE,
    MapKind.STOP_LINE,
    MapKind.STOP_SIGN,
    MapKind.SPEED_BUMP,
    MapKind.DRIVEWAY,
    MapKind.WALKWAY,
)


@dataclass(frozen=True)
class BatchOptions:
    """Caps and choices of :func:`motionpred.graph.encode`. None means no cap.

    Agents that a benchmark scores are never cut. ``include_ego`` off leaves the recording car out,
    unless the benchmark scores it. ``min_history`` is the number of valid history steps that an
    agent needs to be predicted; with fewer it stays as context. ``resample`` brings scenes of
    another clock to that of the model (:func:`motionpred.scene.resample`), history and target;
    without it they are refused.
    """

    max_agents: int | None = 64
    max_map: int | None = 256
    map_points: int = 20
    map_radius: float = 150.0  # metres from the nearest predicted agent
    include_ego: bool = True
    map_kinds: tuple[MapKind, ...] = MAP_KINDS
    min_history: int = 1
    resample: bool = False

    def __post_init__(self) -> None:
        for name, least, most in (
            ("max_agents", 1, math.inf),
            ("max_map", 0, math.inf),
            ("map_points", 2, 1000),
            ("min_history", 1, math.inf),
        ):
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise ConfigError(f"is {value}", field=name, remedy=f"Use {least} to {most}")
        if not self.map_radius > 0:
            raise ConfigError(
                f"is {self.map_radius}", field="map_radius", remedy="Use a length > 0"
            )
