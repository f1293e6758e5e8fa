"""Experiment loggers: what they are told, and that nothing they do reaches the training."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from motionpred.prediction import Prediction
from motionpred.scene import Scene
from motionpred.training import TrainConfig, compose, train
from motionpred.training.loggers import GuardedLog, LoggerConfig, guard
from motionpred.viz import save_png

Small = Callable[..., TrainConfig]

ANSWERS = """
import json, sys, time
def answer(**values):
    print(json.dumps(values), flush=True)
"""


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a process may start slowly: only tests about limits have short ones."""
    monkeypatch.setattr(guard, "LIMIT", 60.0)
    monkeypatch.setattr(guard, "_START_LIMIT", 60.0)


@pytest.fixture
def logger(tmp_path: Path) -> Callable[..., GuardedLog]:
    """A logger whose process is the given code; it is told two ways to start."""

    def make(code: str) -> GuardedLog:
        script = tmp_path / "logger_script.py"
        script.write_text(ANSWERS + code)
        ways = [{"way": "first", "folder": str(tmp_path)}, {"way": "second"}]
        return GuardedLog("toy", script, ways, tmp_path / "toy.log")

    return make


@contextmanager
def taking_less_than(seconds: float) -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds


OBEDIENT = """
answer(ready=True)
for line in sys.stdin:
    message = json.loads(line)
    print(line, end="", file=sys.stderr)
    answer(folder="somewhere") if "way" in message else answer(done=True)
    if "end" in message:
        break
"""


def test_messages_arrive_in_order_and_closing_waits_for_them(
    logger: Callable[..., GuardedLog], tmp_path: Path
) -> None:
    log = logger(OBEDIENT)
    for step in range(50):
        log.values(step, {"loss": step / 10})
    log.bundle(50, tmp_path / "best")
    log.close()

    told = [json.loads(line) for line in (tmp_path / "toy.log").read_text().splitlines()]
    assert log.folder == Path("somewhere")
    assert [message.get("step") for message in told[1:-1]] == list(range(51))
    assert told[0]["way"] == "first"
    assert told[1]["values"] == {"loss": 0.0}
    assert told[-1] == {"end": True}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("answer(error='No module named toy; install it')", "No module named toy; install it"),
        ("raise SystemExit(3)", "process ended"),
        ("answer(ready=True); input(); raise SystemExit(3)", "process ended"),
        ("answer(ready=True); input(); answer(folder='x'); raise SystemExit", "process ended"),
    ],
)
def test_a_logger_that_fails_is_left_behind_with_one_warning(
    logger: Callable[..., GuardedLog], code: str, words: str
) -> None:
    with pytest.warns(UserWarning, match=words) as caught:
        log = logger(code)
        for step in range(100):
            log.values(step, {"loss": 1.0})
        log.close()

    assert len(caught) == 1
    assert "metrics.csv" in str(caught[0].message)


@pytest.mark.parametrize("code", ["time.sleep(60)", "answer(ready=True); time.sleep(60)"])
def test_a_logger_that_stands_still_is_waited_for_no_longer_than_the_limit(
    logger: Callable[..., GuardedLog], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "LIMIT", 0.5)
    with pytest.warns(UserWarning, match=r"stood still for 0\.5 s"):
        log = logger(code)
        log.values(1, {"loss": 1.0})
        with taking_less_than(5):
            log.close()


def test_where_the_first_way_to_start_stands_still_the_second_is_taken(
    logger: Callable[..., GuardedLog], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(guard, "_START_LIMIT", 0.5)
    log = logger(
        OBEDIENT.replace(
            "    answer(folder", "    'first' in line and time.sleep(60)\n    answer(folder"
        )
    )
    log.values(1, {"loss": 1.0})
    log.close()

    told = (tmp_path / "toy.log").read_text().splitlines()
    assert [json.loads(line).get("way") for line in told] == ["first", "second", None, None]
    assert log.folder == Path("somewhere")


def test_one_message_that_cannot_be_logged_does_not_end_the_others(
    logger: Callable[..., GuardedLog], tmp_path: Path
) -> None:
    code = OBEDIENT.replace(
        "answer(done=True)", "answer(error='no') if '13' in line else answer(done=True)"
    )
    with pytest.warns(UserWarning, match="could not log something: no"):
        log = logger(code)
        for step in range(20):
            log.values(step, {"loss": 0.0})
        log.close()

    assert len((tmp_path / "toy.log").read_text().splitlines()) == 22


def draw(scene: Scene, prediction: Prediction, path: Path) -> None:
    save_png(scene, prediction, path, dpi=30)


def offline_records(folder: Path) -> list[Any]:
    """The records of an offline run: LevelDB's log format in blocks of 32 KiB."""
    from wandb.proto import wandb_internal_pb2

    (file,) = folder.glob("*.wandb")
    data, place, part, records = file.read_bytes(), 7, b"", []
    while place + 7 <= len(data):
        if 32768 - place % 32768 < 7:  # the rest of a block that is too short for a header
            place += 32768 - place % 32768
            continue
        _, length, kind = struct.unpack_from("<IHB", data, place)
        part += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            record = wandb_internal_pb2.Record()
            record.ParseFromString(part)
            records.append(record)
            part = b""
    return records


def history(records: list[Any]) -> dict[int, dict[str, Any]]:
    steps: dict[int, dict[str, Any]] = {}
    for record in records:
        if record.WhichOneof("record_type") == "history":
            items = {
                item.key or ".".join(item.nested_key): json.loads(item.value_json)
                for item in record.history.item
            }
            steps.setdefault(record.history.step.num, {}).update(items)
    return steps


@pytest.mark.slow
def test_wandb_offline_has_settings_metrics_pictures_and_the_bundle_and_goes_on(
    small: Small,
    stopped: Callable[[TrainConfig, int], Path],
    store: Path,
    val_store: Path,
    tmp_path: Path,
) -> None:
    pytest.importorskip("wandb")
    logger = LoggerConfig("wandb", pictures_every=2, pictures=1, project="crossings")
    config = replace(
        small(store, tmp_path, val_store, val_every=1, checkpoint_every=2), logger=logger
    )

    run = stopped(config, 3)
    resumed = train(compose([f"resume={run}"]), draw=draw)

    first, second = sorted((run / "wandb").glob("offline-run-*"))
    identity = json.loads((run / "logger.json").read_text())["id"]
    assert first.name.endswith(identity)
    assert second.name.endswith(identity)
    assert resumed.log_folder == second
    before, after = offline_records(first), offline_records(second)
    (settings,) = [r.run for r in before if r.WhichOneof("record_type") == "run"]
    values = {item.key: json.loads(item.value_json) for item in settings.config.update}
    assert settings.project == "crossings"
    assert values["model"] == {"name": "regression", "settings": {"size": "nano"}}
    assert str(tmp_path) not in json.dumps(values)
    steps, later = history(before), history(after)
    assert sorted(steps) == [1, 2, 3]
    assert sorted(later) == [3, 4]  # from the step after the checkpoint
    assert {"train/loss", "train/learning_rate", "val/avgMinFDE@6"} <= set(later[4])
    assert later[4]["pictures/0._type"] == "image-file"  # the fourth validation
    assert "pictures/0._type" not in later[3]
    kept = [r.artifact for r in before + after if r.WhichOneof("record_type") == "artifact"]
    kept += [
        r.request.log_artifact.artifact
        for r in before + after
        if r.WhichOneof("record_type") == "request"
    ]
    assert any(artifact.name == f"{identity}-best" for artifact in kept)


@pytest.mark.slow
def test_tensorboard_has_metrics_and_pictures_and_goes_on(
    small: Small,
    stopped: Callable[[TrainConfig, int], Path],
    store: Path,
    val_store: Path,
    tmp_path: Path,
) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    config = replace(
        small(store, tmp_path, val_store, val_every=1, checkpoint_every=2),
        logger=LoggerConfig("tensorboard", pictures=1),
    )

    run = stopped(config, 3)
    resumed = train(compose([f"resume={run}"]), draw=draw)

    assert resumed.log_folder == run / "tensorboard"
    events = EventAccumulator(str(run / "tensorboard")).Reload()
    assert [event.step for event in events.Scalars("train/loss")] == [1, 2, 3, 4]
    figures = [event.value for event in events.Scalars("val/avgMinFDE@6")]
    assert figures[-1] == pytest.approx(resumed.metrics["avgMinFDE@6"], rel=1e-5)
    assert [event.step for event in events.Images("pictures/0")] == [3, 4]
    assert events.Images("pictures/0")[0].width > 10


def test_a_picture_that_cannot_be_drawn_ends_pictures_and_not_the_training(
    small: Small, store: Path, val_store: Path, tmp_path: Path
) -> None:
    pytest.importorskip("tensorboard")

    def broken(scene: Scene, prediction: Prediction, path: Path) -> None:
        raise ValueError("no colours left")

    config = replace(small(store, tmp_path, val_store), logger=LoggerConfig("tensorboard"))
    with pytest.warns(UserWarning, match="no more pictures of validations: no colours left"):
        result = train(config, draw=broken)

    assert result.steps == 4


@pytest.mark.parametrize("name", ["csv", "tensorboard", "wandb"])
def test_every_logger_has_a_file_of_settings(name: str) -> None:
    assert compose(["store=scenes", f"logger={name}"]).logger == LoggerConfig(name)
