"""Scenes and their forecasts through a protocol."""

from __future__ import annotations

from collections.abc import Iterable

from motionpred.errors import SceneError
from motionpred.metrics.protocol import Protocol, Report
from motionpred.prediction import Prediction
from motionpred.scene import Scene


def evaluate(
    protocol: Protocol,
    pairs: Iterable[tuple[Scene, Prediction]],
    *,
    failures: list[SceneError] | None = None,
) -> Report:
    """The report of a protocol over (scene, forecast) pairs, which are streamed.

    A report whose ``scenes`` is 0 says that nothing could be scored; ``without_truth`` counts the
    scenes that have no future. Where ``failures`` is given, the errors of single scenes are added
    to it and the other scenes go on.

    Raises:
        SceneError: a forecast does not fit its scene, and no ``failures`` list was given.
        ConfigError: the protocol cannot score this kind of forecast at all.
    """
    scores = []
    for scene, prediction in pairs:
        try:
            scores.append(protocol.score(scene, prediction))
        except SceneError as error:
            if failures is None:
                raise
            failures.append(error)
    return protocol.report(scores)
