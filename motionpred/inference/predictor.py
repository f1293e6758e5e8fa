"""Scenes in, forecasts in the world frame out. Needs no future and no dataset folder.

Shapes: B scenes, K modes, A agents of a batch, N agents of a forecast, T future steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from motionpred.datasets import adapter_names, get_adapter
from motionpred.errors import ConfigError, TrainingError
from motionpred.geometry.angles import wrap
from motionpred.graph import BatchOptions, SceneBatch, collate_scenes
from motionpred.inference.placement import dtype_of, place, resolve_device
from motionpred.models import Forecast, ForecastModel
from motionpred.prediction import Prediction
from motionpred.scene import Role, Scene, TimeSpec

Array = npt.NDArray[Any]
Agents = Literal["scored", "all"]


class Predictor:
    """A model with everything around it that turns scenes into forecasts.

    ``skipped`` counts SCORED agents that were asked for and could not be forecast, by reason:
    ``scored_absent_at_now`` and ``scored_not_eligible`` (the model's batch options exclude it).
    ``dropped`` counts what caps and clocks left out of the batches.
    """

    def __init__(
        self,
        model: ForecastModel | Callable[[TimeSpec], ForecastModel],
        *,
        name: str,
        options: BatchOptions | None = None,
        time: TimeSpec | None = None,
        device: str | torch.device = "cpu",
        watch: Callable[[list[Scene], Forecast], None] | None = None,
    ) -> None:
        """``model`` with its own clock, or a function that builds it for the clock of a dataset.

        ``time`` is that clock where no dataset says it; it has no effect on a model that has one.
        ``watch`` is told every batch of scenes with the forecast that the model gave, as it is.
        """
        self.name = name
        self.options = options or BatchOptions()
        self.device = resolve_device(device)
        self.skipped: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self._watch = watch
        self._time = model.time if isinstance(model, ForecastModel) else time
        self._build = model
        self._models: dict[TimeSpec, ForecastModel] = {}

    def predict(
        self, scene: Scene, *, modes: int = 6, agents: Agents = "scored", seed: int = 0
    ) -> Prediction:
        """At most ``modes`` futures of the agents of ``scene``; see :meth:`predict_many`."""
        return next(self.predict_many([scene], modes=modes, agents=agents, seed=seed))

    def predict_many(
        self,
        scenes: Iterable[Scene],
        *,
        batch_size: int = 16,
        modes: int = 6,
        agents: Agents = "scored",
        seed: int = 0,
    ) -> Iterator[Prediction]:
        """Forecasts in the order of ``scenes``, which may be a generator of any length.

        ``agents``: ``scored`` are those that the benchmark asks about, ``all`` is everyone that can
        be forecast. Only ``scene.observed()`` is looked at. A scene's forecast does not depend on
        the scenes that it shares a batch with.

        Raises:
            ConfigError: a scene's clock is not the model's, or not known; a bad argument.
            TrainingError: a forecast is not finite; names the scene.
        """
        if batch_size < 1 or modes < 1:
            field, value = ("batch_size", batch_size) if batch_size < 1 else ("modes", modes)
            raise ConfigError(f"is {value}", field=field, remedy="Use 1 or more")
        if agents not in ("scored", "all"):
            raise ConfigError(f"is {agents!r}", field="agents", remedy="Use scored or all")
        return self._stream(scenes, batch_size, modes, agents, seed)

    def _stream(
        self, scenes: Iterable[Scene], batch_size: int, modes: int, agents: Agents, seed: int
    ) -> Iterator[Prediction]:
        waiting: list[Scene] = []
        clock: TimeSpec | None = None
        for scene in scenes:
            time = self._clock(scene)
            if waiting and (time != clock or len(waiting) == batch_size):
                yield from self._batch(waiting, clock or time, modes, agents, seed)
                waiting = []
            clock = time
            waiting.append(scene)
        if waiting and clock is not None:
            yield from self._batch(waiting, clock, modes, agents, seed)

    def _clock(self, scene: Scene) -> TimeSpec:
        if self._time is not None:
            return self._time
        if scene.dataset in adapter_names():
            return get_adapter(scene.dataset).time
        raise ConfigError(
            f"{self.name} has no clock of its own and the dataset {scene.dataset!r} is not known",
            scene=scene.scene_id,
            field="time",
            remedy="Give load(..., time=TimeSpec(dt, history, future))",
        )

    def _model(self, time: TimeSpec) -> ForecastModel:
        if isinstance(self._build, ForecastModel):
            return self._build
        if time not in self._models:
            self._models[time] = self._build(time).to(self.device)
        return self._models[time]

    def _batch(
        self, scenes: list[Scene], time: TimeSpec, modes: int, agents: Agents, seed: int
    ) -> list[Prediction]:
        # The future stays behind here: neither the batch nor the model can see it.
        batch = collate_scenes([scene.observed() for scene in scenes], time, self.options)
        self.dropped.update(batch.dropped)
        model = self._model(time)
        training = model.training
        model.eval()
        try:
            # Also within a training in half precision: one scene, one forecast.
            with torch.inference_mode(), torch.autocast(self.device.type, enabled=False):
                placed = place(batch, self.device, dtype_of(model))
                forecast = model.forecast(placed, modes=modes, seed=seed)
                if self._watch is not None:
                    self._watch(scenes, forecast)
        finally:
            model.train(training)
        decoded = _Decoded(batch, forecast)
        predictions = []
        for row, scene in enumerate(scenes):
            self.skipped.update(_skipped_scored(scene, batch, row))
            chosen = batch.predict[row].numpy()
            if agents == "scored":
                chosen = chosen & ((batch.roles[row].numpy() & int(Role.SCORED)) != 0)
            predictions.append(
                decoded.prediction(row, np.flatnonzero(chosen), scene, time, modes, self.name)
            )
        return predictions


class _Decoded:
    """A batch's forecast on the CPU in float64, world frame."""

    def __init__(self, batch: SceneBatch, forecast: Forecast) -> None:
        self.track_id = batch.track_id
        self.joint = forecast.joint
        self.probability = _double(forecast.probability)
        self.position = _double(forecast.position) + batch.origin.numpy()[:, None, None, None]
        self.heading = None if forecast.heading is None else wrap(_double(forecast.heading))
        self.scale = None if forecast.scale is None else _double(forecast.scale)

    def prediction(
        self, row: int, chosen: Array, scene: Scene, time: TimeSpec, modes: int, source: str
    ) -> Prediction:
        """Agents ``chosen`` ``[N]`` of one scene, modes sorted by falling probability."""
        probability = self.probability[row] if self.joint else self.probability[row, chosen]
        position = self.position[row][:, chosen]
        for name, values in (("position", position), ("probability", probability)):
            if not np.isfinite(values).all():
                raise TrainingError(
                    f"{source} gives a {name} that is not finite",
                    scene=scene.scene_id,
                    remedy="Check the scene with 'motionpred inspect --check', then the model",
                )
        return (
            Prediction(
                scene_id=scene.scene_id,
                track_id=self.track_id[row][chosen],
                time=time.dt * np.arange(1, time.future + 1),
                position=position,
                probability=probability,
                joint=self.joint,
                heading=None if self.heading is None else self.heading[row][:, chosen],
                scale=None if self.scale is None else self.scale[row][:, chosen],
                source=source,
                dataset=scene.dataset,
            )
            .top(modes)
            .validate()
        )


def _double(values: Tensor) -> Array:
    return np.asarray(values.detach().to("cpu", torch.float64).numpy())


def _skipped_scored(scene: Scene, batch: SceneBatch, row: int) -> Counter[str]:
    """SCORED agents of ``scene`` that the batch does not predict, by reason."""
    tracks = scene.tracks
    scored = (tracks.roles & int(Role.SCORED)) != 0
    predicted = batch.track_id[row][np.flatnonzero(batch.predict[row].numpy())]
    missing = scored & ~np.isin(tracks.track_id, predicted)
    absent = missing & ~tracks.valid[:, scene.now]
    counts = {
        "scored_absent_at_now": int(absent.sum()),
        "scored_not_eligible": int((missing & ~absent).sum()),
    }
    return Counter({name: count for name, count in counts.items() if count})
