"""From a name or a path to a Predictor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from motionpred.errors import BundleError, ConfigError
from motionpred.graph import BatchOptions
from motionpred.inference.placement import resolve_device
from motionpred.inference.predictor import Predictor
from motionpred.models import build_model, get_model, load_bundle, model_names
from motionpred.registry import nearest
from motionpred.scene import TimeSpec
from motionpred.settings import from_mapping

# What a run folder may hold, the preferred one first.
RUN_BUNDLES = ("best", "last")


def load(
    name_or_path: str | Path,
    *,
    device: str | torch.device = "cpu",
    settings: Mapping[str, Any] | None = None,
    time: TimeSpec | None = None,
) -> Predictor:
    """A Predictor from a bundle, a run folder, or the name of a model without parameters.

    Args:
        name_or_path: a name of ``model_names()`` whose model has nothing to train, a bundle
            (folder or file), or a run folder (its best bundle, else its last).
        device: where to compute; weights trained elsewhere are mapped to it. ``auto`` takes an
            accelerator where there is one.
        settings: settings of a named model; a bundle has its own.
        time: clock of a named model where the scenes' dataset does not say it; a bundle has its
            own.

    Raises:
        ConfigError: no such name or path (names the nearest), or an argument that does not fit.
        BundleError: the bundle is damaged or unsafe.
    """
    if isinstance(name_or_path, str) and name_or_path in model_names():
        return _named(name_or_path, device, settings or {}, time)
    path = Path(name_or_path).expanduser()
    if not path.exists():
        known = (name for name in model_names() if not get_model(name).trainable)
        raise ConfigError(
            f"{str(name_or_path)!r} is neither a bundle here nor a model without parameters",
            remedy=nearest(str(name_or_path), known),
        )
    for field, value in (("settings", settings), ("time", time)):
        if value is not None:
            raise ConfigError("a bundle has its own", file=path, field=field, remedy="Leave it out")
    bundle = load_bundle(_bundle_path(path))
    device = resolve_device(device)
    return Predictor(
        bundle.model.to(device), name=bundle.model.name, options=bundle.options, device=device
    )


def _named(
    name: str, device: str | torch.device, settings: Mapping[str, Any], time: TimeSpec | None
) -> Predictor:
    kind = get_model(name)
    if kind.trainable:
        raise ConfigError(
            f"{name} has parameters: a name alone is not a trained model",
            remedy=f"Give a bundle, made by 'motionpred train model={name} store=STORE'",
        )
    # A wrong setting is told now, not at the first scene.
    from_mapping(kind.Config, settings, at=f"model.{name}")

    def build(clock: TimeSpec) -> Any:
        return build_model(name, settings, clock)

    # Agents that are far away do not make such a model slower: none is cut.
    options = BatchOptions(max_agents=None)
    return Predictor(build, name=name, options=options, time=time, device=device)


def _bundle_path(path: Path) -> Path:
    """The bundle at ``path``, or the one of the run folder that it is."""
    for name in RUN_BUNDLES:
        if path.is_dir() and (path / name / "model.safetensors").is_file():
            return path / name
    if path.is_dir() and not (path / "model.safetensors").is_file():
        raise BundleError(
            "holds no model bundle",
            file=path,
            remedy="Give the folder of a bundle, or of a run of 'motionpred train'",
        )
    return path
