"""Loss of joint modes: the scene has one winner, and the score learns which.

Shapes: B scenes, K modes, A agents, T future steps.
"""

from __future__ import annotations

import torch
from torch import Tensor

from motionpred.graph import SceneBatch
from motionpred.models.contract import Term
from motionpred.models.layers.laplace import laplace_nll
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


def joint_terms(
    position: Tensor,
    scale: Tensor,
    logit: Tensor,
    target: Tensor,
    valid: Tensor,
    weight: Tensor,
    temperature: float,
) -> dict[str, Term]:
    """``path``: mean distance of the winner in metres; ``scale``, ``score``: likelihoods.

    The winner is chosen for the scene as a whole: least mean, over weighted agents, of path error
    plus endpoint error. With a ``temperature`` (metres) modes share by softmin of that error.
    Positions learn from distances, scales from the Laplace NLL of the positions as they are: in one
    joint likelihood a mode that is far off has a large scale and hardly learns. The score is a
    mixture NLL of the last valid step of every agent, with positions and scales as constants.

    Args:
        position: ``[B, K, A, T, 2]`` and ``scale`` alike, in the agents' own frames.
        scale: Laplace b.
        logit: ``[B, K]`` scores before the softmax.
        target: ``[B, A, T, 2]`` truth in the own frames; anything where it is not valid.
        valid: ``[B, A, T]`` bool.
        weight: ``[B, A]``, 0 for agents that do not count.
        temperature: metres, or 0 for a single winner.
    """
    weight_BAT = torch.where(valid, weight[..., None], 0.0)
    valid = weight_BAT > 0
    target_B1AT2 = torch.where(valid[..., None], target, 0.0)[:, None]
    last_BAT = valid & (valid.flip(-1).cumsum(-1).flip(-1) == 1)
    offset_BKAT2 = torch.where(valid[:, None, ..., None], position - target_B1AT2, 0.0)
    # The millimetre keeps the gradient finite at 0.
    distance_BKAT = torch.sqrt(offset_BKAT2.square().sum(-1) + 1e-6)
    nll_BKAT = laplace_nll(position.detach(), scale, target_B1AT2)
    nll_BKAT = torch.where(valid[:, None], nll_BKAT, 0.0)

    with torch.no_grad():
        steps_B1A = valid.sum(-1).clamp(min=1)[:, None]
        path_BKA = torch.where(valid[:, None], distance_BKAT, 0.0).sum(-1) / steps_B1A
        end_BKA = torch.where(last_BAT[:, None], distance_BKAT, 0.0).sum(-1)
        counted_BA = torch.where(valid.any(-1), weight, 0.0)
        share_BA = counted_BA / counted_BA.sum(-1, keepdim=True).clamp(min=1e-6)
        error_BK = ((path_BKA + end_BKA) * share_BA[:, None]).sum(-1)
        assignment_BK = _assignment(error_BK, temperature)
        end_nll_BKA = torch.where(last_BAT[:, None], nll_BKAT, 0.0).sum(-1)
        likelihood_BK = -(end_nll_BKA * share_BA[:, None]).sum(-1)

    share_BKAT = weight_BAT[:, None] * assignment_BK[..., None, None]
    steps = weight_BAT.sum()
    mixture_nll_B = -torch.logsumexp(logit.log_softmax(-1) + likelihood_BK, dim=-1)
    scene_B = counted_BA.sum(-1) > 0
    scenes = scene_B.sum().to(steps.dtype)
    return {
        "path": Term((distance_BKAT * share_BKAT).sum(), steps),
        "scale": Term((nll_BKAT * share_BKAT).sum(), steps),
        "score": Term(torch.where(scene_B, mixture_nll_B, 0.0).sum(), scenes),
    }


def _assignment(error_BK: Tensor, temperature: float) -> Tensor:
    if temperature > 0:
        return (-error_BK / temperature).softmax(-1)
    winner_B = error_BK.argmin(-1, keepdim=True)
    return torch.zeros_like(error_BK).scatter(-1, winner_B, 1.0)
