"""Argoverse 2 motion forecasting: 11 s scenarios at 10 Hz with a vector map each."""

from motionpred.datasets.argoverse2.reader import Argoverse2
from motionpred.datasets.argoverse2.writer import left_out, write_scene

ADAPTERS = {"argoverse2": Argoverse2()}

__all__ = ["ADAPTERS", "Argoverse2", "left_out", "write_scene"]
