"""Less is seen: whole agents, or the oldest steps of some."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from motionpred.graph.augmentation.draws import Draws
from motionpred.graph.batch import SceneBatch, Steps
from motionpred.scene import Role


@dataclass(frozen=True)
class AgentDrop:
    """A ``share`` of the agents is not there: each becomes padding.

    SCORED agents always stay, and the recording car too unless ``drop_ego``.
    """

    share: float
    drop_ego: bool = False

    def __call__(self, batch: SceneBatch, draws: Draws) -> SceneBatch:
        """The batch without some agents; the places of the others are the same."""
        kept = int(Role.SCORED) if self.drop_ego else int(Role.SCORED | Role.EGO)
        droppable = batch.agent_mask & ((batch.roles & kept) == 0)
        return _without_agents(batch, droppable & (draws.agents(batch, "agent drop") < self.share))


def _without_agents(batch: SceneBatch, gone: Tensor) -> SceneBatch:
    """The batch with the agents ``gone`` ``[B, A]`` as padding."""
    stay = ~gone
    return replace(
        batch,
        history=_masked(batch.history, stay[..., None]),
        target=_masked(batch.target, stay[..., None]),
        pose=torch.where(stay[..., None], batch.pose, 0.0),
        age=torch.where(stay, batch.age, 0.0),
        type=torch.where(stay, batch.type, 0),
        roles=torch.where(stay, batch.roles, 0),
        predict=batch.predict & stay,
        track_key=torch.where(stay, batch.track_key, 0),
    )


@dataclass(frozen=True)
class HistoryDrop:
    """For a ``share`` of the agents the oldest steps are invalid, as if they had appeared later.

    How many is uniform, but never one of the last ``keep`` steps up to the last valid one: the pose
    and the velocity at it stay.
    """

    share: float
    keep: int = 2

    def __call__(self, batch: SceneBatch, draws: Draws) -> SceneBatch:
        """The batch with shorter histories."""
        valid = batch.history.valid
        index = torch.arange(valid.shape[-1], device=valid.device)
        last = torch.where(valid, index, -1).amax(dim=-1)  # [B, A]
        droppable = (last + 1 - self.keep).clamp(min=0)
        count = (draws.agents(batch, "history length") * (droppable + 1)).long()
        chosen = draws.agents(batch, "history drop") < self.share
        first = torch.where(chosen, count, 0)
        return replace(batch, history=_masked(batch.history, index >= first[..., None]))


def _masked(steps: Steps, stay: Tensor) -> Steps:
    """The steps where ``stay`` ``[B, A, T or 1]``, and what an invalid one is elsewhere."""
    return Steps(torch.where(stay[..., None], steps.state, 0.0), steps.flags & stay[..., None])
