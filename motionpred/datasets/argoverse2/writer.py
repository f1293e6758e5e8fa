"""Scenes in the publisher's layout, for synthetic data and tests."""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from motionpred.datasets.argoverse2.columns import BOOKKEEPING
from motionpred.datasets.argoverse2.layout import (
    AGENT_TYPES,
    CATEGORIES,
    EGO_TRACK,
    agent_type,
)
from motionpred.datasets.argoverse2.map_document import map_document, map_left_out
from motionpred.datasets.argoverse2.scenario import CLOCK, MOST_STEPS
from motionpred.errors import SceneError
from motionpred.scene import AgentType, FieldSource, Role, Scene

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[Any]

# The first listed word of a type; the layout has none for OTHER.
_WORDS = {kind: word for word, kind in reversed(AGENT_TYPES.items()) if word} | {
    AgentType.OTHER: "unknown"
}


def write_scene(scene: Scene, root: Path) -> Path:
    """Write ``<root>/<split>/<id>/`` with scenario and map; returns that folder.

    A scene that is there already is replaced. The folder appears under its name only when it is
    complete. Reading it gives the scene back, with tracks sorted by id, but for what the layout
    has no place for (:func:`left_out`): that comes as a warning. A lane without boundaries is
    read back, but the ``av2`` package cannot draw it.

    Raises:
        SceneError: the scene has not exactly one FOCAL track, or another clock than 10 Hz.
    """
    focal = _check(scene)
    if lost := left_out(scene):
        warnings.warn(f"Argoverse 2 has no place for {', '.join(sorted(lost))}", stacklevel=2)
    import pyarrow.parquet as pq

    name = _file_name(scene.scene_id)
    folder = Path(root) / scene.split / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    table = _table(scene, focal)
    document = json.dumps(map_document(scene.map), allow_nan=False)
    partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=folder.parent))
    try:
        pq.write_table(table, partial / f"scenario_{name}.parquet")
        (partial / f"log_map_archive_{name}.json").write_text(document, encoding="utf-8")
        partial.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return folder


def left_out(scene: Scene) -> dict[str, int]:
    """What of a scene has no place in the layout: tracks, states or map pieces, counted."""
    tracks = scene.tracks
    valid = tracks.valid
    ego = (tracks.roles & Role.EGO) != 0
    interval = np.diff(scene.time)
    found = Counter(
        {
            "tracks.size": int((tracks.size != 0).any(axis=(1, 2)).sum()),
            "tracks.position z": len(tracks) if tracks.has_z else 0,
            "tracks.measured": int((valid & ~tracks.measured).sum()),
            "tracks.velocity_valid": int((valid & ~tracks.velocity_valid).sum()),
            "tracks.heading_valid": int((valid & ~tracks.heading_valid).sum()),
            "tracks without a state": int((~valid.any(axis=1)).sum()),
            "tracks.roles": int(((tracks.roles & Role.INTEREST) != 0).sum()),
            "an ego not called AV": int((ego != (tracks.track_id == EGO_TRACK)).sum()),
            "uneven time": int((np.abs(interval - scene.dt) > 1e-6).sum()),
            "signals": len(scene.signals),
        }
    )
    for name in ("heading", "velocity"):
        if tracks.source.get(name) != FieldSource.RECORDED:
            found[f"tracks.source of {name}"] = len(tracks)
    found.update(map_left_out(scene.map))
    return {name: count for name, count in found.items() if count}


def _check(scene: Scene) -> str:
    """The id of the focal track."""
    focal = np.flatnonzero((scene.tracks.roles & Role.FOCAL) != 0)
    if len(focal) != 1 or not scene.tracks.valid[focal].any():
        raise SceneError(
            f"has {len(focal)} focal tracks, Argoverse 2 has exactly one with a state",
            scene=scene.scene_id,
            field="tracks.roles",
            remedy="Give one track the roles FOCAL and SCORED",
        )
    if not CLOCK.same_clock(scene.dt) or not scene.now < len(scene.time) <= MOST_STEPS:
        raise SceneError(
            f"has {len(scene.time)} steps of {scene.dt} s, Argoverse 2 has steps of {CLOCK.dt} s",
            scene=scene.scene_id,
            field="dt",
            remedy="Use motionpred.scene.resample, or cut windows from it",
        )
    return str(scene.tracks.track_id[focal[0]])


def _file_name(scene_id: str) -> str:
    """A scene id as part of a file name on any system; different ids stay different."""
    name = quote(scene_id, safe="@ ")
    return f"%2E{name[1:]}" if name.startswith(".") else name


def _table(scene: Scene, focal: str) -> pa.Table:
    import pyarrow as pa

    tracks, info = scene.tracks, scene.info
    track, step = np.nonzero(tracks.valid)  # blocks by track, in order of time
    words = np.array([_word(*pair) for pair in zip(tracks.type, tracks.raw_type, strict=True)])
    steps = max(len(scene.time), int(info.get("num_timestamps", 0)))
    start = float(info.get("start_timestamp", 0.0))
    end = float(info.get("end_timestamp", start + scene.dt * 1e9 * (steps - 1)))
    kinds = {"map_id": pa.uint64(), "slice_id": pa.string()}
    whole_file = {
        "scenario_id": pa.scalar(scene.scene_id, pa.string()),
        "start_timestamp": pa.scalar(start, pa.float64()),
        "end_timestamp": pa.scalar(end, pa.float64()),
        "num_timestamps": pa.scalar(steps, pa.int64()),
        "focal_track_id": pa.scalar(focal, pa.string()),
        "city": pa.scalar(str(info.get("city", "")), pa.string()),
        **{name: pa.scalar(info[name], kinds[name]) for name in BOOKKEEPING if name in info},
    }
    position, velocity = tracks.position[track, step], tracks.velocity[track, step]
    return pa.table(
        {
            "observed": step <= scene.now,
            "track_id": _each(tracks.track_id, track),
            "object_type": _each(words, track),
            "object_category": _category(tracks.roles)[track],
            "timestep": step.astype(np.int64),
            "position_x": position[:, 0],
            "position_y": position[:, 1],
            "heading": tracks.heading[track, step].astype(np.float64),
            "velocity_x": velocity[:, 0].astype(np.float64),
            "velocity_y": velocity[:, 1].astype(np.float64),
            **{name: pa.repeat(value, len(step)) for name, value in whole_file.items()},
        }
    )


def _each(words: Array, index: Array) -> pa.Array:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(index, pa.array(words.tolist(), pa.string())).cast(
        pa.string()
    )


def _word(kind: int, raw: str) -> str:
    """The publisher's word as it was read, else the listed word of the type."""
    if raw and agent_type(str(raw)) == kind:
        return str(raw)
    return _WORDS[AgentType(kind)]


def _category(roles: Array) -> Array:
    """The most demanding category that a track's roles ask for."""
    category = np.zeros(len(roles), np.int64)
    for value, wanted in enumerate(CATEGORIES):
        category[(roles & wanted) == wanted] = value
    return category
