"""Scenes that could not be prepared: one line each in ``failures.jsonl``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from motionpred.errors import SceneError


@dataclass(frozen=True)
class Failure:
    """Why one scene is not in the store."""

    source: str  # key of the source; empty where no source is known to hold the scene
    ordinal: int  # place in the source
    message: str
    file: str | None = None  # below the raw root where it lies there
    scene: str | None = None
    field: str | None = None
    remedy: str | None = None

    @classmethod
    def of(cls, error: SceneError, source: str, ordinal: int, root: Path) -> Failure:
        """The failure that ``error`` is; the same on every machine that has the same raw files."""
        file = error.file
        if file is not None:
            try:
                file = Path(file).relative_to(root).as_posix()
            except ValueError:
                file = Path(file).as_posix()
        return cls(
            source=source,
            ordinal=ordinal,
            message=error.message,
            file=file,
            scene=error.scene,
            field=error.field,
            remedy=error.remedy,
        )

    def to_line(self) -> str:
        """One line of JSON, without its end."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_line(cls, line: str) -> Failure:
        """The inverse of :meth:`to_line`."""
        return cls(**json.loads(line))
