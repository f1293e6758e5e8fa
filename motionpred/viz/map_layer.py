"""The road under the traffic: areas, lanes, paint, crossings and stop lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.path import Path

from motionpred.geometry.polylines import directions
from motionpred.scene import MapKind, Marking, RoadMap
from motionpred.viz import style
from motionpred.viz.style import Theme
from motionpred.viz.window import Window

Array = npt.NDArray[Any]

ARROW_SPACING = 46.0  # points of paper between the arrows of lanes
ARROW_LENGTH = 5.0  # points
STRIPE = 0.6  # metres: width of a zebra's bar and of the gap beside it
SHORT = 0.75  # a bar with less than this share of the middle bar's area is left out

_YELLOW = frozenset(m for m in Marking if m.name.endswith("YELLOW"))
_DASHED = frozenset(m for m in Marking if m.name.startswith(("DASHED", "DOUBLE_DASH")))


def draw_map(ax: Axes, road: RoadMap, window: Window, theme: Theme) -> list[Artist]:
    """Draw the polylines that reach into the window; returns the legend entries."""
    near = _inside(road, window)

    def lines(*kinds: MapKind) -> list[Array]:
        return [road.polyline(i)[:, :2] for i in near if road.kind[i] in kinds]

    _draw_areas(ax, road, near, theme)
    surfaces = lines(MapKind.DRIVEWAY, MapKind.WALKWAY)
    _add_polygons(ax, surfaces, "walkway", theme.walkway, theme.area_edge, style.Z_AREA + 0.1)
    bumps = lines(MapKind.SPEED_BUMP)
    _add_polygons(ax, bumps, "speed bump", theme.crosswalk, theme.boundary, style.Z_CROSSWALK)
    _draw_crosswalks(ax, lines(MapKind.CROSSWALK), theme)
    lanes = lines(MapKind.LANE)
    _add_lines(ax, lanes, "lane", theme.lane, 0.6, style.Z_LANE)
    _draw_arrows(ax, lanes, window, theme)
    _draw_boundaries(ax, road, near, theme)
    _add_lines(ax, lines(MapKind.ROAD_EDGE), "road edge", theme.context_edge, 1.0, style.Z_BOUNDARY)
    stops = lines(MapKind.STOP_LINE)
    _add_lines(ax, stops, "stop line", theme.stop_line, 1.8, style.Z_STOP)
    signs = lines(MapKind.STOP_SIGN)
    if signs:
        at = np.array([points[0] for points in signs])
        ax.scatter(
            at[:, 0],
            at[:, 1],
            s=38,
            marker="8",
            color="#C0504D",
            edgecolors=theme.halo,
            linewidths=0.6,
            zorder=style.Z_STOP,
            gid="stop sign",
        )
    entries: list[Artist] = []
    if stops:
        entries.append(Line2D([], [], color=theme.stop_line, lw=1.8, label="stop line"))
    if signs:
        entries.append(
            Line2D(
                [], [], ls="", marker="8", ms=5, color="#C0504D", mec=theme.halo, label="stop sign"
            )
        )
    return entries


def _inside(road: RoadMap, window: Window) -> list[int]:
    """Polylines whose bounding box reaches into the window; far ones cost nothing."""
    if not len(road):
        return []
    points, start = road.points[:, :2], road.start[:-1]
    low, high = np.minimum.reduceat(points, start), np.maximum.reduceat(points, start)
    return [int(i) for i in np.flatnonzero(window.meets(low, high))]


def _draw_areas(ax: Axes, road: RoadMap, near: Sequence[int], theme: Theme) -> None:
    kinds = np.array([road.kind[i] == MapKind.DRIVABLE_AREA for i in near], bool)
    areas = [i for i, area in zip(near, kinds, strict=True) if area]
    rings = [i for i in areas if road.hole_of[i] < 0]
    holes = {i: np.flatnonzero(road.hole_of == i) for i in rings}
    paths = [
        Path.make_compound_path(
            _ring(road.polyline(i), clockwise=False),
            *(_ring(road.polyline(int(h)), clockwise=True) for h in holes[i]),
        )
        for i in rings
    ]
    if paths:
        # The outline is drawn below the fill of a neighbour, so that shared edges disappear.
        for gid, face, edge, width, z in (
            ("drivable area edge", "none", theme.area_edge, 2.0, style.Z_AREA - 0.1),
            ("drivable area", theme.area, theme.area, 0.6, style.Z_AREA),
        ):
            artist = PathCollection(
                paths, facecolors=face, edgecolors=edge, linewidths=width, zorder=z, gid=gid
            )
            ax.add_collection(artist, autolim=False)


def _ring(points: Array, *, clockwise: bool) -> Path:
    """A closed path that runs the given way round: holes must run against their area."""
    xy = points[:, :2] - points[0, :2]
    x, y = xy.T
    turns_left = float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) > 0
    ordered = points[::-1, :2] if turns_left == clockwise else points[:, :2]
    return Path(np.concatenate([ordered, ordered[:1]]), closed=True)


def _draw_crosswalks(ax: Axes, crossings: Sequence[Array], theme: Theme) -> None:
    bars = [bar for ring in crossings for bar in zebra(ring)]
    _add_polygons(ax, bars, "crosswalk", theme.crosswalk, "none", style.Z_CROSSWALK)


def zebra(ring: Array) -> list[Array]:
    """The bars ``[n, 2]`` of a crosswalk ``[n, 2]``: across its long side, cut to its outline.

    Bars that the outline cuts short (where it flares out to the kerbs) are left out.
    """
    import shapely

    outline = shapely.make_valid(shapely.Polygon(ring)) if len(ring) > 2 else shapely.Polygon()
    if outline.area == 0:
        return []
    first, second, _, last, _ = np.array(shapely.oriented_envelope(outline).exterior.coords)
    walk, across = second - first, last - first
    if np.hypot(*walk) < np.hypot(*across):
        walk, across = across, walk
    count = max(int(np.hypot(*walk) / (2 * STRIPE)), 1)
    begin = first + ((np.arange(count) + 0.25) / count)[:, None] * walk
    end = begin + 0.5 / count * walk
    bars = shapely.polygons(np.stack([begin, end, end + across, begin + across], axis=1))
    pieces = shapely.get_parts(shapely.intersection(bars, outline))
    area = shapely.area(pieces)
    whole = pieces[(area > 0) & (area >= SHORT * np.median(area))]
    return [np.array(piece.exterior.coords) for piece in whole if piece.geom_type == "Polygon"]


def _draw_boundaries(ax: Axes, road: RoadMap, near: Sequence[int], theme: Theme) -> None:
    groups: dict[tuple[str, bool, float], list[Array]] = {}
    for i in near:
        if road.kind[i] not in (MapKind.LANE_BOUNDARY, MapKind.ROAD_LINE):
            continue
        marking = Marking(int(road.marking[i]))
        if marking == Marking.NONE:
            continue  # no paint, nothing to see
        color = theme.yellow if marking in _YELLOW else theme.boundary
        color = theme.blue_line if marking == Marking.SOLID_BLUE else color
        width = 1.4 if marking.name.startswith("DOUBLE") else 0.8
        groups.setdefault((color, marking in _DASHED, width), []).append(road.polyline(i)[:, :2])
    for (color, dashed, width), lines in groups.items():
        dashes: Any = (0, (4.0, 3.0)) if dashed else "solid"
        _add_lines(ax, lines, "boundary", color, width, style.Z_BOUNDARY, dashes)


def _draw_arrows(ax: Axes, lanes: Sequence[Array], window: Window, theme: Theme) -> None:
    """A small arrow head at the middle of lanes, at most one per cell of the page."""
    cell, size = window.metres(ARROW_SPACING), window.metres(ARROW_LENGTH)
    taken: set[tuple[int, int]] = set()
    heads = []
    for points in sorted(lanes, key=len, reverse=True):
        if len(points) < 2:
            continue
        middle = (len(points) - 1) // 2
        at = (points[middle] + points[middle + 1]) / 2
        place = (int(at[0] // cell), int(at[1] // cell))
        if place in taken or not window.contains(at):
            continue
        taken.add(place)
        angle = directions(points[middle : middle + 2])[0]
        turn = angle + np.array([0.0, 2.5, -2.5])
        heads.append(at + 0.6 * size * np.stack([np.cos(turn), np.sin(turn)], -1))
    _add_polygons(ax, heads, "lane arrow", theme.boundary, "none", style.Z_LANE)


def _add_lines(
    ax: Axes,
    lines: Sequence[Array],
    gid: str,
    color: str,
    width: float,
    zorder: float,
    dashes: Any = "solid",
) -> None:
    if lines:
        artist = LineCollection(
            lines,
            colors=color,
            linewidths=width,
            linestyles=dashes,
            zorder=zorder,
            gid=gid,
            capstyle="butt",
        )
        ax.add_collection(artist, autolim=False)


def _add_polygons(
    ax: Axes, rings: Sequence[Array], gid: str, face: str, edge: str, zorder: float
) -> None:
    if rings:
        artist = PolyCollection(
            rings, facecolors=face, edgecolors=edge, linewidths=0.5, zorder=zorder, gid=gid
        )
        ax.add_collection(artist, autolim=False)
