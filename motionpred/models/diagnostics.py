"""Health of a forecast: do its modes differ, do all of them win, do agents run into each other?

Shapes: B scenes, K modes, A agents, T future steps.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from motionpred.graph import SceneBatch
from motionpred.metrics.plausibility import overlapping_pairs, travel_heading
from motionpred.models.contract import Forecast, Term
from motionpred.models.layers.frames import to_own
from motionpred.scene import AgentType, Role
from motionpred.scene.default_sizes import DEFAULT_SIZE

_MOVING = 3.0  # m/s
_DEFAULT_SIZE = torch.tensor([DEFAULT_SIZE[kind][:2] for kind in AgentType])


def health(batch: SceneBatch, forecast: Forecast) -> dict[str, Term]:
    """All figures of this file; those without anything to look at have a count of 0.

    ``spread``: metres, standard deviation over modes of where moving agents end to the left or
    right of their heading; near 0 where modes have collapsed. ``wins_<k>``: share of scenes (joint)
    or agents in which the model's own mode k ends nearest to the truth. ``overlap``: share of
    agents whose box meets another's in the most probable mode, although not in truth.
    """
    with torch.no_grad():
        return {
            "spread": lateral_spread(batch, forecast),
            **mode_wins(batch, forecast),
            "overlap": overlap(batch, forecast),
        }


def lateral_spread(batch: SceneBatch, forecast: Forecast) -> Term:
    """Over predicted agents that move at ``now``; needs two modes."""
    end_BKA2 = to_own(forecast.position[..., -1, :], batch.pose[:, None])
    speed_BA = torch.linalg.vector_norm(batch.history.velocity[:, :, -1], dim=-1)
    known_BA = batch.history.velocity_valid[:, :, -1] & batch.predict
    counted_BA = known_BA & (speed_BA > _MOVING) & (end_BKA2.shape[1] > 1)
    spread_BA = end_BKA2[..., 1].var(dim=1, correction=0).sqrt()
    return _mean_over(spread_BA, counted_BA)


def mode_wins(batch: SceneBatch, forecast: Forecast) -> dict[str, Term]:
    """Which of the model's modes end nearest, by mean over SCORED agents with a last step."""
    if forecast.mode is None:
        return {}
    scored_BA = (batch.roles & int(Role.SCORED)) != 0
    counted_BA = batch.predict & scored_BA & batch.target.valid[..., -1]
    apart = forecast.position[..., -1, :] - batch.target.position[:, None, :, -1]
    error_BKA = torch.linalg.vector_norm(apart, dim=-1)
    if forecast.joint:
        error_BK = torch.where(counted_BA[:, None], error_BKA, 0.0).sum(-1)
        winner, counted = error_BK.argmin(-1), counted_BA.any(-1)
    else:
        winner, counted = error_BKA.argmin(1), counted_BA
    own = forecast.mode.gather(-1, winner[..., None])[..., 0]
    return {f"wins_{k}": _mean_over(own == k, counted) for k in range(forecast.mode.shape[-1])}


def overlap(batch: SceneBatch, forecast: Forecast) -> Term:
    """Over SCORED agents, as the protocol ``joint`` has it."""
    scored_BA = batch.predict & ((batch.roles & int(Role.SCORED)) != 0)
    size_BA2 = batch.history.size[:, :, -1, :2]
    assumed_BA1 = (size_BA2 <= 0).any(-1, keepdim=True)
    size_BA2 = torch.where(assumed_BA1, _DEFAULT_SIZE.to(size_BA2)[batch.type], size_BA2)
    target = batch.target
    met = count = 0
    for scene in range(len(batch)):
        rows = torch.nonzero(scored_BA[scene]).flatten()
        pose, size, path, truth, truth_heading, valid = (
            values[rows].double().cpu().numpy()
            for values in (
                batch.pose[scene],
                size_BA2[scene],
                forecast.position[scene, 0],
                target.position[scene],
                target.heading[scene],
                target.valid[scene],
            )
        )
        if forecast.heading is None:
            heading = travel_heading(path, pose[:, :2], pose[:, 2])
        else:
            heading = forecast.heading[scene, 0, rows].double().cpu().numpy()
        at_now = overlapping_pairs(pose[:, None, :2], pose[:, None, 2], size)
        recorded = overlapping_pairs(truth, truth_heading, size, valid > 0) | at_now
        pairs = overlapping_pairs(path, heading, size) & ~recorded
        met += int(np.count_nonzero(pairs.any(axis=1)))
        count += len(rows)
    like = forecast.position
    return Term(like.new_tensor(float(met)), like.new_tensor(float(count)))


def _mean_over(values: Tensor, counted: Tensor) -> Term:
    total = torch.where(counted, values.double(), 0.0).sum()
    return Term(total, counted.sum().double())
