"""Messages along the links of the map: a lane learns what leads into it, out of it and beside it.

In the spirit of LaneGCN (Liang et al., ECCV 2020), with the relative pose of the other piece in
each message. Time and memory grow with the number of links.

Shapes: B scenes, M map pieces, E links, L messages (each link carries one either way), D width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, one_hot

from motionpred.graph import SceneBatch
from motionpred.models.layers.frames import full_precision
from motionpred.models.layers.relative_pose import FEATURES as POSE_FEATURES
from motionpred.models.layers.relative_pose import relative_features
from motionpred.scene import EdgeKind

_KINDS = 2 * len(EdgeKind)  # a link and its way back are two relations
_FEATURES = POSE_FEATURES + _KINDS + 1


@dataclass
class Links:
    """The messages of a batch; pieces of all scenes are numbered through."""

    sender: Tensor  # [L] int64
    receiver: Tensor  # [L] int64
    features: Tensor  # [L, F]
    share: Tensor  # [L] 1 / messages of the receiver; 0 for padding


def links_of(batch: SceneBatch, directed_BM: Tensor) -> Links:
    """Both ways of every lane link of ``batch``, with relative poses in the receiver's frame."""
    edges_BE4 = batch.lane_edges
    there_BE = (edges_BE4[..., 0] >= 0) & (edges_BE4[..., 1] >= 0)
    first = torch.arange(len(batch), device=there_BE.device)[:, None] * batch.map_mask.shape[1]
    source, destination, kind, opposite = (
        torch.where(there_BE, column, 0).flatten()
        for column in (
            edges_BE4[..., 0] + first,
            edges_BE4[..., 1] + first,
            edges_BE4[..., 2],
            edges_BE4[..., 3],
        )
    )
    sender, receiver = torch.cat([source, destination]), torch.cat([destination, source])
    real = there_BE.flatten().repeat(2)
    pose = full_precision(torch.where(batch.map_mask[..., None], batch.map_pose, 0.0)).flatten(0, 1)
    directed = directed_BM.flatten()
    relative = relative_features(pose[receiver], pose[sender], directed[sender], directed[receiver])
    relation = one_hot(torch.cat([kind, kind + len(EdgeKind)]), _KINDS).to(relative.dtype)
    features = torch.cat([relative, relation, opposite.repeat(2)[:, None].to(relative.dtype)], -1)
    count = torch.zeros(len(pose), dtype=relative.dtype, device=pose.device)
    count = count.index_add(0, receiver, real.to(relative.dtype))
    share = torch.where(real, 1 / count.clamp(min=1)[receiver], 0.0)
    return Links(sender, receiver, features, share)


class LaneGraph(nn.Module):
    """Rounds of messages, each a pre-norm residual step."""

    def __init__(self, width: int, rounds: int = 2) -> None:
        super().__init__()
        self.rounds = nn.ModuleList(LaneRound(width) for _ in range(rounds))

    def forward(self, x_BMD: Tensor, links: Links) -> Tensor:
        """Tokens of map pieces after all rounds."""
        for step in self.rounds:
            x_BMD = step(x_BMD, links)
        return x_BMD


class LaneRound(nn.Module):
    """Every piece takes the mean of what its neighbours tell it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.sender = nn.Linear(width, width, bias=False)
        self.receiver = nn.Linear(width, width, bias=False)
        self.relation = nn.Linear(_FEATURES, width)
        self.out = nn.Linear(width, width)

    def forward(self, x_BMD: Tensor, links: Links) -> Tensor:
        """``x`` plus the mean message; a piece without links keeps its token and a constant."""
        flat = self.norm(x_BMD).flatten(0, 1)
        told_LD = self.sender(flat).index_select(0, links.sender)
        heard_LD = self.receiver(flat).index_select(0, links.receiver)
        message_LD = gelu(told_LD + heard_LD + self.relation(links.features))
        message_LD = message_LD * links.share[:, None].to(message_LD.dtype)
        mean = torch.zeros_like(flat).index_add(0, links.receiver, message_LD)
        return x_BMD + self.out(mean).view_as(x_BMD)
