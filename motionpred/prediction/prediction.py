"""Forecasts of one scene.

Shapes: K modes, A agents, T future steps. World frame, metres, radians, float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from motionpred.errors import ConfigError, SceneError
from motionpred.geometry.angles import wrap
from motionpred.geometry.frames import to_local

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Prediction:
    """K futures of the agents of one scene; there may be no agent, but there is a mode.

    Joint: mode k is one future of the whole scene, ``probability`` is ``[K]``. Marginal: each agent
    has modes of its own, ``probability`` is ``[A, K]`` and mode k of two agents is unrelated.
    Modes are sorted by falling probability when joint.
    """

    scene_id: str
    track_id: Array  # [A] str
    time: Array  # [T] float64, seconds after now
    position: Array  # [K, A, T, 2] float64, metres, world frame
    probability: Array  # [K] joint or [A, K] marginal, float64, sums to 1 over K
    joint: bool
    heading: Array | None = None  # [K, A, T] float64, radians in (-pi, pi], world frame
    scale: Array | None = None  # [K, A, T, 2] float64, Laplace b per axis, agent's own frame at now
    source: str = ""  # the model that made it
    dataset: str = ""

    @property
    def modes(self) -> int:
        """K."""
        return int(self.position.shape[0])

    def validate(self) -> Prediction:
        """Check types, shapes, finiteness, times and probabilities; return the prediction itself.

        Raises:
            SceneError: names the field of the first fault.
        """
        self._check_words()
        self._check_numbers()
        if (self.time <= 0).any() or (np.diff(self.time) <= 0).any():
            self._fail("time", "must be above 0 and increase from step to step")
        if self.scale is not None and (self.scale <= 0).any():
            self._fail("scale", f"is {float(self.scale.min()):g} somewhere, it must be above 0")
        if (self.probability < 0).any() or (self.probability > 1).any():
            self._fail("probability", "is outside 0..1")
        total = self.probability.sum(axis=-1)
        if not np.allclose(total, 1.0, atol=1e-6):
            self._fail("probability", f"sums to {float(np.min(total)):.6g}, it must be 1")
        return self

    def _check_words(self) -> None:
        for name in ("scene_id", "source", "dataset"):
            value = getattr(self, name)
            if not isinstance(value, str):
                self._fail(name, f"is {value!r}, it must be text")
        tracks = self.track_id
        if not isinstance(tracks, np.ndarray) or tracks.dtype.kind != "U" or tracks.ndim != 1:
            self._fail("track_id", "must be a numpy array of texts with one axis")
        if len(set(tracks.tolist())) != len(tracks):
            self._fail("track_id", "holds a track twice")

    def _check_numbers(self) -> None:
        for name in ("time", "position", "probability", "heading", "scale"):
            values = getattr(self, name)
            if values is None and name in ("heading", "scale"):
                continue
            if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
                self._fail(name, "must be a numpy array of floating-point numbers")
        if self.position.ndim != 4 or self.modes == 0:
            self._fail("position", f"has shape {self.position.shape}, it must be [K, A, T, 2], K≥1")
        modes, agents, steps = self.modes, len(self.track_id), self.time.size
        shapes: dict[str, tuple[int, ...]] = {
            "time": (steps,),
            "position": (modes, agents, steps, 2),
            "probability": (modes,) if self.joint else (agents, modes),
            "heading": (modes, agents, steps),
            "scale": (modes, agents, steps, 2),
        }
        for name, shape in shapes.items():
            values = getattr(self, name)
            if values is None:
                continue
            if values.shape != shape:
                self._fail(name, f"has shape {values.shape}, it must be {shape}")
            if not np.isfinite(values).all():
                where = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
                self._fail(name, f"is not finite at {where}")

    def _fail(self, field: str, message: str) -> NoReturn:
        scene = self.scene_id if isinstance(self.scene_id, str) else None
        raise SceneError(message, scene=scene, field=f"prediction.{field}")

    def marginal(self) -> Prediction:
        """The same trajectories as modes of each agent, with the scene's probabilities."""
        if not self.joint:
            return self
        probability = np.broadcast_to(self.probability, (len(self.track_id), self.modes)).copy()
        return replace(self, joint=False, probability=probability)

    def top(self, k: int) -> Prediction:
        """The ``k`` most probable modes, sorted (ties keep their order), renormalised.

        Raises:
            ConfigError: ``k`` is below 1.
        """
        if k < 1:
            raise ConfigError(f"is {k}", field="k", remedy="Ask for 1 mode or more")
        order = np.argsort(-self.probability, axis=-1, kind="stable")[..., :k]
        probability = np.take_along_axis(self.probability, order, axis=-1)
        total = probability.sum(axis=-1, keepdims=True)
        uniform = np.full_like(probability, 1.0 / max(probability.shape[-1], 1))
        probability = np.divide(probability, total, out=uniform, where=total > 0)

        def pick(values: Array | None) -> Array | None:
            if values is None:
                return None
            if self.joint:
                return np.asarray(values[order])
            agent = np.arange(values.shape[1])
            return np.asarray(values[order.T, agent[None, :]])

        position = pick(self.position)
        assert position is not None
        return replace(
            self,
            position=position,
            heading=pick(self.heading),
            scale=pick(self.scale),
            probability=probability,
        )

    def select(self, track_ids: Iterable[str]) -> Prediction:
        """The given agents, each once, in the given order; those not predicted are left out."""
        place = {track: i for i, track in enumerate(self.track_id.tolist())}
        index = np.array([place[t] for t in dict.fromkeys(track_ids) if t in place], np.int64)
        return replace(
            self,
            track_id=self.track_id[index],
            position=self.position[:, index],
            heading=None if self.heading is None else self.heading[:, index],
            scale=None if self.scale is None else self.scale[:, index],
            probability=self.probability if self.joint else self.probability[index],
        )

    def to_frame(self, origin: Sequence[float], heading: float) -> Prediction:
        """The same futures seen from a frame at ``origin`` (x, y) that looks along ``heading``."""
        turned = None if self.heading is None else wrap(self.heading - heading)
        return replace(self, position=to_local(self.position, origin, heading), heading=turned)

    def save(self, path: str | Path) -> None:
        """Write this one forecast to a Parquet file (see :func:`save_predictions`)."""
        from motionpred.prediction.file import save_predictions

        save_predictions(path, [self])

    @staticmethod
    def load(path: str | Path) -> list[Prediction]:
        """All forecasts of a Parquet file."""
        from motionpred.prediction.file import load_predictions

        return list(load_predictions(path))
