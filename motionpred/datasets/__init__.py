"""Dataset adapters: one folder per publisher turns its files into scenes."""

from motionpred.datasets.adapter import (
    SPLITS,
    Adapter,
    Source,
    adapter_names,
    detect,
    get_adapter,
    of_split,
    split_of,
)

__all__ = [
    "SPLITS",
    "Adapter",
    "Source",
    "adapter_names",
    "detect",
    "get_adapter",
    "of_split",
    "split_of",
]
