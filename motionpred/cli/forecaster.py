"""Forecasts of scenes, from a model or from a file that a model once filled."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from motionpred.cli.console import say

if TYPE_CHECKING:
    from motionpred.prediction import Prediction
    from motionpred.scene import Scene


class Forecaster:
    """What the argument ``MODEL|FORECASTS`` names: a bundle, a baseline's name, or a file."""

    def __init__(
        self,
        name: str,
        *,
        modes: int,
        agents: Literal["scored", "all"] = "scored",
        seed: int = 0,
        batch_size: int = 16,
        device: str = "auto",
    ) -> None:
        from motionpred.inference import load
        from motionpred.prediction import ForecastFile, is_forecast_file

        self.name, self.modes, self.agents = name, modes, agents
        self.seed, self.batch_size = seed, batch_size
        self.file = ForecastFile(name) if is_forecast_file(name) else None
        self.predictor = None if self.file is not None else load(name, device=device)

    def pairs(self, scenes: Iterable[Scene]) -> Iterator[tuple[Scene, Prediction | None]]:
        """Each scene with its forecast, None where the file has none of it; in order, streamed."""
        if self.file is not None:
            for scene in scenes:
                yield scene, self.file.get(scene.scene_id)
            return
        assert self.predictor is not None
        waiting: deque[Scene] = deque()

        def remembered() -> Iterator[Scene]:
            for scene in scenes:
                waiting.append(scene)
                yield scene

        for prediction in self.predictor.predict_many(
            remembered(),
            modes=self.modes,
            agents=self.agents,
            seed=self.seed,
            batch_size=self.batch_size,
        ):
            yield waiting.popleft(), prediction

    def report(self) -> None:
        """Say what the model could not forecast and what its batches left out."""
        from motionpred.inference import describe

        if self.predictor is not None:
            for line in describe(self.predictor.skipped + self.predictor.dropped):
                say(line)
