"""AdamW and its learning rate over the steps."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Decay on matrices only: biases, norms, embeddings and single vectors are left free."""
    embeddings = {
        id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)
    }
    decayed: list[nn.Parameter] = []
    free: list[nn.Parameter] = []
    for parameter in model.parameters():
        if parameter.requires_grad:
            matrix = parameter.ndim >= 2 and id(parameter) not in embeddings
            (decayed if matrix else free).append(parameter)
    groups = [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": free, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def learning_rate_factor(step: int, *, warmup: int, total: int, final: float) -> float:
    """Share of the learning rate at ``step``: a linear rise, then half a cosine to ``final``."""
    if step < warmup:
        return (step + 1) / warmup
    progress = min((step - warmup) / max(total - warmup, 1), 1.0)
    return final + (1 - final) * 0.5 * (1 + math.cos(math.pi * progress))


def adamw(model: nn.Module, learning_rate: float, weight_decay: float) -> torch.optim.AdamW:
    """The optimiser of every model."""
    return torch.optim.AdamW(parameter_groups(model, weight_decay), lr=learning_rate)
