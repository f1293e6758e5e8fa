"""What surrounds the traffic: axes without ticks, scale bar, title and legend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from motionpred.viz import style
from motionpred.viz.contents import Contents, ShownForecast
from motionpred.viz.forecast_layer import LISTED_MODES
from motionpred.viz.style import Theme
from motionpred.viz.window import Window

LEGEND_ROW = 11.0  # points
LEGEND_PAD = 5.0  # points, above and below the rows
LEGEND_COLUMN = 78.0  # points
TITLE_HEIGHT = 34.0  # points, both lines


def set_frame(ax: Axes, window: Window, theme: Theme) -> None:
    """The window's limits, equal aspect, no ticks (the scale bar tells the size)."""
    low_x, high_x, low_y, high_y = window.limits
    ax.set_xlim(low_x, high_x)
    ax.set_ylim(low_y, high_y)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_facecolor(theme.background)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color(theme.area_edge)
        spine.set_linewidth(0.8)


def bar_length(width: float) -> float:
    """The longest of 1, 2, 5, 10, 20, … metres that takes at most a fifth of ``width`` metres."""
    decade = 10.0 ** np.floor(np.log10(width / 5))
    return float(max(decade * step for step in (1, 2, 5) if decade * step <= width / 5))


def draw_scale_bar(ax: Axes, window: Window, theme: Theme) -> None:
    """A bar of a round length in metres, in the lower left corner."""
    low_x, _, low_y, _ = window.limits
    length = bar_length(window.width)
    inset = window.metres(10.0)
    x, y = low_x + inset, low_y + inset
    tick = window.metres(2.5)
    stroke = [withStroke(linewidth=4.0, foreground=theme.halo, alpha=0.85)]
    ax.plot(
        [x, x, x, x + length, x + length, x + length],
        [y + tick, y - tick, y, y, y - tick, y + tick],
        color=theme.text,
        lw=1.4,
        solid_joinstyle="miter",
        zorder=style.Z_FRAME,
        gid="scale bar",
        path_effects=stroke,
        scalex=False,
        scaley=False,
    )
    ax.text(
        x + length / 2,
        y + window.metres(4.0),
        f"{length:g} m",
        ha="center",
        va="bottom",
        fontsize=style.SMALL_FONT,
        color=theme.text,
        zorder=style.Z_FRAME,
        gid="scale bar",
        path_effects=stroke,
    )


def heading_lines(contents: Contents) -> tuple[str, str]:
    """The scene's id, and a line that says where it is from and what is drawn."""
    scene = contents.scene
    facts = [scene.dataset, str(scene.info.get("city", "")), scene.split]
    facts += [describe(forecast) for forecast in contents.forecasts[:1]]
    if len(contents.forecasts) > 1:
        facts[-1] = f"{len(contents.forecasts)} forecasts"
    return scene.scene_id, "  ·  ".join(fact for fact in facts if fact)


def describe(forecast: ShownForecast) -> str:
    """``constant-velocity, joint, K = 6, 6 s``; with the mode where only one is drawn."""
    prediction = forecast.prediction
    parts = [forecast.name, "joint" if prediction.joint else "marginal", f"K = {prediction.modes}"]
    if len(prediction.time):
        parts.append(f"{prediction.time[-1]:.3g} s")
    if forecast.mode is not None:
        parts.append(f"mode {forecast.mode + 1} only")
    return ", ".join(parts)


def probability_list(forecast: ShownForecast) -> str:
    """`` (0.30, 0.20, …)`` of a joint forecast of a few modes, else nothing."""
    prediction = forecast.prediction
    if not prediction.joint or prediction.modes > LISTED_MODES:
        return ""
    return f" ({', '.join(f'{p:.2f}' for p in prediction.probability)})"


def draw_title(ax: Axes, title: str, subtitle: str, theme: Theme) -> None:
    """Two lines above the axes, at the left."""
    ax.annotate(
        title,
        (0, 1),
        (0, 17 if subtitle else 5),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=style.FONT + 1.5,
        fontweight="bold",
        color=theme.text,
        va="bottom",
        annotation_clip=False,
        gid="title",
    )
    if subtitle:
        ax.annotate(
            subtitle,
            (0, 1),
            (0, 5),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=style.FONT,
            color=theme.faint_text,
            va="bottom",
            annotation_clip=False,
            gid="subtitle",
        )


def legend_rows(groups: Sequence[Sequence[Artist]], width: float) -> list[list[Artist]]:
    """Entries in rows for a legend ``width`` points wide; each group begins a row of its own."""
    columns = max(int(width // LEGEND_COLUMN), 1)
    return [list(group[i : i + columns]) for group in groups for i in range(0, len(group), columns)]


def legend_height(rows: Sequence[Sequence[Artist]]) -> float:
    """Points that a legend takes."""
    return len(rows) * LEGEND_ROW + 2 * LEGEND_PAD if rows else 0.0


def draw_legend(ax: Axes, rows: Sequence[Sequence[Artist]], theme: Theme) -> None:
    """The legend under the axes, outside the traffic."""
    if not rows:
        return
    columns = max(len(row) for row in rows)
    blank = Line2D([], [], ls="", label=" ")
    full = [[*row, *[blank] * (columns - len(row))] for row in rows]
    legend = ax.legend(
        handles=[row[c] for c in range(columns) for row in full],  # it fills column by column
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        ncols=columns,
        frameon=False,
        fontsize=style.SMALL_FONT,
        labelcolor=theme.text,
        borderaxespad=0.4,
        borderpad=0.2,
        handlelength=1.8,
        handletextpad=0.6,
        columnspacing=1.4,
        labelspacing=0.35,
    )
    legend.set_gid("legend")
