"""A validation under way: scores by the protocol, health figures, and scenes for pictures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import chain

import torch

from motionpred.graph import BatchOptions, collate_scenes
from motionpred.inference import Predictor
from motionpred.inference.placement import dtype_of, place
from motionpred.metrics import Protocol, Report, Scores
from motionpred.models import Forecast, ForecastModel
from motionpred.prediction import Prediction
from motionpred.scene import Scene
from motionpred.training.distributed import gather


class Validation:
    """Scenes are forecast and scored one batch after another, exactly as ``evaluate`` does."""

    def __init__(self, protocol: Protocol, options: BatchOptions, *, seed: int, shown: int) -> None:
        """``shown``: how many scenes of this process are kept with their forecasts."""
        self.protocol = protocol
        self.options = options
        self.seed = seed
        self.shown: list[tuple[Scene, Prediction]] = []
        self._show = shown
        self._scores: list[Scores] = []
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._counts: defaultdict[str, float] = defaultdict(float)

    def add(self, scenes: list[Scene], model: ForecastModel, device: torch.device) -> None:
        """Forecast and score some scenes."""
        predictor = Predictor(
            model,
            name=model.name,
            options=self.options,
            device=device,
            watch=self._diagnosis(model, device),
        )
        predictions = predictor.predict_many(
            scenes, batch_size=len(scenes), modes=self.protocol.modes, seed=self.seed
        )
        for scene, prediction in zip(scenes, predictions, strict=True):
            self._scores.append(self.protocol.score(scene, prediction))
            if len(self.shown) < self._show:
                self.shown.append((scene, prediction))

    def _diagnosis(
        self, model: ForecastModel, device: torch.device
    ) -> Callable[[list[Scene], Forecast], None] | None:
        """Adds up what the model says of its forecasts' health, where it says anything."""
        if type(model).diagnostics is ForecastModel.diagnostics:
            return None

        def add(scenes: list[Scene], forecast: Forecast) -> None:
            # The forecast came without a future; here, in a batch of its own, it may be looked at.
            batch = place(collate_scenes(scenes, model.time, self.options), device, dtype_of(model))
            for name, term in model.diagnostics(batch, forecast).items():
                self._sums[name] += float(term.sum)
                self._counts[name] += float(term.count)

        return add

    def finish(self) -> tuple[Report, dict[str, float]]:
        """Figures over the scenes of all processes; a scene that came twice counts once."""
        report = self.protocol.report(chain.from_iterable(gather(self._scores)))
        totals: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for part, values in enumerate((self._sums, self._counts)):
            for own in gather(dict(values)):
                for name, value in own.items():
                    totals[name][part] += value
        return report, {
            f"health/{n}": value / count for n, (value, count) in totals.items() if count
        }
