"""Scenes as tensors: SceneBatch for models, HeteroData for PyG users, raster views, keyed noise."""

from motionpred.graph.arrays import DROPPED, SceneArrays
from motionpred.graph.batch import SceneBatch, Steps
from motionpred.graph.collate import collate, collate_scenes
from motionpred.graph.encode import encode
from motionpred.graph.hetero import build_graph, from_graph, to_graph
from motionpred.graph.keys import stable_key, stable_keys
from motionpred.graph.noise import keyed_noise, keyed_uniform
from motionpred.graph.options import BatchOptions
from motionpred.graph.raster import CHANNELS, raster, raster_picture

__all__ = [
    "CHANNELS",
    "DROPPED",
    "BatchOptions",
    "SceneArrays",
    "SceneBatch",
    "Steps",
    "build_graph",
    "collate",
    "collate_scenes",
    "encode",
    "from_graph",
    "keyed_noise",
    "keyed_uniform",
    "raster",
    "raster_picture",
    "stable_key",
    "stable_keys",
    "to_graph",
]
