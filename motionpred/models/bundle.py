"""Bundles: a trained model as a folder or one zip file of weights, plain settings and a card.

``model.safetensors`` holds tensors only, ``config.yaml`` plain values only; nothing in a bundle is
ever executed, and a pickle is refused by name of what it would have called.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from_bytes
from safetensors.torch import save as tensors_to_bytes
from torch import Tensor

from motionpred.errors import BundleError, ConfigError
from motionpred.graph import BatchOptions
from motionpred.models.bundle_files import CARD, CONFIG, WEIGHTS, read_files, write_files
from motionpred.models.card import Card
from motionpred.models.contract import ForecastModel
from motionpred.models.plain_yaml import dump_yaml, load_yaml
from motionpred.models.registry import build_model
from motionpred.scene import TimeSpec
from motionpred.settings import from_mapping, to_mapping

FORMAT = 1
_MOST_STEPS = 10_000  # of the history, and of the future


@dataclass(frozen=True)
class BundleConfig:
    """Everything in ``config.yaml``."""

    format: int
    model: str  # registry name
    weights: str  # SHA-256 of model.safetensors
    time: TimeSpec
    settings: dict[str, Any] = field(default_factory=dict)
    options: BatchOptions = field(default_factory=BatchOptions)
    card: Card = field(default_factory=Card)


@dataclass(frozen=True)
class LoadedBundle:
    """A model ready to forecast, and how scenes have to be encoded for it."""

    model: ForecastModel  # in evaluation mode
    time: TimeSpec
    options: BatchOptions
    card: Card
    source: str  # where it came from


def save_bundle(
    path: Path | str,
    model: ForecastModel,
    options: BatchOptions | None = None,
    card: Card | None = None,
) -> Path:
    """Write ``model`` to the folder ``path``, or to one file where the name ends in ``.zip``.

    ``options`` are those with which its scenes were encoded; None stands for the defaults. The
    same model and card give the same bytes. A bundle that is already there is replaced; a reader
    never sees a part of one. Returns the path.

    Raises:
        BundleError: something else than a bundle is at ``path``, or a weight is not finite.
    """
    path = Path(path)
    tensors = {name: t.detach().cpu().contiguous() for name, t in model.state_dict().items()}
    _check_finite(tensors, path)
    weights = tensors_to_bytes({name: tensor.clone() for name, tensor in tensors.items()})
    config = BundleConfig(
        format=FORMAT,
        model=model.name,
        weights=hashlib.sha256(weights).hexdigest(),
        time=model.time,
        settings=to_mapping(model.config),
        options=options or BatchOptions(),
        card=card or Card(),
    )
    files = {
        CONFIG: dump_yaml(to_mapping(config)),
        CARD: config.card.to_markdown(model.name).encode(),
        WEIGHTS: weights,
    }
    write_files(path, files)
    return path


def load_bundle(path: Path | str, *, device: torch.device | str = "cpu") -> LoadedBundle:
    """The bundle at ``path``, a folder or a zip file, with the model on ``device``.

    Raises:
        BundleError: it is no bundle, is damaged, or its weights do not fit its model; names the
            file, the field and, of a pickle, the foreign type.
    """
    path = Path(path)
    files = read_files(path)
    config = _read_config(files[CONFIG], path)
    if hashlib.sha256(files[WEIGHTS]).hexdigest() != config.weights:
        raise BundleError(
            "the weights are not those that were saved: damaged or exchanged",
            file=path / WEIGHTS,
            field="weights",
            remedy="Copy the bundle again from its source",
        )
    try:
        tensors = tensors_from_bytes(files[WEIGHTS])
    except SafetensorError as error:
        raise BundleError(f"is damaged: {error}", file=path / WEIGHTS) from error
    _check_clock(config.time, path)
    try:
        model = build_model(config.model, config.settings, config.time)
    except ConfigError as error:
        raise _in_config(error, path) from error
    _fill(model, tensors, path / WEIGHTS)
    return LoadedBundle(
        model.eval().to(device), config.time, config.options, config.card, str(path)
    )


def _read_config(text: bytes, path: Path) -> BundleConfig:
    values = load_yaml(text, path / CONFIG)
    if not isinstance(values, Mapping):
        raise BundleError("is not a mapping of settings", file=path / CONFIG)
    if values.get("format") != FORMAT:
        raise BundleError(
            f"has the format {values.get('format')!r}, this version reads {FORMAT}",
            file=path / CONFIG,
            field="format",
            remedy="Use the version of motionpred that wrote it",
        )
    try:
        return from_mapping(BundleConfig, values)
    except ConfigError as error:
        raise _in_config(error, path) from error


def _check_clock(time: TimeSpec, path: Path) -> None:
    """A model is as large as its clock: a damaged one could ask for more than the memory."""
    sound = {
        "dt": 0 < time.dt < math.inf,
        "history": 1 <= time.history <= _MOST_STEPS,
        "future": 1 <= time.future <= _MOST_STEPS,
    }
    for name, is_sound in sound.items():
        if not is_sound:
            raise BundleError(
                f"is {getattr(time, name)}",
                file=path / CONFIG,
                field=f"time.{name}",
                remedy=f"Use a step above 0 s, and 1 to {_MOST_STEPS} of them",
            )


def _in_config(error: ConfigError, path: Path) -> BundleError:
    return BundleError(error.message, file=path / CONFIG, field=error.field, remedy=error.remedy)


def _check_finite(tensors: Mapping[str, Tensor], path: Path) -> None:
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise BundleError("a weight is not finite", file=path, field=name)


def _fill(model: ForecastModel, tensors: Mapping[str, Tensor], file: Path) -> None:
    """Load the weights; every tensor has to be there, with its shape and kind of number."""
    expected = model.state_dict()
    for name in expected.keys() - tensors.keys():
        raise BundleError("a tensor is missing", file=file, field=name)
    for name in tensors.keys() - expected.keys():
        raise BundleError(f"{model.name!r} has no such tensor", file=file, field=name)
    for name, tensor in tensors.items():
        want = expected[name]
        if tensor.shape != want.shape:
            message = f"has shape {list(tensor.shape)}, it must be {list(want.shape)}"
            raise BundleError(message, file=file, field=name)
        if tensor.is_floating_point() != want.is_floating_point():
            raise BundleError(f"is {tensor.dtype}, it must be {want.dtype}", file=file, field=name)
    _check_finite(tensors, file)
    model.load_state_dict(dict(tensors))
