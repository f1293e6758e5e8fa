"""One look for every picture: colours, line widths and the order of the layers.

The hues are those of Okabe and Ito (2008), which stay apart under the common colour blindnesses;
the modes of a joint forecast take theirs from a ramp whose lightness rises with the rank.
Widths and font sizes are in points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.errors import ConfigError
from motionpred.registry import nearest

Array = npt.NDArray[Any]

# The order of the layers, bottom first.
Z_AREA, Z_CROSSWALK, Z_LANE, Z_BOUNDARY, Z_STOP = 1.0, 1.2, 1.4, 1.6, 1.8
Z_HISTORY, Z_CONTEXT, Z_FORECAST, Z_TRUTH = 3.0, 3.5, 4.0, 5.0
Z_TARGET, Z_SIGNAL, Z_LABEL, Z_FRAME = 6.0, 6.5, 7.0, 8.0

FONT = 8.0
SMALL_FONT = 7.0

# Opacity of a mode: LEAST_OPACITY at probability 0, 1 at that of the most probable mode.
LEAST_OPACITY = 0.30

# Share of its colour that a box keeps when its size is assumed.
ASSUMED_STRENGTH = 0.6


@dataclass(frozen=True)
class Theme:
    """Every colour of a picture."""

    name: str
    background: str
    text: str
    faint_text: str
    area: str
    area_edge: str
    walkway: str
    lane: str
    boundary: str
    yellow: str
    blue_line: str
    crosswalk: str
    stop_line: str
    context: str
    context_edge: str
    target: str
    focal: str
    ego: str
    halo: str
    history: str
    truth: str
    modes: tuple[str, ...]  # the ramp of the modes of a joint forecast, most probable first
    forecasts: tuple[str, ...]  # one hue per forecast, where there are several or it is marginal


LIGHT = Theme(
    name="light",
    background="#FFFFFF",
    text="#111827",
    faint_text="#6B7280",
    area="#EEF0F3",
    area_edge="#D5D9E0",
    walkway="#F6F4EF",
    lane="#C9CED6",
    boundary="#AEB4BF",
    yellow="#D9B44A",
    blue_line="#7FA8D9",
    crosswalk="#D3D8E0",
    stop_line="#8A6F70",
    context="#D4D8DF",
    context_edge="#8E96A3",
    target="#5B6675",
    focal="#111827",
    ego="#E69F00",
    halo="#FFFFFF",
    history="#374151",
    truth="#D6390B",
    modes=("#27348B", "#1F6FB5", "#1499B0", "#26B08A", "#6BBF59", "#A6BF3A"),
    forecasts=("#0072B2", "#AA3C8F", "#009E73", "#56B4E9", "#7A5C2E", "#6B6B6B"),
)

DARK = Theme(
    name="dark",
    background="#12161D",
    text="#F3F4F6",
    faint_text="#9CA3AF",
    area="#1E242E",
    area_edge="#333B48",
    walkway="#191E26",
    lane="#3D4655",
    boundary="#566070",
    yellow="#8F7A35",
    blue_line="#3F679B",
    crosswalk="#333C4A",
    stop_line="#8C6A6C",
    context="#3A4352",
    context_edge="#7A8494",
    target="#9AA5B5",
    focal="#FFFFFF",
    ego="#E69F00",
    halo="#12161D",
    history="#D1D5DB",
    truth="#FF7A4D",
    modes=("#F2F06B", "#A9DE5E", "#5BC98A", "#2FB0A8", "#3A8FC0", "#5674C4"),
    forecasts=("#56B4E9", "#DB8FC6", "#3CCB9F", "#F0E442", "#C9A36B", "#B0B0B0"),
)

THEMES: Mapping[str, Theme] = MappingProxyType({theme.name: theme for theme in (LIGHT, DARK)})


def theme_of(theme: str | Theme) -> Theme:
    """The theme itself, or the one called so; a ConfigError names the nearest one."""
    if isinstance(theme, Theme):
        return theme
    if theme not in THEMES:
        raise ConfigError(f"there is no theme called {theme!r}", remedy=nearest(theme, THEMES))
    return THEMES[theme]


def opacity(probability: npt.ArrayLike) -> Array:
    """Opacity of modes from their probabilities ``[..., K]``: rises with it, the largest gets 1."""
    p = np.asarray(probability, np.float64)
    largest = p.max(axis=-1, keepdims=True, initial=0.0)
    share = np.divide(p, largest, out=np.ones_like(p), where=largest > 0)
    return np.asarray(LEAST_OPACITY + (1 - LEAST_OPACITY) * share)


def rgba(color: str, alpha: npt.ArrayLike) -> Array:
    """One colour at opacities ``[n]``: ``[n, 4]``."""
    from matplotlib.colors import to_rgb

    alpha = np.asarray(alpha, np.float64)
    return np.concatenate([np.broadcast_to(to_rgb(color), (*alpha.shape, 3)), alpha[..., None]], -1)


def pale(color: str, theme: Theme) -> tuple[float, float, float]:
    """The colour mixed with the background, opaque: the fill of a box whose size is assumed."""
    from matplotlib.colors import to_rgb

    mixed = ASSUMED_STRENGTH * np.array(to_rgb(color))
    mixed += (1 - ASSUMED_STRENGTH) * np.array(to_rgb(theme.background))
    return float(mixed[0]), float(mixed[1]), float(mixed[2])


def mode_colors(theme: Theme, count: int) -> list[str]:
    """Colours of ``count`` modes, most probable first; those beyond the ramp share its last one."""
    last = len(theme.modes) - 1
    return [theme.modes[min(k, last)] for k in range(count)]
