"""A step's scenes as parts that fit into memory.

Parts change no result: the loss is a sum over all of them, divided by a count over all of them. So
the bound may follow the memory of the machine, and the number of scenes a step the experiment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from motionpred.graph import BatchOptions, SceneArrays, SceneBatch, collate, collate_scenes, encode
from motionpred.graph.arrays import AGENT_GROUP, MAP_GROUP, padded_size
from motionpred.scene import Scene, TimeSpec


def tokens(batch: SceneBatch) -> int:
    """Agents plus map pieces of all scenes, padding included: what memory grows with."""
    return len(batch) * (batch.pose.shape[1] + batch.map_mask.shape[1])


def bounded_batches(
    scenes: Sequence[Scene], time: TimeSpec, options: BatchOptions, bound: int | None
) -> list[SceneBatch]:
    """The scenes as batches of at most ``bound`` tokens each; a scene that alone is more stays one.

    Each scene is in one batch. Without need there is one batch, in the given order.
    """
    batch = collate_scenes(scenes, time, options)
    if bound is None or tokens(batch) <= bound or len(batch) == 1:
        return [batch]
    rows = [encode(scene, time, options) for scene in scenes]
    # Scenes of like size together waste the least on padding.
    rows.sort(key=lambda row: sum(_padded(row)), reverse=True)
    return [collate(group) for group in _groups(rows, bound)]


def _groups(rows: Sequence[SceneArrays], bound: int) -> Iterator[list[SceneArrays]]:
    group: list[SceneArrays] = []
    agents = pieces = 0
    for row in rows:
        wider = max(agents, _padded(row)[0]), max(pieces, _padded(row)[1])
        if group and (len(group) + 1) * sum(wider) > bound:
            yield group
            group, wider = [], _padded(row)
        group.append(row)
        agents, pieces = wider
    yield group


def _padded(row: SceneArrays) -> tuple[int, int]:
    """Agents and map pieces, as a batch of this scene alone would have them."""
    return (
        padded_size(len(row.track_key), AGENT_GROUP),
        padded_size(len(row.map_pose), MAP_GROUP),
    )
