"""Training: typed settings, one LightningModule, one LightningDataModule, and ``train``.

Importing this room is light; Lightning is loaded when a training starts.
"""

from motionpred.training.composing import compose
from motionpred.training.config import ModelChoice, TrainConfig, TrainerConfig
from motionpred.training.run import TrainResult, train

__all__ = ["ModelChoice", "TrainConfig", "TrainResult", "TrainerConfig", "compose", "train"]
