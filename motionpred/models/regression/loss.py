"""Loss of modes: the scene (or each agent) has one winner, and the score learns which.

Shapes: B scenes, K modes, A agents, T future steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from motionpred.graph import SceneBatch
from motionpred.models.contract import Term
from motionpred.models.layers.laplace import laplace_nll
from motionpred.models.regression.heads import Paths
from motionpred.scene import Role


def agent_weights(batch: SceneBatch, other_weight: float) -> Tensor:
    """``[B, A]``: 1 for SCORED agents, ``other_weight`` for others, 0 without ``predict``."""
    scored = (batch.roles & int(Role.SCORED)) != 0
    weight = torch.where(scored, 1.0, other_weight)
    return torch.where(batch.predict, weight, 0.0).to(batch.pose.dtype)


def temperature(epoch: int, epochs: int, first: float, last: float) -> float:
    """Metres, from ``first`` down to ``last`` over ``epochs`` exponentially; then 0: one winner."""
    if epoch >= epochs:
        return 0.0
    return first * (last / first) ** (epoch / max(epochs - 1, 1))


@dataclass
class Truth:
    """What happened, in the agents' own frames, and how much it counts."""

    position: Tensor  # [B, A, 2, T], 0 where it is not valid
    heading: Tensor  # [B, A, T]
    valid: Tensor  # [B, A, T] bool; False for agents that do not count
    directed: Tensor  # [B, A, T] bool: there is a heading
    weight: Tensor  # [B, A]

    @staticmethod
    def of(
        position: Tensor, heading: Tensor, valid: Tensor, directed: Tensor, weight: Tensor
    ) -> Truth:
        """Cleared of what stands where there is no truth."""
        valid = valid & (weight > 0)[..., None]
        return Truth(
            torch.where(valid[..., None, :], position, 0.0),
            torch.where(valid & directed, heading, 0.0),
            valid,
            valid & directed,
            torch.where(valid.any(-1), weight, 0.0),
        )

    @property
    def last(self) -> Tensor:
        """``[B, A, T]`` bool: the last valid step of each agent."""
        return self.valid & (self.valid.flip(-1).cumsum(-1).flip(-1) == 1)

    @property
    def share(self) -> Tensor:
        """``[B, A]``: weights that sum to 1 over the agents of a scene."""
        return self.weight / self.weight.sum(-1, keepdim=True).clamp(min=1e-6)


def distances(position: Tensor, truth: Truth) -> Tensor:
    """Metres ``[B, K, A, T]`` from positions ``[B, K, A, 2, T]``, with a finite gradient at 0.

    Where there is no truth they mean nothing.
    """
    x, y = (position - truth.position[:, None]).unbind(-2)
    return torch.sqrt(torch.addcmul(x.square(), y, y) + 1e-6)


def assignment(distance: Tensor, truth: Truth, temperature: float, *, joint: bool) -> Tensor:
    """How much each mode learns, ``[B, K, A]``, summing to 1 over modes; without gradient.

    The error of a mode is its mean distance plus that of the endpoint; ``joint``: the weighted mean
    of it over the agents, so that a scene has one winner, otherwise each agent's own. With a
    ``temperature`` (metres) modes share by softmin, without the nearest takes all.
    """
    with torch.no_grad():
        valid, last = truth.valid.to(distance.dtype), truth.last.to(distance.dtype)
        counted_BAT = valid / valid.sum(-1, keepdim=True).clamp(min=1) + last
        error_BKA = (distance * counted_BAT[:, None]).sum(-1)
        if joint:
            error_BKA = (error_BKA * truth.share[:, None]).sum(-1, keepdim=True)
        if temperature > 0:
            result = (-error_BKA / temperature).softmax(1)
        else:
            winner = error_BKA.argmin(1, keepdim=True)
            result = torch.zeros_like(error_BKA).scatter(1, winner, 1.0)
        return result.expand(-1, -1, distance.shape[2])


def path_terms(
    name: str, paths: Paths, distance: Tensor, truth: Truth, assigned: Tensor
) -> dict[str, Term]:
    """``<name>_path``: mean distance, metres; ``<name>_heading``: mean of 1 - cos of the error."""
    share_BKA1 = (assigned * truth.weight[:, None])[..., None]
    moved = (distance * (share_BKA1 * truth.valid[:, None])).sum()
    turned = 1 - torch.cos(paths.heading - truth.heading[:, None])
    turned = (turned * (share_BKA1 * truth.directed[:, None])).sum()
    weight_BA1 = truth.weight[..., None]
    return {
        f"{name}_path": Term(moved, (weight_BA1 * truth.valid).sum()),
        f"{name}_heading": Term(turned, (weight_BA1 * truth.directed).sum()),
    }


def likelihood_terms(
    position: Tensor, scale: Tensor, logit: Tensor, truth: Truth, assigned: Tensor
) -> dict[str, Term]:
    """``scale``: Laplace NLL of the winners; ``score``: mixture NLL of the endpoints.

    Positions are constants in both, scales in the second. Positions learn from distances: in one
    joint likelihood a mode that is far off has a large scale and hardly learns. ``logit`` is
    ``[B, K]`` for scene modes, ``[B, A, K]`` for each agent's own; the likelihood of a scene mode
    is the weighted mean over agents of the log likelihood of their last valid step.
    """
    nll_BKAT = laplace_nll(position.detach(), scale, truth.position[:, None], axis=-2)
    share_BKAT = (assigned * truth.weight[:, None])[..., None] * truth.valid[:, None]
    end_BKA = -(nll_BKAT.detach() * truth.last[:, None]).sum(-1)
    if logit.ndim == 2:
        likelihood = (end_BKA * truth.share[:, None]).sum(-1)
        counted = (truth.weight.sum(-1) > 0).to(scale.dtype)
    else:
        likelihood, counted = end_BKA.transpose(1, 2), truth.weight
    mixture = -torch.logsumexp(logit.log_softmax(-1) + likelihood, dim=-1)
    return {
        "scale": Term((nll_BKAT * share_BKAT).sum(), (truth.weight[..., None] * truth.valid).sum()),
        "score": Term((mixture * counted).sum(), counted.sum()),
    }
