"""From ``configs/`` and ``key=value`` overrides to a :class:`TrainConfig`.

Hydra picks the files of the groups (``model=…``, ``experiment=…``) and reads the grammar of
overrides. Values land in typed dataclasses, so that an unknown key names the nearest valid one.
Nothing in a configuration executes: no ``_target_``, no interpolation, no resolver. The working
directory is never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motionpred.config_dir import config_dir
from motionpred.datasets import adapter_names, get_adapter
from motionpred.errors import ConfigError
from motionpred.models import get_model, model_names
from motionpred.models.plain_yaml import load_yaml
from motionpred.registry import nearest
from motionpred.settings import from_mapping
from motionpred.training.config import TrainConfig
from motionpred.training.run_folder import CONFIG

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_ENTRY = "train"


def compose(overrides: Sequence[str] = ()) -> TrainConfig:
    """The settings of ``configs/train.yaml`` with ``overrides`` applied, in that order.

    ``group=name`` picks a file of a group; ``model=`` and ``dataset=`` also take names that are
    registered by a plug-in and have no file. ``key=value`` sets one value. With ``resume=RUN`` the
    settings are those of that run.

    Raises:
        ConfigError: unknown group option, key or model setting (names the nearest), wrong type,
            interpolation, or no store.
    """
    folder = config_dir()
    groups = sorted(place.name for place in folder.iterdir() if place.is_dir())
    parsed = _parse(overrides)
    run = next((o for o in parsed if o.key_or_group == "resume" and o.value() is not None), None)
    if run is not None:
        return _resumed(Path(str(run.value())), parsed, groups)
    picked: list[str] = []
    plugged: dict[str, str] = {}
    values: list[Override] = []
    for override in parsed:
        name = override.key_or_group
        if name not in groups:
            values.append(override)
        elif override.value() is None or _has_file(folder, name, override):
            # "+experiment=x" is what Hydra's users write for a group that has no default.
            picked.append((override.input_line or "").lstrip("+"))
        else:
            plugged[name] = str(override.value())
    mapping = _read(folder, picked)
    _plug_in(mapping, plugged)
    for override in values:
        _apply(mapping, override)
    _refuse_executable(mapping)
    return _typed(mapping)


def _resumed(run: Path, overrides: list[Override], groups: list[str]) -> TrainConfig:
    """The settings that a run was started with, and single values changed."""
    path = run.expanduser() / CONFIG
    if not path.is_file():
        raise ConfigError(
            f"holds no {CONFIG}: it is no run folder",
            file=run,
            field="resume",
            remedy="Name a folder that 'motionpred train' made, e.g. resume=runs/NAME",
        )
    mapping = load_yaml(path.read_bytes(), path)
    if not isinstance(mapping, dict) or not isinstance(mapping.get("model"), dict):
        raise ConfigError("are no settings of a training", file=path)
    model = mapping["model"]
    mapping["model"] = {"name": model.get("name"), **(model.get("settings") or {})}
    for override in overrides:
        if override.key_or_group in groups:
            raise ConfigError(
                "a run that goes on has its own settings",
                field=override.key_or_group,
                remedy="Change single values (key=value), or start a new run",
            )
        _apply(mapping, override)
    _refuse_executable(mapping)
    return _typed(mapping)


def _parse(overrides: Sequence[str]) -> list[Override]:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    parsed = []
    for text in overrides:
        try:
            parsed += OverridesParser.create().parse_overrides([text])
        except HydraException as error:
            raise ConfigError(
                f"{text!r} is no override",
                remedy="Write key=value, e.g. trainer.max_steps=100; quote unusual characters",
            ) from error
        if parsed[-1].is_sweep_override():
            raise ConfigError(f"{text!r} is a sweep", remedy="Start one training for each value")
    return parsed


def _has_file(folder: Path, group: str, override: Override) -> bool:
    """Whether the option has a file; if not it must be registered by a plug-in."""
    wanted = str(override.value())
    files = {path.stem for path in (folder / group).glob("*.yaml")}
    registered = {"model": model_names, "dataset": adapter_names}.get(group, list)()
    if wanted in files:
        return True
    if wanted in registered:
        return False
    raise ConfigError(
        f"there is no {group} called {wanted!r}",
        field=group,
        remedy=nearest(wanted, {*files, *registered}),
    )


def _read(folder: Path, picked: list[str]) -> dict[str, Any]:
    from hydra import compose as hydra_compose
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        with _hydra(folder):
            composed = hydra_compose(_ENTRY, overrides=picked)
        plain = OmegaConf.to_container(composed, resolve=False)
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        first = str(error).strip().splitlines()[0]
        raise ConfigError(f"the configuration cannot be composed: {first}", file=folder) from error
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


@contextmanager
def _hydra(folder: Path) -> Iterator[None]:
    """Hydra for ``folder``; an outer application's own Hydra is put back afterwards."""
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    outer = GlobalHydra.instance().hydra
    GlobalHydra.instance().hydra = None
    try:
        with initialize_config_dir(str(folder), version_base="1.3"):
            yield
    finally:
        GlobalHydra.instance().hydra = outer


def _plug_in(mapping: dict[str, Any], plugged: Mapping[str, str]) -> None:
    if "model" in plugged:
        mapping["model"] = {"name": plugged["model"]}
    if "dataset" in plugged:
        mapping["batch"] = {}
        mapping["protocol"] = next(iter(get_adapter(plugged["dataset"]).protocols), None)


def _apply(mapping: dict[str, Any], override: Override) -> None:
    *parents, last = override.key_or_group.split(".")
    place = mapping
    for depth, name in enumerate(parents):
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise ConfigError("has no settings of its own", field=".".join(parents[: depth + 1]))
    if override.is_delete():
        place.pop(last, None)
    else:
        place[last] = override.value()


def _refuse_executable(value: Any, place: str = "") -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            here = f"{place}.{key}" if place else str(key)
            if str(key) in ("_target_", "_partial_"):
                raise ConfigError("objects are not made from a configuration", field=here)
            _refuse_executable(item, here)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _refuse_executable(item, f"{place}[{index}]")
    elif isinstance(value, str) and "${" in value:
        raise ConfigError(
            f"is {value!r}", field=place, remedy="Write the value: interpolation is not supported"
        )


def _typed(mapping: dict[str, Any]) -> TrainConfig:
    settings = dict(mapping.pop("model", None) or {})
    name = settings.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError("no model is named", field="model", remedy=nearest("", model_names()))
    store = mapping.get("store") or ""
    choice = {"name": name, "settings": settings}
    config = from_mapping(TrainConfig, {**mapping, "store": store, "model": choice})
    if not config.store_paths:  # asked last: the cause may be a misspelt key
        raise ConfigError(
            "no store to train on",
            field="store",
            remedy="Add store=FOLDER, a folder made by 'motionpred prepare'",
        )
    from_mapping(get_model(name).Config, settings, at="model")
    return config
