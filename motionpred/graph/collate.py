"""Scenes of different sizes as one padded SceneBatch: one allocation, B copies for each field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch

from motionpred.errors import ConfigError
from motionpred.graph.arrays import (
    AGENT_GROUP,
    EDGE_GROUP,
    MAP_GROUP,
    Array,
    SceneArrays,
    padded_size,
)
from motionpred.graph.batch import SceneBatch, Steps
from motionpred.graph.blocks import allocate
from motionpred.graph.encode import encode_all
from motionpred.graph.options import BatchOptions
from motionpred.scene import Scene, TimeSpec

# Padded fields and what their second axis counts.
_PADDED = {
    "history_state": "agents",
    "history_flags": "agents",
    "target_state": "agents",
    "target_flags": "agents",
    "pose": "agents",
    "age": "agents",
    "type": "agents",
    "roles": "agents",
    "predict": "agents",
    "track_key": "agents",
    "map_points": "map",
    "map_pose": "map",
    "map_category": "map",
    "map_attributes": "map",
    "lane_edges": "edges",
}
_FILL = {"lane_edges": -1}
_SMALL = 8192  # bytes of a row; below it one fill of all rows costs less than one for each tail


def collate_scenes(
    scenes: Iterable[Scene], time: TimeSpec, options: BatchOptions | None = None
) -> SceneBatch:
    """Scenes as one batch: :func:`encode` and :func:`collate` in one step, at less cost.

    Raises:
        ConfigError: as those two.
    """
    scenes = list(scenes)
    _check_any(scenes)
    return _batch(*encode_all(scenes, time, options))


def collate(scenes: Sequence[SceneArrays]) -> SceneBatch:
    """Encoded scenes as one batch, in that order.

    Raises:
        ConfigError: no scene at all, or scenes encoded with different steps or map points.
    """
    _check_any(scenes)
    _check_layout(scenes)
    return _batch(scenes, {})


def _batch(scenes: Sequence[SceneArrays], states: Mapping[str, Array]) -> SceneBatch:
    """The batch; fields that ``states`` has already are not padded again."""
    sizes = {
        "agents": padded_size(max(len(s.track_key) for s in scenes), AGENT_GROUP),
        "map": padded_size(max(len(s.map_pose) for s in scenes), MAP_GROUP),
        "edges": padded_size(max(len(s.lane_edges) for s in scenes), EDGE_GROUP),
    }
    wanted = {name: sizes[group] for name, group in _PADDED.items() if name not in states}
    arrays = {**states, **_padded(scenes, wanted)}
    padded = {name: torch.from_numpy(values) for name, values in arrays.items()}
    dropped: Counter[str] = Counter()
    for scene in scenes:
        dropped.update(scene.dropped)
    pieces = np.array([len(s.map_pose) for s in scenes])
    return SceneBatch(
        origin=torch.from_numpy(np.stack([s.origin for s in scenes])),
        time=torch.from_numpy(np.stack([s.time for s in scenes])),
        history=Steps(padded.pop("history_state"), padded.pop("history_flags")),
        target=Steps(padded.pop("target_state"), padded.pop("target_flags")),
        map_mask=torch.from_numpy(np.arange(sizes["map"]) < pieces[:, None]),
        scene_key=torch.tensor([s.scene_key for s in scenes], dtype=torch.int64),
        scene_id=[s.scene_id for s in scenes],
        track_id=[s.track_id for s in scenes],
        dropped=dict(dropped),
        **padded,
    )


def _padded(scenes: Sequence[SceneArrays], sizes: Mapping[str, int]) -> dict[str, Array]:
    """Fields ``[B, size, ...]`` by name, padded with 0 or -1."""
    firsts = {name: getattr(scenes[0], name) for name in sizes}
    padded = allocate(
        {n: ((len(scenes), sizes[n], *a.shape[1:]), a.dtype) for n, a in firsts.items()}
    )
    for name, field in padded.items():
        _fill(field, [getattr(scene, name) for scene in scenes], _FILL.get(name, 0))
    return padded


def _fill(field: Array, parts: list[Array], padding: int) -> None:
    """Copy ``parts`` into the rows of ``field``, and ``padding`` into what they do not cover."""
    small = field[0].nbytes < _SMALL
    if small:
        field[...] = padding
    for row, part in zip(field, parts, strict=True):
        count = len(part)
        row[:count] = part
        if not small and count < len(row):
            row[count:] = padding


def _check_any(scenes: Sequence[object]) -> None:
    if not scenes:
        raise ConfigError("a batch needs at least one scene")


def _check_layout(scenes: Sequence[SceneArrays]) -> None:
    def layout(scene: SceneArrays) -> tuple[int, int, int]:
        return len(scene.time), scene.target_flags.shape[1], scene.map_points.shape[1]

    first = scenes[0]
    for scene in scenes:
        if layout(scene) != layout(first):
            raise ConfigError(
                f"(history, future, map points) is {layout(scene)} and {layout(first)} in "
                f"{first.scene_id}",
                scene=scene.scene_id,
                remedy="Encode all scenes of a batch with one TimeSpec and one BatchOptions",
            )
