"""Scenes of different sizes as one padded SceneBatch: one allocation, B copies for each field."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from motionpred.errors import ConfigError
from motionpred.graph.arrays import Array, SceneArrays
from motionpred.graph.batch import SceneBatch, Steps
from motionpred.graph.encode import encode
from motionpred.graph.options import BatchOptions
from motionpred.scene import Scene, TimeSpec

# Sizes are rounded up to these, and at least one group is there: an empty map is a masked dummy.
AGENT_GROUP = 8
MAP_GROUP = 32
EDGE_GROUP = 32

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
_ALIGNMENT = 16  # bytes, a multiple of every item size
_SMALL = 8192  # bytes of a row; below it one fill of all rows costs less than one for each tail


def collate_scenes(
    scenes: Iterable[Scene], time: TimeSpec, options: BatchOptions | None = None
) -> SceneBatch:
    """Scenes as one batch: :func:`encode` and :func:`collate` in one step."""
    return collate([encode(scene, time, options) for scene in scenes])


def collate(scenes: Sequence[SceneArrays]) -> SceneBatch:
    """Encoded scenes as one batch, in that order.

    Raises:
        ConfigError: no scene at all, or scenes encoded with different steps or map points.
    """
    if not scenes:
        raise ConfigError("a batch needs at least one scene")
    _check_layout(scenes)
    sizes = {
        "agents": _rounded(max(len(s.track_key) for s in scenes), AGENT_GROUP),
        "map": _rounded(max(len(s.map_pose) for s in scenes), MAP_GROUP),
        "edges": _rounded(max(len(s.lane_edges) for s in scenes), EDGE_GROUP),
    }
    padded = _padded(scenes, {name: sizes[group] for name, group in _PADDED.items()})
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


def _rounded(count: int, group: int) -> int:
    return max(-(-count // group), 1) * group


def _padded(scenes: Sequence[SceneArrays], sizes: dict[str, int]) -> dict[str, Tensor]:
    """Fields ``[B, size, ...]`` by name, all in one block of memory, padded with 0 or -1.

    One block of several megabytes is taken from and given back to the system as a whole; many
    smaller ones cost more in page faults than in copying.
    """
    layouts, end = {}, 0
    for name, size in sizes.items():
        first = getattr(scenes[0], name)
        shape = (len(scenes), size, *first.shape[1:])
        stop = end + math.prod(shape) * first.itemsize
        layouts[name] = (slice(end, stop), first.dtype, shape)
        end = -(-stop // _ALIGNMENT) * _ALIGNMENT
    block = np.empty(end, np.uint8)
    fields = {}
    for name, (place, dtype, shape) in layouts.items():
        field = block[place].view(dtype).reshape(shape)
        _fill(field, [getattr(scene, name) for scene in scenes], _FILL.get(name, 0))
        fields[name] = torch.from_numpy(field)
    return fields


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
