"""What weights depend on beside the code: a checkpoint says it, and a run that goes on keeps it."""

from __future__ import annotations

from typing import Any

from motionpred.settings import to_mapping
from motionpred.training.cards import DataFacts
from motionpred.training.config import HARMLESS, TrainConfig

FACTS = "motionpred"  # the key of a checkpoint that holds them


def facts_of(config: TrainConfig, data: DataFacts, world: int) -> dict[str, Any]:
    """Everything that weights depend on beside the code, as plain values."""
    settings = to_mapping(config)
    trainer = {
        name: value
        for name, value in settings["trainer"].items()
        if name not in HARMLESS and name != "devices"
    }
    return {
        "model": settings["model"],
        "trainer": trainer,
        "batch": settings["batch"],
        "augmentation": settings["augmentation"],
        "devices": world,
        "data": {
            "store": [store.content_hash for store in data.trained_on],
            "store_weights": settings["store_weights"],
            "val_store": [store.content_hash for store in data.validated_on],
            "protocol": settings["protocol"],
        },
    }
