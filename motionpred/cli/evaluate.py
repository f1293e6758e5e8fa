"""``motionpred evaluate``: a model or a forecast file against the truth, by a benchmark's rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionpred.cli import options
from motionpred.cli.console import counted, say, table, then, warn, wrote
from motionpred.cli.forecaster import Forecaster
from motionpred.errors import ConfigError, SceneError, StoreError
from motionpred.metrics import Evaluation

if TYPE_CHECKING:
    from motionpred.metrics import Protocol, Report
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
    device: options.Device = "auto",
    dataset: options.Dataset = None,
    split: options.Split = None,
    ids: options.Ids = None,
    limit: options.Limit = None,
    filter: options.Filter = None,
) -> None:
    """Score forecasts by the official rules of a benchmark."""
    if out is not None:
        options.check_file(out, ".json")
    reading = options.Reading(source, dataset, split, ids, limit, filter)
    scenes = iter(reading)
    first = next(scenes, None)
    if first is None:
        raise reading.nothing("evaluate")
    boards = [_Board(item, required=bool(protocol)) for item in _protocols(protocol, first)]
    modes = max(board.protocol.modes for board in boards)
    model = Forecaster(forecaster, modes=modes, seed=seed, batch_size=batch_size, device=device)
    seen = _Truth(counted(chain([first], scenes), "evaluate"))
    missing: list[str] = []
    for scene, prediction in model.pairs(seen):
        if prediction is None:
            missing.append(scene.scene_id)
            continue
        for board in boards:
            board.add(scene, prediction)
    reports = _reports(boards, seen, missing, source, forecaster)
    model.report()
    for report in reports:
        _show(report)
    say(f"{seen.with_truth} scenes with a future; {seen.without_truth} without were left out")
    if out is not None:
        _save(out, reports, seen.without_truth)
        wrote(out, "figures")
    then("render", source, forecaster, "--limit", 1, "--out", "scene.png")
    if missing:
        warn(f"{len(missing)} scenes have no forecast in {forecaster}: {', '.join(missing[:5])}")
    reading.finish()
    if missing or any(board.failures for board in boards):
        raise typer.Exit(3)


def _reports(
    boards: list[_Board], seen: _Truth, missing: list[str], source: Path, forecaster: str
) -> list[Report]:
    """The figures, after saying what was left out.

    Raises:
        SceneError: no scene has a future, or none could be scored.
        StoreError: the forecast file has none of the scenes.
    """
    if not seen.with_truth:
        raise SceneError(
            f"there is no ground truth in this split: none of its {seen.without_truth} scenes has "
            "a future",
            file=source,
            remedy="Use 'motionpred predict'",
        )
    if len(missing) == seen.with_truth:
        raise StoreError("has no forecast of these scenes", file=forecaster)
    for board in boards:
        board.complain()
    reports = [board.report() for board in boards if board.scores]
    if not any(report.scenes for report in reports):
        raise SceneError("no scene could be scored", file=source)
    return reports


class _Board(Evaluation):
    """An evaluation that may be left out, where the user did not name its protocol."""

    def __init__(self, protocol: Protocol, *, required: bool) -> None:
        super().__init__(protocol)
        self.required = required
        self.refused: ConfigError | None = None

    def add(self, scene: Scene, prediction: Prediction) -> None:
        """Score one scene; a protocol that cannot score this kind of forecast is left out."""
        if self.refused is not None:
            return
        try:
            super().add(scene, prediction)
        except ConfigError as error:
            if self.required:
                raise
            self.refused = error

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


def _show(report: Report) -> None:
    from motionpred.inference import describe

    rows = [
        (f.metric, f.k, f.value, f.agents, f"{f.horizon:g} s", f"{f.n} {f.over}")
        for f in report.figures
    ]
    title = f"{report.protocol} on {report.scenes} scenes"
    table(("metric", "K", "value", "agents", "horizon", "n"), rows, title=title)
    for line in describe(report.notes):
        say(f"{report.protocol}: {line}")


def _save(path: Path, reports: list[Report], without_truth: int) -> None:
    import json

    from motionpred.files import write_atomically
    from motionpred.metrics import report_to_json

    plain = {
        "without_truth": without_truth,
        "reports": [report_to_json(report) for report in reports],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plain, indent=2, sort_keys=True, allow_nan=False)
    write_atomically(path, f"{text}\n".encode())
