"""Metrics: pure functions on arrays, and the named protocols that put them together. No torch."""

from motionpred.metrics.evaluation import Evaluation, evaluate
from motionpred.metrics.protocol import (
    Figure,
    Protocol,
    Report,
    Scores,
    get_protocol,
    protocol_names,
)
from motionpred.metrics.report_table import report_to_json, table

__all__ = [
    "Evaluation",
    "Figure",
    "Protocol",
    "Report",
    "Scores",
    "evaluate",
    "get_protocol",
    "protocol_names",
    "report_to_json",
    "table",
]
