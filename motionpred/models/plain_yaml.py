"""YAML of plain values, from files that nobody vouches for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from motionpred.errors import BundleError


class _PlainLoader(yaml.SafeLoader):
    """``SafeLoader`` without aliases: a few of them may stand for more than fits in memory."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "an alias is not allowed", None)
        return super().compose_node(parent, index)


def dump_yaml(values: dict[str, Any]) -> bytes:
    """UTF-8 YAML in the order of the mapping."""
    return yaml.safe_dump(_unshared(values), sort_keys=False, allow_unicode=True).encode()


def load_yaml(text: bytes, file: Path) -> Any:
    """Plain values (as ``yaml.safe_load``); ``file`` is for the message.

    Raises:
        BundleError: it is not YAML, or names a type that would have to be constructed.
    """
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        problem = str(getattr(error, "problem", None) or error).splitlines()[0]
        raise BundleError(f"is not plain YAML: {problem}", file=file) from error


def _unshared(value: Any) -> Any:
    """A copy of Python's own numbers, in which no list or mapping occurs twice (as an alias)."""
    if isinstance(value, dict):
        return {name: _unshared(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_unshared(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
