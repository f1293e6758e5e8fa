"""A report as plain data: rows for a table, JSON for a file."""

from __future__ import annotations

import math
from typing import Any

from motionpred.metrics.protocol import Figure, Report

COLUMNS = ("metric", "value", "unit", "k", "horizon", "agents", "n", "over")


def table(report: Report) -> list[dict[str, Any]]:
    """One mapping a figure, with the keys of :data:`COLUMNS`; ``value`` is NaN where ``n`` is 0."""
    return [_row(figure) for figure in report.figures]


def _row(figure: Figure) -> dict[str, Any]:
    return {
        "metric": figure.metric,
        "value": figure.value,
        "unit": figure.unit,
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
