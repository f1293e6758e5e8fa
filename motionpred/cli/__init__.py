"""The command ``motionpred``: one file per command; heavy imports happen inside commands."""

from __future__ import annotations

from motionpred.cli.app import app, main

__all__ = ["app", "main"]
