"""The part of the world that a picture shows, and its scale on paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.errors import ConfigError
from motionpred.geometry.kinematics import last_valid
from motionpred.scene import Role, Scene
from motionpred.viz.contents import Contents

Array = npt.NDArray[Any]

POINTS_PER_INCH = 72.0
SMALLEST = 36.0  # metres across: closer than this a picture shows no context
MARGIN = 0.10  # of the extent on each side, and
LEAST_MARGIN = 7.0  # metres
FARTHEST = 200.0  # metres from its target; a forecast that leaves this is cut off


@dataclass(frozen=True)
class Window:
    """A rectangle of the world (metres) and how many points of paper a metre takes."""

    x: float
    y: float
    width: float
    height: float
    scale: float = 1.0  # points per metre

    @property
    def aspect(self) -> float:
        """Width over height."""
        return self.width / self.height

    @property
    def limits(self) -> tuple[float, float, float, float]:
        """Lowest x, highest x, lowest y, highest y."""
        w, h = self.width / 2, self.height / 2
        return self.x - w, self.x + w, self.y - h, self.y + h

    def metres(self, points: float) -> float:
        """A length on paper (points) as a length in the world."""
        return points / self.scale

    def contains(self, points: Array, margin: float = 0.0) -> Array:
        """Which of the points ``[..., 2]`` lie inside, or at most ``margin`` metres outside."""
        low_x, high_x, low_y, high_y = self.limits
        x, y = points[..., 0], points[..., 1]
        inside_x = (x >= low_x - margin) & (x <= high_x + margin)
        return np.asarray(inside_x & (y >= low_y - margin) & (y <= high_y + margin))

    def meets(self, low: Array, high: Array) -> Array:
        """Which of the bounding boxes (corners ``[n, 2]``) reach into the window."""
        low_x, high_x, low_y, high_y = self.limits
        meets_x = (low[:, 0] <= high_x) & (high[:, 0] >= low_x)
        return np.asarray(meets_x & (low[:, 1] <= high_y) & (high[:, 1] >= low_y))

    def fit(self, width: float, height: float) -> Window:
        """The window widened to the shape of axes of that size in inches, with its scale."""
        wanted = width / height
        w, h = max(self.width, self.height * wanted), max(self.height, self.width / wanted)
        return Window(self.x, self.y, w, h, width * POINTS_PER_INCH / w)


def window_of(
    contents: Contents,
    center: tuple[float, float] | str | None,
    radius: float | None,
    *,
    truth: bool,
) -> Window:
    """The window around the targets, their forecasts and truth; or what the caller asks for.

    ``center`` is a point of the world or the id of a track; ``radius`` is half the smaller side, in
    metres. Without targets the window surrounds the ego, else all agents, else the map.

    Raises:
        ConfigError: the track does not exist, or the radius is not positive.
    """
    if radius is not None and radius <= 0:
        raise ConfigError(f"is {radius}", field="radius", remedy="Give metres above 0")
    points = _points_of_interest(contents, truth=truth)
    low, high = points.min(axis=0), points.max(axis=0)
    middle = (low + high) / 2
    if isinstance(center, str):
        middle = _track_position(contents.scene, center)
    elif center is not None:
        middle = np.asarray(center, np.float64)
    if radius is not None:
        return Window(float(middle[0]), float(middle[1]), 2 * radius, 2 * radius)
    half = np.maximum(high - middle, middle - low)
    size = np.maximum(2 * (half + np.maximum(LEAST_MARGIN, 2 * MARGIN * half)), SMALLEST)
    return Window(float(middle[0]), float(middle[1]), float(size[0]), float(size[1]))


def _points_of_interest(contents: Contents, *, truth: bool) -> Array:
    scene, tracks = contents.scene, contents.scene.tracks
    now = tracks.position[:, scene.now, :2]
    shown = contents.target & contents.at_now
    parts = [now[shown]]
    if truth:
        steps = contents.truth_steps
        valid = tracks.valid[:, steps] & contents.target[:, None]
        parts.append(tracks.position[:, steps, :2][valid])
    for forecast in contents.forecasts:
        modes = forecast.shown_modes
        near = forecast.prediction.position[modes]
        known = contents.at_now[forecast.agent]
        start = np.where(known[:, None], now[forecast.agent], near[0, :, 0] if modes else 0.0)
        distance = np.linalg.norm(near - start[None, :, None], axis=-1)
        parts.append(near[distance <= FARTHEST])
    points = np.concatenate(parts)
    if not len(points):
        points = now[contents.at_now & ((tracks.roles & Role.EGO) != 0)]
    if not len(points):
        points = now[contents.at_now]
    if not len(points):
        points = scene.map.points[:, :2]
    return points if len(points) else np.zeros((1, 2))


def _track_position(scene: Scene, track_id: str) -> Array:
    found = np.flatnonzero(scene.tracks.track_id == track_id)
    if not len(found):
        raise ConfigError(f"there is no track {track_id!r}", scene=scene.scene_id, field="center")
    agent = int(found[0])
    seen = int(last_valid(scene.tracks.valid[agent, : scene.now + 1]))
    if seen < 0:
        raise ConfigError(
            f"track {track_id!r} has no state up to now", scene=scene.scene_id, field="center"
        )
    return np.asarray(scene.tracks.position[agent, seen, :2])
