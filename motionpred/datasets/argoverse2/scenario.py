"""A scenario file (Parquet, one row per track and step) as dense tracks.

Shapes: R rows of the file, A tracks, T steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from motionpred.datasets.argoverse2.columns import BOOKKEEPING, Columns
from motionpred.datasets.argoverse2.layout import (
    AGENT_TYPES,
    CATEGORIES,
    EGO_TRACK,
    LARGEST,
    agent_type,
)
from motionpred.geometry.angles import wrap
from motionpred.scene import FieldSource, Role, TimeSpec, Tracks

Array = npt.NDArray[Any]
Duplicates = Literal["error", "first", "last"]

CLOCK = TimeSpec(dt=0.1, history=50, future=60)  # of every scenario
MOST_STEPS = 1000  # nine times a scenario: a larger step is damage, and would eat the memory
_STATE = ("position_x", "position_y", "heading", "velocity_x", "velocity_y")
_FOCAL = CATEGORIES.index(Role.FOCAL | Role.SCORED)


@dataclass(frozen=True)
class Scenario:
    """What a scenario file holds of a Scene."""

    scene_id: str
    time: Array  # [T] float64, seconds since the first step
    dt: float  # nominal seconds per step
    now: int  # index of the last observed step
    tracks: Tracks
    info: Mapping[str, Any]  # JSON: what submissions and the writer need, and ``read_report``


def read_scenario(path: Path, duplicates: Duplicates = "error") -> Scenario:
    """The scenario in the file at ``path``; tracks are sorted by id.

    Raises:
        SceneError: the file is damaged, a value is not finite or out of range, a track changes
            its type or category, rows of one track and step differ (unless ``duplicates`` says
            which to keep), or there is not exactly one focal track.
    """
    columns = Columns(path)
    columns.scene = columns.constant("scenario_id")
    report: Counter[str] = Counter()
    ids, track = columns.words("track_id")
    words, word = columns.words("object_type")
    step = _timestep(columns)
    category = columns.numbers("object_category", np.int64)
    if (bad := np.flatnonzero((category < 0) | (category >= len(CATEGORIES)))).size:
        at = columns.place(int(bad[0]))
        columns.fail(f"is {category[bad[0]]} at {at}, it must be 0 to 3", "object_category")
    word_of = _one_per_track(columns, "object_type", track, word, len(ids))
    category_of = _one_per_track(columns, "object_category", track, category, len(ids))
    focal = _focal(columns, ids, category_of)

    now = _now(columns, step, report)
    steps = max(int(step.max()), now) + 1
    cell = track * steps + step
    state = np.stack([columns.numbers(name, np.float64, LARGEST) for name in _STATE], axis=1)
    if np.count_nonzero(np.bincount(cell)) < len(cell):
        rows = _distinct(columns, cell, state, duplicates, report)
        cell, state = cell[rows], state[rows]
    raw_type = words[word_of]
    report["unlisted_types"] += int(np.isin(raw_type, list(AGENT_TYPES), invert=True).sum())
    dt = _interval(columns, report)
    return Scenario(
        scene_id=columns.scene,
        time=np.arange(steps) * dt,
        dt=dt,
        now=now,
        tracks=_tracks(ids, raw_type, category_of, cell, state, steps),
        info={
            "city": columns.constant("city"),
            "focal_track_id": focal,
            **{name: columns.first(name) for name in ("start_timestamp", "end_timestamp")},
            "num_timestamps": columns.first("num_timestamps"),
            **{name: value for name in BOOKKEEPING if (value := columns.first(name)) is not None},
            "read_report": {name: count for name, count in report.items() if count},
        },
    )


def _tracks(
    ids: Array, raw_type: Array, category: Array, cell: Array, state: Array, steps: int
) -> Tracks:
    shape = (len(ids), steps)
    valid = np.zeros(shape, bool)
    position = np.zeros((*shape, 3))
    heading = np.zeros(shape, np.float32)
    velocity = np.zeros((*shape, 2), np.float32)
    valid.reshape(-1)[cell] = True
    position.reshape(-1, 3)[cell, :2] = state[:, :2]
    heading.reshape(-1)[cell] = wrap(state[:, 2].astype(np.float32))
    velocity.reshape(-1, 2)[cell] = state[:, 3:]
    roles = np.array([int(role) for role in CATEGORIES], np.int16)[category]
    roles[ids == EGO_TRACK] |= Role.EGO
    return Tracks(
        track_id=ids,
        type=np.array([agent_type(word) for word in raw_type.tolist()], np.int8),
        raw_type=raw_type,
        roles=roles,
        position=position,
        heading=heading,
        velocity=velocity,
        size=np.zeros((*shape, 3), np.float32),
        valid=valid,
        measured=valid.copy(),
        velocity_valid=valid.copy(),
        heading_valid=valid.copy(),
        has_z=False,
        source={
            "heading": FieldSource.RECORDED,
            "velocity": FieldSource.RECORDED,
            "size": FieldSource.ABSENT,
        },
    )


def _timestep(columns: Columns) -> Array:
    step = columns.numbers("timestep", np.int64)
    stated = int(columns.numbers("num_timestamps", np.int64)[0])
    limit = min(stated, MOST_STEPS)
    if (bad := np.flatnonzero((step < 0) | (step >= limit))).size:
        row = int(bad[0])
        track = columns.cell("track_id", row)
        columns.fail(
            f"is {step[row]} for track {track}, it must lie in 0..{limit - 1}",
            "timestep",
            f"The file states {stated} steps, at most {MOST_STEPS} are read",
        )
    return step


def _now(columns: Columns, step: Array, report: Counter[str]) -> int:
    """The last step that is marked as observed."""
    observed = columns.numbers("observed", np.bool_)
    if not observed.any():
        columns.fail("is false in every row: there is no history", "observed")
    if observed.all() and step.max() >= CLOCK.history:
        # A whole scenario without a single unobserved row: the column says nothing of the past.
        report["observed_ignored"] += 1
        return CLOCK.history - 1
    now = int(step[observed].max())
    if (early := np.flatnonzero(~observed & (step <= now))).size:
        at = columns.place(int(early[0]))
        columns.fail(f"is false at {at}, yet step {now} is observed", "observed")
    return now


def _interval(columns: Columns, report: Counter[str]) -> float:
    """Seconds per step, from the stamps where they are sound (the same clock as 0.1 s)."""
    start, end = (columns.numbers(f"{name}_timestamp", np.float64)[0] for name in ("start", "end"))
    count = columns.first("num_timestamps")
    # The stamps are doubles near 3e17 ns, multiples of 64 ns: below 10 ns there is only rounding.
    interval = round(float(end - start) * 1e-9 / (count - 1), 8) if count > 1 else CLOCK.dt
    if CLOCK.same_clock(interval):
        return interval
    report["unsound_stamps"] += 1
    return CLOCK.dt


def _one_per_track(columns: Columns, name: str, track: Array, value: Array, count: int) -> Array:
    """The value ``[A]`` of a column that never changes within a track."""
    of_track = np.zeros(count, value.dtype)
    of_track[track] = value
    if (bad := np.flatnonzero(of_track[track] != value)).size:
        row = int(bad[0])
        columns.fail(f"changes within track {columns.cell('track_id', row)}", name)
    return of_track


def _focal(columns: Columns, ids: Array, category: Array) -> str:
    stated = columns.constant("focal_track_id")
    marked = ids[category == _FOCAL].tolist()
    if stated not in ids:
        columns.fail(
            f"is {stated!r}, which has no row", "focal_track_id", "Download the file again"
        )
    if marked != [stated]:
        columns.fail(
            f"is {stated!r}, yet the tracks of category {_FOCAL} are {marked}",
            "focal_track_id",
            "Exactly the focal track has that category",
        )
    return stated


def _distinct(
    columns: Columns, cell: Array, state: Array, duplicates: Duplicates, report: Counter[str]
) -> Array:
    """Rows to keep, one per cell; equal rows are dropped and counted, others by the policy."""
    order = np.argsort(cell, kind="stable")
    opens = np.r_[True, np.diff(cell[order]) != 0]  # the first row of each cell
    first = order[opens][np.cumsum(opens) - 1]  # for each row in order: the first of its cell
    differs = (state[order] != state[first]).any(axis=1)
    if differs.any() and duplicates == "error":
        row, other = (int(i[differs][0]) for i in (order, first))
        name = _STATE[int(np.flatnonzero(state[row] != state[other])[0])]
        columns.fail(
            f"{columns.place(row)} has two rows that differ "
            f"({columns.cell(name, other)} and {columns.cell(name, row)})",
            name,
            "Remove one, or read with duplicates='first' or 'last'",
        )
    report["duplicate_rows"] += int((~opens & ~differs).sum())
    report["conflicting_rows"] += int(differs.sum())
    if duplicates == "last":
        return np.asarray(order[np.r_[opens[1:], True]])
    return np.asarray(order[opens])
