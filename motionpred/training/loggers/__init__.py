"""Experiment loggers that can neither stop nor block a training."""

from motionpred.training.loggers.config import LoggerConfig
from motionpred.training.loggers.guard import GuardedLog
from motionpred.training.loggers.start import start_log

__all__ = ["GuardedLog", "LoggerConfig", "start_log"]
