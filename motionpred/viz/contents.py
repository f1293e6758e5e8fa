"""What a picture shows: which agents are targets, and which futures of which forecasts.

Shapes: A agents of the scene, K modes, N targets that a forecast covers, T future steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.errors import ConfigError, SceneError, StoreError
from motionpred.prediction import ForecastFile, Prediction
from motionpred.registry import nearest
from motionpred.scene import Role, Scene

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ShownForecast:
    """The futures of one forecast that a picture draws."""

    name: str
    prediction: Prediction  # of the targets only
    agent: Array  # [N] int64, index in the scene's tracks
    mode: int | None  # draw only this mode

    @property
    def shown_modes(self) -> list[int]:
        """Indices of the modes that are drawn; none where the forecast has no step."""
        if not len(self.prediction.time):
            return []
        return list(range(self.prediction.modes)) if self.mode is None else [self.mode]

    @property
    def probability(self) -> Array:
        """``[N, K]``, whether the forecast is joint or not."""
        return self.prediction.marginal().probability


@dataclass(frozen=True)
class Contents:
    """A scene, its targets and the forecasts to draw."""

    scene: Scene
    target: Array  # [A] bool
    forecasts: tuple[ShownForecast, ...]

    @property
    def horizon(self) -> float:
        """Seconds after ``now`` up to which the truth is drawn: the longest forecast's."""
        ends = [f.prediction.time[-1] for f in self.forecasts if len(f.prediction.time)]
        return float(max(ends)) if ends else np.inf

    @property
    def truth_steps(self) -> slice:
        """Steps of the scene from ``now`` to the horizon (half a step of slack)."""
        scene = self.scene
        after = scene.time - scene.time[scene.now]
        return slice(scene.now, int((after <= self.horizon + 0.5 * scene.dt).sum()))

    @property
    def at_now(self) -> Array:
        """``[A]`` bool: agents that have a state at ``now``."""
        return np.asarray(self.scene.tracks.valid[:, self.scene.now])


def contents_of(
    scene: Scene,
    forecasts: Sequence[tuple[str, Prediction]],
    agents: str | Sequence[str],
    mode: int | None,
) -> Contents:
    """What to draw of ``scene``; ``agents`` is ``"scored"``, ``"all"`` or track ids.

    In a scene that has no scored agent, ``"scored"`` means every agent that is forecast.

    Raises:
        SceneError: a forecast of another scene, or of a track that the scene does not have.
        ConfigError: ``agents`` or ``mode`` that does not exist.
    """
    place = {track: i for i, track in enumerate(scene.tracks.track_id.tolist())}
    for name, prediction in forecasts:
        _check(scene, name, prediction, place, mode)
    target = _targets(scene, [p for _, p in forecasts], agents, place)
    shown = []
    for name, prediction in forecasts:
        kept = [t for t in prediction.track_id.tolist() if target[place[t]]]
        index = np.array([place[t] for t in kept], np.int64)
        shown.append(ShownForecast(name, prediction.select(kept), index, mode))
    return Contents(scene, target, tuple(shown))


def _check(
    scene: Scene, name: str, prediction: Prediction, place: dict[str, int], mode: int | None
) -> None:
    if prediction.scene_id != scene.scene_id:
        raise SceneError(
            f"the forecast {name!r} is of scene {prediction.scene_id!r}",
            scene=scene.scene_id,
            field="prediction.scene_id",
            remedy="Draw each forecast on the scene that it was made for",
        )
    for track in prediction.track_id.tolist():
        if track not in place:
            raise SceneError(
                f"the forecast {name!r} is of track {track!r}, which the scene does not have",
                scene=scene.scene_id,
                field="prediction.track_id",
            )
    if mode is not None and not 0 <= mode < prediction.modes:
        raise ConfigError(
            f"there is no mode {mode} in the forecast {name!r}",
            scene=scene.scene_id,
            field="mode",
            remedy=f"Use 0..{prediction.modes - 1}",
        )


def _targets(
    scene: Scene,
    predictions: Sequence[Prediction],
    agents: str | Sequence[str],
    place: dict[str, int],
) -> Array:
    tracks = scene.tracks
    if agents == "all":
        return np.asarray(tracks.valid[:, scene.now])
    if agents == "scored":
        target = (tracks.roles & Role.SCORED) != 0
        if target.any():
            return np.asarray(target)
        chosen = [track for p in predictions for track in p.track_id.tolist()]
    elif isinstance(agents, str):
        raise ConfigError(
            f"is {agents!r}", field="agents", remedy=nearest(agents, ("scored", "all"))
        )
    else:
        chosen = list(agents)
    target = np.zeros(len(tracks), bool)
    for track in chosen:
        if track not in place:
            raise ConfigError(
                f"there is no track {track!r}",
                scene=scene.scene_id,
                field="agents",
                remedy=nearest(track, place),
            )
        target[place[track]] = True
    return target


def find_forecast(path: Path, scene_id: str) -> Prediction:
    """The forecast of one scene in a forecast file.

    Raises:
        StoreError: the file is no forecast file or holds none of this scene.
    """
    with ForecastFile(path) as file:
        prediction = file.get(scene_id)
    if prediction is None:
        raise StoreError("holds no forecast of this scene", file=path, scene=scene_id)
    return prediction
