"""Metrics: pure functions on arrays, and the named protocols that put them together. No torch."""

from motionpred.metrics.protocol import (
    Figure,
    Protocol,
    Report,
    Scores,
    get_protocol,
    protocol_names,
)

__all__ = ["Figure", "Protocol", "Report", "Scores", "get_protocol", "protocol_names"]
