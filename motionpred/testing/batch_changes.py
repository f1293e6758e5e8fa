"""Changes of a SceneBatch after which a forecast must be the same, or must move along."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn.functional import pad

from motionpred.graph import SceneBatch, Steps

_AGENT_FIELDS = ("pose", "age", "type", "roles", "predict", "track_key")
_MAP_FIELDS = ("map_points", "map_mask", "map_pose", "map_category", "map_attributes")


class SealedSteps:
    """Stands for ``batch.target`` where nobody may look: any access is an AssertionError."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"forecast() looked at batch.target.{name}")


def sealed(batch: SceneBatch) -> SceneBatch:
    """The batch with a ``target`` that raises when it is looked at."""
    return replace(batch, target=cast(Steps, SealedSteps()))


def doubled(batch: SceneBatch) -> SceneBatch:
    """The batch in float64, for models after ``model.double()``."""
    return batch.map(lambda t: t.double() if t.is_floating_point() else t)


def padded(batch: SceneBatch, agents: int, pieces: int) -> SceneBatch:
    """The batch with more padding: ``agents`` agents, ``pieces`` map pieces and as many links."""

    def more(values: Tensor, count: int, fill: int = 0) -> Tensor:
        return pad(values, (0, 0) * (values.ndim - 2) + (0, count), value=fill)

    def steps(values: Steps) -> Steps:
        return Steps(more(values.state, agents), more(values.flags, agents))

    changed: dict[str, Any] = {
        "history": steps(batch.history),
        "target": steps(batch.target),
        "lane_edges": more(batch.lane_edges, pieces, -1),
    }
    changed |= {name: more(getattr(batch, name), agents) for name in _AGENT_FIELDS}
    changed |= {name: more(getattr(batch, name), pieces) for name in _MAP_FIELDS}
    return replace(batch, **changed)


def moved_batch(batch: SceneBatch, angle: float, dx: float, dy: float) -> SceneBatch:
    """The batch turned by ``angle`` about the origin of its scene frame, then shifted.

    Computed in the dtype of the batch. What is invalid or padding stays 0.
    """

    def pose(values: Tensor, there: Tensor) -> Tensor:
        turned = torch.cat([move_points(values[..., :2], angle, dx, dy), values[..., 2:]], dim=-1)
        turned[..., 2] += angle
        return torch.where(there[..., None], turned, 0.0)

    def steps(values: Steps) -> Steps:
        state = values.state.clone()
        state[..., :3] = pose(state[..., :3], values.valid)
        velocity = move_points(state[..., 3:5], angle, 0.0, 0.0)
        state[..., 3:5] = torch.where(values.velocity_valid[..., None], velocity, 0.0)
        return Steps(state, values.flags)

    points = move_points(batch.map_points, angle, dx, dy)
    return replace(
        batch,
        history=steps(batch.history),
        target=steps(batch.target),
        pose=pose(batch.pose, batch.agent_mask),
        map_points=torch.where(batch.map_mask[..., None, None], points, 0.0),
        map_pose=pose(batch.map_pose, batch.map_mask),
    )


def move_points(points: Tensor, angle: float, dx: float, dy: float) -> Tensor:
    """Points ``[..., 2]`` turned about the origin, then shifted."""
    turn = torch.tensor(angle, dtype=torch.float64)
    cos, sin = float(turn.cos()), float(turn.sin())
    x, y = points[..., 0], points[..., 1]
    return torch.stack([cos * x - sin * y + dx, sin * x + cos * y + dy], dim=-1)


def with_placeholder_values(batch: SceneBatch, value: float) -> SceneBatch:
    """The batch with ``value`` in place of the zeros of invalid states and padding."""

    def filled(values: Tensor, there: Tensor) -> Tensor:
        return torch.where(there, values, value)

    def steps(values: Steps) -> Steps:
        state = filled(values.state, values.valid[..., None])
        state[..., 3:5] = filled(state[..., 3:5], values.velocity_valid[..., None])
        return Steps(state, values.flags)

    agent, piece = batch.agent_mask[..., None], batch.map_mask[..., None]
    return replace(
        batch,
        history=steps(batch.history),
        target=steps(batch.target),
        pose=filled(batch.pose, agent),
        map_points=filled(batch.map_points, piece[..., None]),
        map_pose=filled(batch.map_pose, piece),
        map_attributes=filled(batch.map_attributes, piece),
    )
