"""Fewer futures out of many: pure functions on tensors, shared by all model families."""

from motionpred.reduction.independent_agents import most_probable_scenes

__all__ = ["most_probable_scenes"]
