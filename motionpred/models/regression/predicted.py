"""The agents that are forecast, side by side: decoders spend nothing on the others.

Shapes: B scenes, A agents of the batch, Q predicted ones (padded), K modes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from motionpred.graph import SceneBatch


@dataclass
class Predicted:
    """Rows of a batch's agents with ``predict``, those first; the rest of a row is padding."""

    row_BQ: Tensor  # [B, Q] int64
    mask_BQ: Tensor  # [B, Q] bool

    @staticmethod
    def of(batch: SceneBatch) -> Predicted:
        """As many rows as the scene with most predicted agents needs, at least one."""
        most = max(int(batch.predict.sum(-1).max()), 1)
        order_BA = (~batch.predict).to(torch.uint8).argsort(dim=-1, stable=True)
        row_BQ = order_BA[:, :most]
        return Predicted(row_BQ, batch.predict.gather(1, row_BQ))

    def take(self, values_BAX: Tensor) -> Tensor:
        """``[B, A, ...]`` to ``[B, Q, ...]``."""
        extra = values_BAX.ndim - 2
        index = self.row_BQ.reshape(*self.row_BQ.shape, *[1] * extra)
        return values_BAX.gather(1, index.expand(-1, -1, *values_BAX.shape[2:]))

    def spread(self, values_BKQX: Tensor, agents: int) -> Tensor:
        """``[B, K, Q, ...]`` to ``[B, K, A, ...]``; 0 where an agent is not predicted."""
        shape = values_BKQX.shape
        extra = [1] * (values_BKQX.ndim - 3)
        index = self.row_BQ[:, None].reshape(shape[0], 1, -1, *extra).expand_as(values_BKQX)
        mask = self.mask_BQ[:, None].reshape(shape[0], 1, -1, *extra)
        result = values_BKQX.new_zeros(*shape[:2], agents, *shape[3:])
        return result.scatter(2, index, torch.where(mask, values_BKQX, 0.0))

    def probability(self, logit: Tensor, agents: int) -> Tensor:
        """``[B, K]`` as it is, ``[B, Q, K]`` to ``[B, A, K]``; even for agents not predicted."""
        value = logit.softmax(-1)
        if logit.ndim == 2:
            return value
        even = value.new_full((len(value), agents, value.shape[-1]), 1 / value.shape[-1])
        index = self.row_BQ[..., None].expand_as(value)
        return even.scatter(
            1, index, torch.where(self.mask_BQ[..., None], value, 1 / value.shape[-1])
        )
