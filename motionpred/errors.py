"""Errors that name what is wrong, where, and what to do about it."""

from __future__ import annotations

from typing import Any


class MotionpredError(Exception):
    """Base of every error that motionpred raises on purpose.

    The text reads ``message [file=…, scene=…, field=…]. Remedy``; each part is also an attribute.
    """

    def __init__(
        self,
        message: str,
        *,
        file: object | None = None,
        scene: str | None = None,
        field: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = None if file is None else str(file)
        self.scene = scene
        self.field = field
        self.remedy = remedy

    def __str__(self) -> str:
        places = [
            f"{name}={value}"
            for name, value in (("file", self.file), ("scene", self.scene), ("field", self.field))
            if value is not None
        ]
        text = self.message.rstrip(".") + (f" [{', '.join(places)}]" if places else "")
        return f"{text}. {self.remedy}" if self.remedy else text

    def __reduce__(self) -> tuple[Any, ...]:
        # Worker processes send errors by pickle; keyword arguments would be lost by the default.
        return _rebuild, (type(self), self.message, self.to_dict())

    def to_dict(self) -> dict[str, str | None]:
        """The places and the remedy as plain values (a line of ``failures.jsonl``)."""
        return {"file": self.file, "scene": self.scene, "field": self.field, "remedy": self.remedy}


def _rebuild(
    kind: type[MotionpredError], message: str, places: dict[str, str | None]
) -> MotionpredError:
    return kind(message, **places)


class SceneError(MotionpredError):
    """Raw data or a Scene that breaks its contract."""


class StoreError(MotionpredError):
    """A prepared store, or a forecast file, that is unfinished, damaged or does not fit."""


class ConfigError(MotionpredError):
    """A setting, name or option that does not exist or does not fit: a usage error, exit code 2."""


class BundleError(MotionpredError):
    """A model bundle or checkpoint that cannot be loaded safely."""


class TrainingError(MotionpredError):
    """Training or forecasting that must not go on (non-finite loss, no target at all)."""
