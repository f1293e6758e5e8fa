"""Scene modes of agents that are forecast one by one.

Shapes: B scenes, A agents, K modes of an agent, S scene modes, n agents of a group.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad


def most_probable_scenes(
    log_probability: Tensor, counts: Tensor, top: int
) -> tuple[Tensor, Tensor]:
    """The ``top`` most probable ways to give every agent one of its modes, agents independent.

    Exact: groups of agents are merged two by two, and the best of a union are among the sums of
    the best of its halves.

    Args:
        log_probability: ``[B, A, K]``.
        counts: ``[B, A]`` bool: agents whose modes tell scenes apart. The others take their most
            probable mode in all of them.
        top: S.

    Returns:
        The mode of each agent ``[B, S, A]``, and the log probability ``[B, S]``, falling; -inf
        where there are fewer than S ways.
    """
    scenes, agents, modes = log_probability.shape
    best = min(modes, top)
    score, choice = log_probability.sort(dim=-1, descending=True, stable=True)
    score, choice = score[..., :best], choice[..., :best, None]  # [B, A, S'], [B, A, S', 1]
    fixed = score.new_tensor([0.0] + [-torch.inf] * (best - 1))
    score = torch.where(counts[..., None], score, fixed)
    while score.shape[1] > 1:
        if score.shape[1] % 2:  # a group of nobody, which has one way
            nobody = score.new_full((scenes, 1, score.shape[2]), -torch.inf)
            nobody[..., 0] = 0
            score = torch.cat([score, nobody], dim=1)
            choice = pad(choice, (0, 0, 0, 0, 0, 1))
        score, choice = _merged(score, choice, top)
    missing = top - score.shape[2]
    score = pad(score[:, 0], (0, missing), value=-torch.inf)
    choice = pad(choice[:, 0], (0, 0, 0, missing))
    return choice[..., :agents], score


def _merged(score: Tensor, choice: Tensor, top: int) -> tuple[Tensor, Tensor]:
    """Neighbouring groups as one: the best sums ``[B, G/2, S]``, choices ``[B, G/2, S, 2 n]``."""
    first, second = score[:, ::2], score[:, 1::2]
    count = score.shape[2]
    sums = (first[..., :, None] + second[..., None, :]).flatten(2)
    score, place = sums.sort(dim=-1, descending=True, stable=True)
    score, place = score[..., :top], place[..., :top]

    def pick(values: Tensor, index: Tensor) -> Tensor:
        return values.gather(2, index[..., None].expand(*index.shape, values.shape[-1]))

    chosen = pick(choice[:, ::2], place // count), pick(choice[:, 1::2], place % count)
    return score, torch.cat(chosen, dim=-1)
