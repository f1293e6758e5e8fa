"""JSON files that are complete or not there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def save_json(path: Path, plain: Mapping[str, Any]) -> None:
    """Write plain values; folders are made as needed, and numbers must be finite."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    text = json.dumps(plain, indent=2, sort_keys=True, allow_nan=False)
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(path)
