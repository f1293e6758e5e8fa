"""Typed settings: a plain mapping (YAML, overrides) becomes a dataclass, or a clear error."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from motionpred.errors import ConfigError
from motionpred.registry import nearest

D = TypeVar("D")


def from_mapping(kind: type[D], values: Mapping[str, Any], *, at: str = "") -> D:
    """``values`` as an instance of the dataclass ``kind``; ``at`` is the dotted place for messages.

    Raises:
        ConfigError: an unknown key (names the nearest valid one), a missing one, a value of a wrong
            type.
    """
    if not isinstance(values, Mapping):
        raise ConfigError(f"must be a mapping, it is {values!r}", field=at or kind.__name__)
    hints = typing.get_type_hints(kind)
    known = {f.name: f for f in dataclasses.fields(kind) if f.init}  # type: ignore[arg-type]
    result: dict[str, Any] = {}
    for key, value in values.items():
        place = f"{at}.{key}" if at else str(key)
        if key not in known:
            raise ConfigError("unknown setting", field=place, remedy=nearest(str(key), known))
        result[key] = _convert(hints[key], value, place)
    for name, item in known.items():
        required = item.default is dataclasses.MISSING and (
            item.default_factory is dataclasses.MISSING
        )
        if required and name not in result:
            raise ConfigError("a setting is missing", field=f"{at}.{name}" if at else name)
    try:
        return kind(**result)
    except ConfigError as error:
        # A dataclass that checks itself knows its fields, not where in the settings it stands.
        if at and error.field and not error.field.startswith(f"{at}."):
            error.field = f"{at}.{error.field}"
        raise


def to_mapping(settings: Any) -> dict[str, Any]:
    """The inverse of :func:`from_mapping`: plain values only, fit for YAML and checkpoints."""
    return {f.name: _plain(getattr(settings, f.name)) for f in dataclasses.fields(settings)}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_mapping(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Path):
        return str(value)
    return value


def _convert(kind: Any, value: Any, place: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return _convert_union([a for a in arguments if a is not type(None)], value, place)
    if origin is typing.Literal:
        if value not in arguments:
            raise ConfigError(
                f"is {value!r}", field=place, remedy=nearest(str(value), map(str, arguments))
            )
        return value
    if origin in (list, tuple):
        return _convert_sequence(origin, arguments, value, place)
    if origin in (dict, Mapping) or kind in (dict, Mapping):
        if not isinstance(value, Mapping):
            raise ConfigError(f"must be a mapping, it is {value!r}", field=place)
        return {str(k): v for k, v in value.items()}
    if dataclasses.is_dataclass(kind):
        return (
            value
            if isinstance(value, typing.cast(type, kind))
            else from_mapping(typing.cast(type, kind), value, at=place)
        )
    return _convert_scalar(kind, value, place)


def _convert_union(kinds: list[Any], value: Any, place: str) -> Any:
    errors = []
    for kind in kinds:
        try:
            return _convert(kind, value, place)
        except ConfigError as error:
            errors.append(error)
    raise errors[0]


def _convert_sequence(origin: Any, arguments: Any, value: Any, place: str) -> Any:
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise ConfigError(f"must be a list, it is {value!r}", field=place)
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        if len(value) != len(arguments):
            raise ConfigError(f"must have {len(arguments)} entries", field=place)
        kinds = list(arguments)
    else:
        kinds = [arguments[0] if arguments else Any] * len(value)
    items = (
        _convert(k, v, f"{place}[{i}]") for i, (k, v) in enumerate(zip(kinds, value, strict=True))
    )
    return origin(items)


def _convert_scalar(kind: Any, value: Any, place: str) -> Any:
    if kind is Path and isinstance(value, (str, Path)):
        return Path(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        if isinstance(value, kind):
            return value
        names = {member.name.lower(): member for member in kind}
        if str(value).lower() in names:
            return names[str(value).lower()]
        raise ConfigError(f"is {value!r}", field=place, remedy=nearest(str(value), names))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is float and isinstance(value, str):
        try:  # YAML 1.1 reads 1e-3 as a word
            return float(value)
        except ValueError:
            pass
    if kind is int and isinstance(value, bool):
        raise ConfigError(f"must be int, it is {value!r}", field=place)
    if not isinstance(value, kind):
        raise ConfigError(f"must be {kind.__name__}, it is {value!r}", field=place)
    return value
