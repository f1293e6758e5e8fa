"""Decay on matrices only; a learning rate that follows the step."""

from __future__ import annotations

import math

import pytest
from torch import nn

from motionpred.training.optimiser import learning_rate_factor, parameter_groups


def test_only_matrices_decay() -> None:
    model = nn.ModuleDict(
        {"linear": nn.Linear(3, 2), "norm": nn.LayerNorm(2), "embedding": nn.Embedding(4, 2)}
    )

    decayed, free = parameter_groups(model, 0.1)

    assert [p.shape for p in decayed["params"]] == [(2, 3)]
    assert decayed["weight_decay"] == 0.1
    assert len(free["params"]) == 4
    assert free["weight_decay"] == 0.0


def test_the_learning_rate_rises_then_falls_along_half_a_cosine() -> None:
    def factor(step: int) -> float:
        return learning_rate_factor(step, warmup=10, total=110, final=0.1)

    assert factor(0) == pytest.approx(0.1)
    assert factor(9) == factor(10) == 1.0
    assert factor(60) == pytest.approx(0.55)
    assert factor(35) == pytest.approx(0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi / 4)))
    assert factor(110) == factor(1000) == pytest.approx(0.1)
