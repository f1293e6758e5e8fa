"""Augmentation of training scenes: small objects that change a SceneBatch, keyed by the scene.

The same scene in the same epoch is changed in the same way alone, in any batch, in any process.
"""

from motionpred.graph.augmentation.chain import Augmentation, AugmentationOptions, Draws, augment
from motionpred.graph.augmentation.drops import AgentDrop, HistoryDrop
from motionpred.graph.augmentation.mirror import Mirror
from motionpred.graph.augmentation.position_noise import PositionNoise

__all__ = [
    "AgentDrop",
    "Augmentation",
    "AugmentationOptions",
    "Draws",
    "HistoryDrop",
    "Mirror",
    "PositionNoise",
    "augment",
]
