"""Scenes as tensors: SceneBatch for models, HeteroData for PyG users, raster views, keyed noise."""

from motionpred.graph.batch import SceneBatch, Steps

__all__ = ["SceneBatch", "Steps"]
