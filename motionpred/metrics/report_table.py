"""A report as plain data: rows for a table, JSON for a file."""

from __future__ import annotations

import math
from typing import Any

from motionpred.metrics.protocol import Figure, Report

COLUMNS = ("metric", "value", "unit", "k", "horizon", "agents", "n", "over")

_SHARES = {"MR", "actorMR", "actorCR", "overlap", "off-road", "kinematic", "ECE"}


def unit(metric: str) -> str:
    """Unit of a metric: ``m``, ``share`` (0..1), ``nats``, ``m + 1`` (metres and a Brier term)."""
    name = metric.removeprefix("marginal ")
    if name in _SHARES:
        return "share"
    if name == "NLL":
        return "nats"
    return "m + 1" if "brier" in name.lower() else "m"


def table(report: Report) -> list[dict[str, Any]]:
    """One mapping a figure, with the keys of :data:`COLUMNS`; ``value`` is NaN where ``n`` is 0."""
    return [_row(figure) for figure in report.figures]


def _row(figure: Figure) -> dict[str, Any]:
    return {
        "metric": figure.metric,
        "value": figure.value,
        "unit": unit(figure.metric),
        "k": figure.k,
        "horizon": figure.horizon,
        "agents": figure.agents,
        "n": figure.n,
        "over": figure.over,
    }


def report_to_json(report: Report) -> dict[str, Any]:
    """A report as JSON values; a figure without any entry has the value null."""
    rows = table(report)
    for row in rows:
        if not math.isfinite(row["value"]):
            row["value"] = None
    return {
        "protocol": report.protocol,
        "scenes": report.scenes,
        "without_truth": report.without_truth,
        "notes": dict(report.notes),
        "figures": rows,
    }
