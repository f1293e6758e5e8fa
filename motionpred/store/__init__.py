"""Prepared scenes on disk: written once from raw files, then read at random, fast and safely."""

from motionpred.store.failures import Failure
from motionpred.store.manifest import Counts, Manifest, ShardInfo
from motionpred.store.prepare import PrepareReport, prepare
from motionpred.store.progress import PrepareProgress
from motionpred.store.reader import Store
from motionpred.store.scenes import read_scenes
from motionpred.store.selection import Selection

__all__ = [
    "Counts",
    "Failure",
    "Manifest",
    "PrepareProgress",
    "PrepareReport",
    "Selection",
    "ShardInfo",
    "Store",
    "prepare",
    "read_scenes",
]
