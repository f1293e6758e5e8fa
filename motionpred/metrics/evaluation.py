"""Scenes and their forecasts through a protocol."""

from __future__ import annotations

from collections.abc import Iterable

from motionpred.errors import SceneError
from motionpred.metrics.protocol import Protocol, Report, Scores
from motionpred.prediction import Prediction
from motionpred.scene import Scene


class Evaluation:
    """What a protocol makes of scenes that come one after another.

    A scene that does not fit is kept in ``failures``, and the others go on.
    """

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self.scores: list[Scores] = []
        self.failures: list[SceneError] = []

    def add(self, scene: Scene, prediction: Prediction) -> None:
        """Score one scene.

        Raises:
            ConfigError: the protocol cannot score this kind of forecast at all.
        """
        try:
            self.scores.append(self.protocol.score(scene, prediction))
        except SceneError as error:
            self.failures.append(error)

    def report(self) -> Report:
        """The figures so far. ``scenes`` is 0 where nothing could be scored."""
        return self.protocol.report(self.scores)


def evaluate(protocol: Protocol, pairs: Iterable[tuple[Scene, Prediction]]) -> Report:
    """The report of a protocol over (scene, forecast) pairs, which are streamed.

    A report whose ``scenes`` is 0 says that nothing could be scored; ``without_truth`` counts the
    scenes that have no future. To go on after a scene that does not fit, use :class:`Evaluation`.

    Raises:
        SceneError: a forecast does not fit its scene.
        ConfigError: the protocol cannot score this kind of forecast at all.
    """
    evaluation = Evaluation(protocol)
    for scene, prediction in pairs:
        evaluation.add(scene, prediction)
        if evaluation.failures:
            raise evaluation.failures[0]
    return evaluation.report()
