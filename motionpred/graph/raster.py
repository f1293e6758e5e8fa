"""A scene as a bird's-eye-view image: named channels for networks, colours for people.

Image frame: the heading of the view points up, the row counts down from the top.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image, ImageDraw
from torch import Tensor

from motionpred.geometry.boxes import corners
from motionpred.geometry.frames import rotate, to_local
from motionpred.geometry.kinematics import last_valid
from motionpred.scene import AgentType, MapKind, RoadMap, Role, Scene
from motionpred.scene.default_sizes import DEFAULT_SIZE

Array = npt.NDArray[Any]

CHANNELS = (
    "drivable_area",
    "crosswalk",
    "lane",
    "boundary",
    "control",
    "history",
    "vehicle",
    "cyclist",
    "pedestrian",
    "other",
    "scored",
    "velocity_forward",
    "velocity_left",
)

_LINES: dict[str, tuple[MapKind, ...]] = {
    "lane": (MapKind.LANE,),
    "boundary": (MapKind.LANE_BOUNDARY, MapKind.ROAD_EDGE, MapKind.ROAD_LINE),
    "control": (MapKind.STOP_LINE, MapKind.STOP_SIGN, MapKind.SPEED_BUMP),
}
_AREAS: dict[str, tuple[MapKind, ...]] = {
    "drivable_area": (MapKind.DRIVABLE_AREA, MapKind.DRIVEWAY),
    "crosswalk": (MapKind.CROSSWALK, MapKind.WALKWAY),
}
_TYPE_CHANNEL = {
    AgentType.VEHICLE: "vehicle",
    AgentType.BUS: "vehicle",
    AgentType.MOTORCYCLIST: "cyclist",
    AgentType.CYCLIST: "cyclist",
    AgentType.PEDESTRIAN: "pedestrian",
}
_ANGLES = np.linspace(0.0, 2 * np.pi, 16, endpoint=False)
_ROUND = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=-1)  # corners of a disc of radius 1


@dataclass(frozen=True)
class View:
    """Which part of the world an image shows. ``size`` is rows and columns."""

    size: tuple[int, int]
    resolution: float  # metres a pixel
    center: tuple[float, float]  # metres, world frame
    heading: float  # radians, world frame: up in the image

    def pixels(self, points: Array) -> Array:
        """World points ``[..., 2]`` as (column, row), not rounded."""
        local = to_local(points, self.center, self.heading) / self.resolution
        return np.stack([self.size[1] / 2 - local[..., 1], self.size[0] / 2 - local[..., 0]], -1)


def raster(
    scene: Scene,
    *,
    size: tuple[int, int] = (224, 224),
    resolution: float = 0.5,
    center: tuple[float, float] | None = None,
    heading: float | None = None,
    history: int = 10,
) -> Tensor:
    """The observed part of a scene as ``[len(CHANNELS), rows, columns]`` float32.

    ``size`` pixels, ``resolution`` metres a pixel, ``center`` metres and ``heading`` radians in the
    world frame; by default those of the focal agent, else the ego, else the middle of all agents
    with x up. Masks are 0 or 1; ``history`` boxes of the last so many steps before ``now`` fade
    with age; velocities are in m/s, in the frame of the view, inside the boxes at ``now``. A box
    without a heading is a disc.
    """
    seen = scene.observed()
    view = _view(seen, size, resolution, center, heading)
    planes = {name: Image.new("F", (size[1], size[0])) for name in CHANNELS}
    pens = {name: ImageDraw.Draw(plane) for name, plane in planes.items()}
    _draw_map(pens, seen.map, view)
    _draw_agents(pens, seen, view, history)
    return torch.from_numpy(np.stack([np.asarray(planes[name]) for name in CHANNELS]))


def _view(
    seen: Scene,
    size: tuple[int, int],
    resolution: float,
    center: tuple[float, float] | None,
    heading: float | None,
) -> View:
    tracks = seen.tracks
    last = last_valid(tracks.valid)
    rows = np.arange(len(tracks))
    default_center, default_heading = np.zeros(2), 0.0
    if len(tracks):
        default_center = tracks.position[rows, last, :2].mean(axis=0)
    for role in (Role.FOCAL, Role.EGO):
        found = np.flatnonzero(tracks.roles & role)
        if len(found):
            step = last[found[0]]
            default_center = tracks.position[found[0], step, :2]
            default_heading = float(tracks.heading[found[0], step])
            break
    x, y = default_center if center is None else center
    angle = default_heading if heading is None else heading
    return View(size, resolution, (float(x), float(y)), angle)


def _draw_map(pens: dict[str, Any], road: RoadMap, view: View) -> None:
    for channel, kinds in _AREAS.items():
        # Holes last: they cut what the areas around them have filled.
        for is_hole, fill in ((False, 1.0), (True, 0.0)):
            for corner in _polylines(road, kinds, view, holes=is_hole):
                if len(corner) > 2:
                    pens[channel].polygon(corner, fill=fill)
    for channel, kinds in _LINES.items():
        for points in _polylines(road, kinds, view, holes=False):
            pens[channel].line(points, fill=1.0, width=1)
            if len(points) == 1:
                pens[channel].point(points, fill=1.0)


def _polylines(
    road: RoadMap, kinds: tuple[MapKind, ...], view: View, *, holes: bool
) -> Iterator[list[tuple[float, float]]]:
    chosen = np.isin(road.kind, kinds) & ((road.hole_of >= 0) == holes)
    for index in np.flatnonzero(chosen).tolist():
        points = view.pixels(road.polyline(index)[:, :2])
        if MapKind(road.kind[index]).closed:
            points = np.concatenate([points, points[:1]])
        yield [(x, y) for x, y in points.tolist()]


def _draw_agents(pens: dict[str, Any], seen: Scene, view: View, history: int) -> None:
    tracks, now = seen.tracks, seen.now
    kinds = [AgentType(kind) for kind in tracks.type.tolist()]
    assumed = np.array([DEFAULT_SIZE[kind][:2] for kind in kinds]).reshape(-1, 2)
    size = np.where(tracks.size[..., :2] > 0, tracks.size[..., :2], assumed[:, None])
    center = tracks.position[..., :2]
    boxes = view.pixels(corners(center, tracks.heading, size))
    radius = size.max(axis=-1) / 2

    def outline(agent: int, step: int) -> list[tuple[float, float]]:
        """A box; a disc where it is not known which way a box would point."""
        shape = boxes[agent, step]
        if not tracks.heading_valid[agent, step]:
            shape = view.pixels(center[agent, step] + radius[agent, step] * _ROUND)
        return [(x, y) for x, y in shape.tolist()]

    first = max(now - history, 0)
    for step in range(first, now):
        age = (step - first + 1) / (now - first + 1)
        for agent in np.flatnonzero(tracks.valid[:, step]).tolist():
            pens["history"].polygon(outline(agent, step), fill=age)
    velocity = rotate(tracks.velocity[:, now], -view.heading)
    for agent in np.flatnonzero(tracks.valid[:, now]).tolist():
        box = outline(agent, now)
        values = {_TYPE_CHANNEL.get(kinds[agent], "other"): 1.0}
        values["velocity_forward"], values["velocity_left"] = map(float, velocity[agent])
        if tracks.roles[agent] & Role.SCORED:
            values["scored"] = 1.0
        for channel, value in values.items():
            pens[channel].polygon(box, fill=value)


# Painted in this order; a later one covers what lies under it.
_COLOURS = {
    "drivable_area": (226, 229, 233),
    "crosswalk": (200, 206, 214),
    "boundary": (176, 183, 193),
    "lane": (150, 163, 181),
    "control": (196, 128, 60),
    "history": (140, 190, 235),
    "other": (120, 120, 120),
    "vehicle": (31, 102, 177),
    "cyclist": (38, 139, 85),
    "pedestrian": (140, 70, 160),
    "scored": (205, 62, 49),
}


def raster_picture(channels: Tensor) -> Image.Image:
    """The channels of :func:`raster` as a colour picture (``.save("scene.png")``)."""
    planes = dict(zip(CHANNELS, channels.numpy(), strict=True))
    picture = np.full((*channels.shape[1:], 3), 255.0)
    for name, colour in _COLOURS.items():
        opacity = np.clip(planes[name], 0.0, 1.0)[..., None]
        picture += opacity * (np.array(colour, float) - picture)
    return Image.fromarray(picture.round().astype(np.uint8))
