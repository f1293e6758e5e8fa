"""One line of a check-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True)
class Finding:
    """What was looked at and what was found; a problem keeps motionpred from working."""

    subject: str
    state: State
    found: str
    remedy: str = ""
