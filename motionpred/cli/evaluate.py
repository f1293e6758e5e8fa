"""``motionpred evaluate``: a model or a forecast file against the truth, by a benchmark's rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionpred.cli import options
from motionpred.cli.console import counted, say, table, then, warn, wrote
from motionpred.cli.json_file import save_json
from motionpred.errors import ConfigError, SceneError, StoreError

if TYPE_CHECKING:
    from motionpred.metrics import Protocol, Report, Scores
    from motionpred.prediction import Prediction
    from motionpred.scene import Scene

NAME = "evaluate"


def command(
    source: Annotated[Path, typer.Argument(metavar="STORE|RAW", help="Scenes with a future.")],
    forecaster: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|FORECASTS", help="A bundle, a baseline's name, or a forecast file."
        ),
    ],
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="Benchmark, repeatable; by default all that suit the dataset."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the figures as JSON.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the forecast.")] = 0,
    batch_size: Annotated[int, typer.Option(min=1, help="Scenes a batch.")] = 16,
    dataset: options.Dataset = None,
    split: options.Split = None,
    ids: options.Ids = None,
    limit: options.Limit = None,
    filter: options.Filter = None,
) -> None:
    """Score forecasts by the official rules of a benchmark."""
    scenes = options.read(source, dataset, split, ids, limit, filter)
    first = next(scenes, None)
    if first is None:
        raise StoreError("has no scene to evaluate", file=source)
    boards = [_Board(item, required=bool(protocol)) for item in _protocols(protocol, first)]
    seen = _Truth(counted(chain([first], scenes), "evaluate"))
    missing: list[str] = []
    modes = max(board.protocol.modes for board in boards)
    for scene, prediction in _forecasts(forecaster, seen, modes, seed, batch_size, missing):
        for board in boards:
            board.score(scene, prediction)
    if not seen.with_truth:
        raise SceneError(
            f"there is no ground truth in this split: none of its {seen.without_truth} scenes has "
            "a future",
            file=source,
            remedy="Use 'motionpred predict'",
        )
    reports = [board.report() for board in boards if board.scores]
    for board in boards:
        board.complain()
    if not any(report.scenes for report in reports):
        raise SceneError("no scene could be scored", file=source)
    for report in reports:
        _show(report)
    say(f"{seen.with_truth} scenes with a future; {seen.without_truth} without were left out")
    if out is not None:
        _save(out, reports, seen.without_truth)
        wrote(out, "figures")
    then(f"motionpred render {source} {forecaster} --limit 1 --out scene.png")
    if missing:
        warn(f"{len(missing)} scenes have no forecast in {forecaster}: {', '.join(missing[:5])}")
    if missing or any(board.failures for board in boards):
        raise typer.Exit(3)


class _Board:
    """One protocol and what it has scored so far."""

    def __init__(self, protocol: Protocol, *, required: bool) -> None:
        self.protocol = protocol
        self.required = required  # named by the user, so it may not be left out
        self.scores: list[Scores] = []
        self.failures: list[SceneError] = []
        self.refused: ConfigError | None = None

    def score(self, scene: Scene, prediction: Prediction) -> None:
        """Add one scene; a scene that does not fit is kept as a failure and the others go on."""
        if self.refused is not None:
            return
        try:
            self.scores.append(self.protocol.score(scene, prediction))
        except SceneError as error:
            self.failures.append(error)
        except ConfigError as error:
            if self.required:
                raise
            self.refused = error

    def report(self) -> Report:
        """The figures of what was scored."""
        return self.protocol.report(self.scores)

    def complain(self) -> None:
        """Say what could not be scored, and why."""
        if self.refused is not None:
            warn(f"{self.protocol.name} was left out: {self.refused}")
        for error in self.failures[:5]:
            warn(f"{self.protocol.name}: {error}")
        if len(self.failures) > 5:
            warn(f"{self.protocol.name}: ... and {len(self.failures) - 5} more scenes")


def _protocols(names: list[str] | None, scene: Scene) -> list[Protocol]:
    from motionpred.datasets import get_adapter
    from motionpred.metrics import get_protocol

    chosen = names or (get_adapter(scene.dataset).protocols if scene.dataset else ("joint",))
    return [get_protocol(name)() for name in chosen]


class _Truth:
    """The scenes that have a future; counts both kinds."""

    def __init__(self, scenes: Iterable[Scene]) -> None:
        self._scenes = scenes
        self.with_truth = self.without_truth = 0

    def __iter__(self) -> Iterator[Scene]:
        for scene in self._scenes:
            if scene.has_future:
                self.with_truth += 1
                yield scene
            else:
                self.without_truth += 1


def _forecasts(
    forecaster: str,
    scenes: Iterable[Scene],
    modes: int,
    seed: int,
    batch_size: int,
    missing: list[str],
) -> Iterator[tuple[Scene, Prediction]]:
    from motionpred.inference import load
    from motionpred.prediction import is_forecast_file, load_predictions

    if is_forecast_file(forecaster):
        known = {item.scene_id: item for item in load_predictions(forecaster)}
        for scene in scenes:
            if scene.scene_id in known:
                yield scene, known[scene.scene_id]
            else:
                missing.append(scene.scene_id)
        if not set(known).difference(missing) and missing:
            raise StoreError("has no forecast of these scenes", file=forecaster)
        return
    predictor = load(forecaster)
    waiting: list[Scene] = []

    def remembered() -> Iterator[Scene]:
        for scene in scenes:
            waiting.append(scene)
            yield scene

    predictions = predictor.predict_many(
        remembered(), modes=modes, seed=seed, batch_size=batch_size
    )
    for prediction in predictions:
        yield waiting.pop(0), prediction
    for what, count in {**predictor.skipped, **predictor.dropped}.items():
        say(f"{count} {what}")


def _show(report: Report) -> None:
    rows = [
        (f.metric, f.k, f.value, f.agents, f"{f.horizon:g} s", f"{f.n} {f.over}")
        for f in report.figures
    ]
    title = f"{report.protocol} on {report.scenes} scenes"
    table(("metric", "K", "value", "agents", "horizon", "n"), rows, title=title)
    for note, count in report.notes.items():
        if count:
            say(f"{report.protocol}: {count} {note}")


def _save(path: Path, reports: list[Report], without_truth: int) -> None:
    from motionpred.metrics import report_to_json

    plain = {
        "without_truth": without_truth,
        "reports": [report_to_json(report) for report in reports],
    }
    save_json(path, plain)
