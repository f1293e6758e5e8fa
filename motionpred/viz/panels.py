"""Figures around the traffic: one scene, or the same scene under several models side by side."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TypeAlias

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from motionpred.viz import frame, style
from motionpred.viz.contents import Contents
from motionpred.viz.style import Theme
from motionpred.viz.window import POINTS_PER_INCH, Window

WIDTH = 7.6  # inches, of the axes of a picture
PANEL = 4.4  # inches, of each panel of a grid
PAD = 0.12  # inches around the axes
FLATTEST, TALLEST = 1.7, 0.85  # width over height of the axes
ABOVE = 24.0  # points for the line above a grid
SCREEN_DPI = 110

# Legend entries: of the scene, and of the futures.
Groups: TypeAlias = tuple[list[Artist], list[Artist]]
# Draws the contents into axes that show the window.
Draw: TypeAlias = Callable[[Axes, Contents, Window], Groups]


class Picture(Figure):
    """A figure that shows itself in a notebook; it belongs to no window and leaks nothing."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=SCREEN_DPI)
        return buffer.getvalue()


def one_panel(
    contents: Contents, window: Window, draw: Draw, theme: Theme, *, legend: bool, title: str | None
) -> Picture:
    """One scene with a title above and a legend below."""
    width, height = WIDTH, WIDTH / min(max(window.aspect, TALLEST), FLATTEST)
    picture = Picture(facecolor=theme.background)
    ax = picture.add_axes((0.0, 0.0, 1.0, 1.0))
    groups = draw(ax, contents, window.fit(width, height))
    rows = surround(ax, contents, groups, width, theme, legend=legend, title=title)
    below = frame.legend_height(rows) / POINTS_PER_INCH or PAD
    _lay_out(picture, [ax], 1, width, height, frame.TITLE_HEIGHT / POINTS_PER_INCH, below)
    return picture


def surround(
    ax: Axes,
    contents: Contents,
    groups: Groups,
    width: float,
    theme: Theme,
    *,
    legend: bool,
    title: str | None,
) -> list[list[Artist]]:
    """Put a title above axes ``width`` inches wide and a legend below; returns its rows."""
    heading = frame.heading_lines(contents)
    rows = frame.legend_rows(groups if legend else (), width * POINTS_PER_INCH)
    frame.draw_title(ax, heading[0] if title is None else title, heading[1], theme)
    frame.draw_legend(ax, rows, theme)
    return rows


def panel_grid(
    contents: Contents, window: Window, draw: Draw, theme: Theme, *, columns: int, title: str | None
) -> Picture:
    """A panel for each forecast of ``contents``, in one window, with one legend."""
    width, height = PANEL, PANEL / min(max(window.aspect, TALLEST), FLATTEST)
    window = window.fit(width, height)
    picture = Picture(facecolor=theme.background)
    panels: list[Axes] = []
    shared: list[dict[str, Artist]] = [{}, {}]
    for shown in contents.forecasts:
        ax = picture.add_axes((0.0, 0.0, 1.0, 1.0), label=shown.name)
        groups = draw(ax, Contents(contents.scene, contents.target, (shown,)), window)
        facts = frame.describe(shown).removeprefix(f"{shown.name}, ")
        frame.draw_title(ax, shown.name, facts + frame.probability_list(shown), theme)
        for known, entries in zip(shared, groups, strict=True):
            known.update({str(entry.get_label()): entry for entry in entries})
        panels.append(ax)
    columns = min(columns, len(panels))
    across = columns * (width + PAD) - PAD
    rows = frame.legend_rows([list(known.values()) for known in shared], across * POINTS_PER_INCH)
    _lay_out(
        picture,
        panels,
        columns,
        width,
        height,
        frame.TITLE_HEIGHT / POINTS_PER_INCH,
        frame.legend_height(rows) / POINTS_PER_INCH or PAD,
        above=(frame.TITLE_HEIGHT + ABOVE) / POINTS_PER_INCH,
    )
    first_of_last_row = panels[(len(panels) - 1) // columns * columns]
    frame.draw_legend(first_of_last_row, rows, theme)
    heading = frame.heading_lines(Contents(contents.scene, contents.target, ()))
    total = picture.get_size_inches()
    picture.text(
        PAD / total[0],
        1 - PAD / total[1],
        title or "  ·  ".join(filter(None, heading)),
        fontsize=style.FONT + 1.5,
        color=theme.text,
        va="top",
        gid="title",
    )
    return picture


def usual_columns(panels: int) -> int:
    """2 for two or four panels, else 3."""
    return 2 if panels == 4 else 3


def _lay_out(
    picture: Figure,
    panels: Sequence[Axes],
    columns: int,
    width: float,
    height: float,
    title: float,
    below: float,
    above: float | None = None,
) -> None:
    """Size the figure so that every panel is ``width`` by ``height`` inches.

    ``title`` inches above each row but the first, which has ``above``; ``below`` under the last.
    """
    rows = -(-len(panels) // columns)
    top = title if above is None else above
    total = (columns * (width + PAD) + PAD, top + rows * height + (rows - 1) * title + below)
    picture.set_size_inches(*total)
    for i, ax in enumerate(panels):
        row, column = divmod(i, columns)
        left = PAD + column * (width + PAD)
        bottom = total[1] - top - height - row * (height + title)
        ax.set_position((left / total[0], bottom / total[1], width / total[0], height / total[1]))
