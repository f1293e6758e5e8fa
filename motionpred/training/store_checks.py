"""What the stores of a training have to have in common, and how they are validated."""

from __future__ import annotations

import warnings

from motionpred.datasets import adapter_names, get_adapter
from motionpred.errors import ConfigError
from motionpred.metrics import Protocol, get_protocol
from motionpred.scene import TimeSpec
from motionpred.training.config import TrainConfig
from motionpred.training.scenes import SceneFolders

_CLOCK_TOLERANCE = 0.02


def clock_of(scenes: SceneFolders, val_scenes: SceneFolders | None) -> TimeSpec:
    """The clock of the first store, which all others must share.

    Raises:
        ConfigError: one has another clock, or holds no scene.
    """
    if not scenes.paths:
        raise ConfigError("no store to train on", field="store", remedy="Name a prepared store")
    everything = [(scenes, "store"), *([(val_scenes, "val_store")] if val_scenes else [])]
    time: TimeSpec = scenes.stores[0].manifest.time
    for folders, field_name in everything:
        if len(folders) == 0:
            raise ConfigError("holds no scene", file=folders.paths[0], field=field_name)
        for path, store in zip(folders.paths, folders.stores, strict=True):
            other = store.manifest.time
            if abs(other.dt - time.dt) > _CLOCK_TOLERANCE * time.dt:
                raise ConfigError(
                    f"has a step of {other.dt:g} s, and {scenes.paths[0]} one of {time.dt:g} s",
                    file=path,
                    field=field_name,
                    remedy="Train on stores of one clock, or resample one of them",
                )
    return time


def warn_of_shared_scenes(config: TrainConfig) -> None:
    """Say so where a model is validated on scenes that it is trained on."""
    shared = {p.resolve() for p in config.store_paths} & {
        p.resolve() for p in config.val_store_paths
    }
    for path in sorted(shared):
        warnings.warn(
            f"{path} is both store and val_store: the figures are of scenes that the model has "
            "seen, they say nothing about new ones",
            stacklevel=5,
        )


def protocol_of(config: TrainConfig, scenes: SceneFolders) -> Protocol:
    """The named protocol, by default the first of the dataset.

    Raises:
        ConfigError: there is none for this dataset.
    """
    name = config.protocol
    if name is None:
        adapter = scenes.stores[0].manifest.adapter
        suited = get_adapter(adapter).protocols if adapter in adapter_names() else ()
        if not suited:
            raise ConfigError(
                f"no protocol is known for {adapter}",
                field="protocol",
                remedy="Name one with protocol=NAME",
            )
        name = suited[0]
    return get_protocol(name)()
