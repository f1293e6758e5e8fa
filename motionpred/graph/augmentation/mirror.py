"""Left and right exchanged: a right turn becomes a left turn."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from motionpred.graph.augmentation.draws import Draws
from motionpred.graph.batch import SceneBatch, Steps
from motionpred.scene import EdgeKind

_STATE_SIGNS = (1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0)  # x, y, heading, vx, vy, sizes
_POSE_SIGNS = (1.0, -1.0, -1.0)  # x, y, heading
_POINT_SIGNS = (1.0, -1.0)


@dataclass(frozen=True)
class Mirror:
    """y → −y in the scene frame, for a ``share`` of the scenes.

    Positions, headings, velocities and the map are mirrored, LEFT and RIGHT links are exchanged.
    Markings keep their kind: which side of a double line is dashed means little to a forecast.
    """

    share: float

    def __call__(self, batch: SceneBatch, draws: Draws) -> SceneBatch:
        """The batch with some scenes mirrored."""
        return mirrored(batch, draws.scenes(batch, "mirror") < self.share)


def mirrored(batch: SceneBatch, which: Tensor) -> SceneBatch:
    """The batch with the scenes ``which`` ``[B]`` mirrored; twice is the batch itself."""
    return replace(
        batch,
        history=_steps(batch.history, which),
        target=_steps(batch.target, which),
        pose=_flipped(batch.pose, which, _POSE_SIGNS),
        map_points=_flipped(batch.map_points, which, _POINT_SIGNS),
        map_pose=_flipped(batch.map_pose, which, _POSE_SIGNS),
        lane_edges=_swapped(batch.lane_edges, which),
    )


def _steps(steps: Steps, which: Tensor) -> Steps:
    return Steps(_flipped(steps.state, which, _STATE_SIGNS), steps.flags)


def _flipped(values: Tensor, which: Tensor, signs: tuple[float, ...]) -> Tensor:
    """``values`` ``[B, ..., len(signs)]`` times ``signs`` in the scenes ``which``."""
    sign = values.new_tensor(signs)
    shape = (-1, *[1] * (values.ndim - 1))
    changed = torch.where(which.reshape(shape), values * sign, values)
    if len(signs) > 2:  # a heading of π stays π: headings lie in (-π, π]; and no 0 becomes -0
        heading = changed[..., 2]
        changed[..., 2] = torch.where(heading <= -math.pi, -heading, heading)
    return changed + 0.0


def _swapped(edges: Tensor, which: Tensor) -> Tensor:
    """LEFT links as RIGHT ones and the other way round; padding is -1 and stays."""
    kind = edges[..., 2]
    left, right = int(EdgeKind.LEFT), int(EdgeKind.RIGHT)
    other = torch.where(kind == left, right, torch.where(kind == right, left, kind))
    swapped = edges.clone()
    swapped[..., 2] = torch.where(which[:, None], other, kind)
    return swapped
