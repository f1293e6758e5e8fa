"""Preparing a store: failures, resuming, other settings, other sources, workers, progress."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from crossing_files import CrossingFiles, write_crossings

from motionpred.errors import ConfigError, SceneError, StoreError
from motionpred.store import PrepareProgress, Store, prepare
from motionpred.store.job import ShardRecord

RUN = Path(__file__).parent / "run_prepare.py"


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.*")}


def kill_after(scenes: int, raw: Path, out: Path) -> None:
    """Prepare, and die by SIGKILL when so many scenes are written."""
    command = [sys.executable, str(RUN), str(raw), str(out), "--kill-after", str(scenes)]
    assert subprocess.run(command).returncode == -signal.SIGKILL


def test_a_report_counts_what_was_built_and_what_failed(tmp_path):
    raw = write_crossings(tmp_path / "raw", {"a": "1 broken 2", "b": "crash", "c": "invalid 3"})
    report = prepare(CrossingFiles(), raw, tmp_path / "out")
    assert (report.scenes, report.built, report.resumed, report.failed) == (3, 3, 0, 3)
    assert Store(report.path).scene_ids == ["a#0", "a#2", "c#1"]
    assert report.bytes == sum(map(len, files(tmp_path / "out").values()))


def test_every_failure_says_where_and_why(tmp_path):
    raw = write_crossings(tmp_path / "raw", {"a": "1 broken 2", "b": "crash", "c": "invalid 3"})
    prepare(CrossingFiles(), raw, tmp_path / "out")
    broken, crash, invalid = Store(tmp_path / "out").failures()
    assert (broken.source, broken.ordinal, broken.scene) == ("a.crossing", 1, "a#1")
    assert (broken.field, broken.remedy) == ("signals", "Fix it")
    assert (crash.file, crash.message) == ("b.crossing", "ZeroDivisionError: division by zero")
    assert (invalid.scene, invalid.field) == ("c#0", "now")
    assert str(tmp_path) not in (tmp_path / "out" / "failures.jsonl").read_text()


def test_on_error_stop_ends_at_the_first_broken_scene_and_leaves_the_store_unfinished(tmp_path):
    raw = write_crossings(tmp_path / "raw", {"a": "1", "b": "broken", "c": "3"})
    with pytest.raises(SceneError, match=r"lights are out \[file=.*b.crossing, scene=b"):
        prepare(CrossingFiles(), raw, tmp_path / "out", on_error="stop")
    with pytest.raises(StoreError, match="unfinished"):
        Store(tmp_path / "out")
    report = prepare(CrossingFiles(), raw, tmp_path / "out")
    assert (report.built, report.resumed, report.failed) == (1, 1, 1)


def test_a_finished_store_has_nothing_to_do_and_stays_as_it_is(tmp_path):
    raw = write_crossings(tmp_path / "raw", 4)
    first = prepare(CrossingFiles(), raw, tmp_path / "out")
    before = files(tmp_path / "out")
    again = prepare(CrossingFiles(), raw, tmp_path / "out")
    assert not first.nothing_to_do
    assert again.nothing_to_do
    assert (again.scenes, again.built, again.resumed) == (4, 0, 4)
    assert files(tmp_path / "out") == before


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("shard-00000.arrow", lambda path: path.unlink(), "is gone"),
        ("shard-00000.arrow", lambda path: path.write_bytes(b""), "has 0 bytes"),
        ("index.arrow", lambda path: path.unlink(), "is gone"),
        ("failures.jsonl", lambda path: path.unlink(), "is gone"),
        ("sources.json", lambda path: path.write_text("5"), "list of texts"),
        ("sources.json", lambda path: path.write_text("[" * 100_000), "RecursionError"),
    ],
)
def test_a_rerun_does_not_call_a_damaged_store_finished(tmp_path, name, damage, message):
    raw = write_crossings(tmp_path / "raw", 4)
    prepare(CrossingFiles(), raw, tmp_path / "out")
    damage(tmp_path / "out" / name)
    with pytest.raises(StoreError, match=message) as caught:
        prepare(CrossingFiles(), raw, tmp_path / "out")
    assert caught.value.file == str(tmp_path / "out" / name)
    assert "Remove the folder" in (caught.value.remedy or "")


def test_a_rerun_after_a_kill_keeps_failures_and_counts(tmp_path):
    words = {f"{i:02d}": "broken" if i % 3 == 0 else str(i) for i in range(16)}
    raw = write_crossings(tmp_path / "raw", words)
    prepare(CrossingFiles(), raw, tmp_path / "whole")
    kill_after(4, raw, tmp_path / "out")
    report = prepare(CrossingFiles(), raw, tmp_path / "out")
    assert (report.built, report.resumed, report.failed) == (6, 4, 6)
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_a_rerun_inside_a_source_of_many_scenes_goes_on_inside_it(tmp_path):
    raw = write_crossings(tmp_path / "raw", {"a": "1", "b": "2 broken 3 4 5", "c": "6"})
    prepare(CrossingFiles(), raw, tmp_path / "whole")
    kill_after(3, raw, tmp_path / "out")
    report = prepare(CrossingFiles(), raw, tmp_path / "out")
    assert (report.built, report.resumed, report.failed) == (3, 3, 1)
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_a_second_kill_while_the_first_beginning_is_copied_loses_nothing(tmp_path):
    raw = write_crossings(tmp_path / "raw", 8)
    prepare(CrossingFiles(), raw, tmp_path / "whole")
    kill_after(6, raw, tmp_path / "out")
    part = tmp_path / "out" / ".build" / "shard-00000.arrow.part"
    # As the second run leaves it when it is killed after copying a third of the first one.
    part.rename(part.with_suffix(".old"))
    part.write_bytes(
        part.with_suffix(".old").read_bytes()[: part.with_suffix(".old").stat().st_size // 3]
    )
    report = prepare(CrossingFiles(), raw, tmp_path / "out")
    assert (report.built, report.resumed) == (2, 6)
    assert files(tmp_path / "out") == files(tmp_path / "whole")


@pytest.mark.parametrize("damage", ["cut", "zeros", "garbage"])
def test_a_torn_beginning_is_used_up_to_the_last_whole_scene(tmp_path, damage):
    raw = write_crossings(tmp_path / "raw", 8)
    prepare(CrossingFiles(), raw, tmp_path / "whole")
    kill_after(6, raw, tmp_path / "out")
    part = tmp_path / "out" / ".build" / "shard-00000.arrow.part"
    data = bytearray(part.read_bytes())
    middle = len(data) // 2
    if damage == "cut":
        del data[middle:]
    else:
        fill = b"\0" if damage == "zeros" else b"\xa5"
        data[middle : middle + 4096] = fill * 4096
    part.write_bytes(data)
    report = prepare(CrossingFiles(), raw, tmp_path / "out")
    assert report.built + report.resumed == 8
    assert report.resumed in (2, 3)
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_a_kill_between_the_record_of_a_shard_and_its_name_loses_nothing(tmp_path, monkeypatch):
    raw = write_crossings(tmp_path / "raw", 3)
    prepare(CrossingFiles(), raw, tmp_path / "whole")
    save = ShardRecord.save

    def save_and_die(record, path):
        save(record, path)
        raise KeyboardInterrupt

    monkeypatch.setattr(ShardRecord, "save", save_and_die)
    with pytest.raises(KeyboardInterrupt):
        prepare(CrossingFiles(), raw, tmp_path / "out")
    monkeypatch.undo()
    report = prepare(CrossingFiles(), raw, tmp_path / "out")
    assert (report.built, report.resumed) == (0, 3)
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_other_settings_are_refused_by_name(tmp_path):
    raw = write_crossings(tmp_path / "raw", 3)
    prepare(CrossingFiles(), raw, tmp_path / "out")
    with pytest.raises(StoreError, match=r"compression was None and is 'zstd'.*another folder"):
        prepare(CrossingFiles(), raw, tmp_path / "out", compression="zstd")


def test_a_store_of_another_version_is_refused_by_name(tmp_path, monkeypatch):
    raw = write_crossings(tmp_path / "raw", 3)
    prepare(CrossingFiles(), raw, tmp_path / "out")
    monkeypatch.setattr("motionpred.__version__", "9.9")
    with pytest.raises(StoreError, match=r"motionpred was '[\d.]+' and is '9.9'"):
        prepare(CrossingFiles(), raw, tmp_path / "out")


def test_sources_that_came_or_went_are_named(tmp_path):
    raw = write_crossings(tmp_path / "raw", {f"{i:04d}": "tiny" for i in range(64)})
    prepare(CrossingFiles(), raw, tmp_path / "out")
    (raw / "0003.crossing").unlink()
    write_crossings(raw, {f"new{i}": "tiny" for i in range(9)})
    new = r"9 new \(new0.crossing, new1.crossing, new2.crossing, ...\)"
    with pytest.raises(StoreError, match=rf"raw files have changed.*{new}, 1 gone \(0003.crossing"):
        prepare(CrossingFiles(), raw, tmp_path / "out")


def test_a_folder_with_other_files_is_refused(tmp_path):
    raw = write_crossings(tmp_path / "raw", 3)
    with pytest.raises(StoreError, match=r"other files \(0000.crossing"):
        prepare(CrossingFiles(), raw, raw)


def test_a_place_that_cannot_be_written_is_an_error_of_ours(tmp_path):
    raw = write_crossings(tmp_path / "raw", 1)
    with pytest.raises(StoreError, match=r"cannot be written.*permissions"):
        prepare(CrossingFiles(), raw, raw / "0000.crossing" / "store")


def test_a_scene_id_that_comes_twice_is_kept_once_and_listed(tmp_path):
    raw = write_crossings(tmp_path / "raw", {"train/x": "1", "val/x": "2", "val/y": "3"})
    report = prepare(CrossingFiles(), raw, tmp_path / "out")
    store = Store(report.path)
    assert (report.scenes, report.failed) == (2, 1)
    assert store.get("x").split == "train"
    assert store.failures()[0].message == "the scene is already in the store, from train/x.crossing"


def test_no_scene_at_all_is_an_empty_store_with_its_failures(tmp_path):
    raw = write_crossings(tmp_path / "raw", {"a": "broken"})
    report = prepare(CrossingFiles(), raw, tmp_path / "out")
    assert (report.scenes, report.failed) == (0, 1)
    assert list(Store(report.path)) == []


def test_one_worker_and_two_make_the_same_bytes(tmp_path):
    raw = write_crossings(tmp_path / "AV2 väl", {f"{i:02d}": f"{i} broken" for i in range(20)})
    prepare(CrossingFiles(), raw, tmp_path / "one")
    report = prepare(CrossingFiles(), raw, tmp_path / "two", workers=2)
    assert (report.scenes, report.built, report.failed) == (20, 20, 20)
    assert files(tmp_path / "one") == files(tmp_path / "two")


class DiesOnce(CrossingFiles):
    """Its worker is killed at scene 0011, as by the system when memory is short."""

    name = "crossings"

    def __init__(self, marker: Path):
        self.marker = marker

    def read(self, source):
        import os

        if source.path.stem == "0011" and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield from super().read(source)


@pytest.fixture
def importable_here(monkeypatch):
    """Lets worker processes import this module."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import test_prepare

    return test_prepare


def test_a_killed_worker_is_an_error_and_a_rerun_finishes(tmp_path, importable_here):
    raw = write_crossings(tmp_path / "raw", 20)
    adapter = importable_here.DiesOnce(tmp_path / "marker")
    with pytest.raises(StoreError, match=r"worker process died.*Run it again"):
        prepare(adapter, raw, tmp_path / "out", workers=2)
    assert not (tmp_path / "out" / "manifest.json").exists()
    report = prepare(adapter, raw, tmp_path / "out", workers=2)
    assert report.scenes == 20
    prepare(CrossingFiles(), raw, tmp_path / "whole")
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_an_error_in_one_worker_stops_the_others(tmp_path):
    words = {f"{i:02d}": "broken" if i == 1 else str(i) for i in range(40)}
    raw = write_crossings(tmp_path / "raw", words)
    with pytest.raises(SceneError, match="lights are out"):
        prepare(CrossingFiles(), raw, tmp_path / "out", workers=2, on_error="stop")
    assert len(Store(tmp_path / "out", allow_partial=True)) < 40


def test_progress_rises_to_the_total_with_rate_and_time_left(tmp_path):
    raw = write_crossings(tmp_path / "raw", {f"{i:02d}": f"{i} broken" for i in range(10)})
    seen: list[PrepareProgress] = []
    prepare(CrossingFiles(), raw, tmp_path / "out", progress=seen.append)
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert (seen[-1].done, seen[-1].total) == (10, 10)
    assert (seen[-1].scenes, seen[-1].failed) == (10, 10)
    assert seen[-1].rate > 0
    assert seen[-1].eta == 0


def test_an_exception_of_the_callback_stops_the_run_and_keeps_what_there_is(tmp_path):
    raw = write_crossings(tmp_path / "raw", 8)

    def interrupt(progress):
        if progress.scenes == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(CrossingFiles(), raw, tmp_path / "out", progress=interrupt)
    assert prepare(CrossingFiles(), raw, tmp_path / "out").resumed == 3


def test_nothing_is_left_behind_where_nothing_was_found(tmp_path):
    with pytest.raises(SceneError, match="does not exist"):
        prepare(CrossingFiles(), tmp_path / "nowhere", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"compression": "gzip"}, "field=compression.*Known: lz4, zstd"),
        ({"on_error": "ignore"}, "field=on_error"),
        ({"workers": 0}, "field=workers"),
        ({"shard_size": 0}, "field=shard_size"),
        ({"limit": 0}, "field=limit"),
        ({"engine": "rey"}, "field=engine.*Known: local"),
        ({"split": "vla"}, "Did you mean 'val'"),
    ],
)
def test_a_setting_that_does_not_exist_is_named(tmp_path, option, message):
    raw = write_crossings(tmp_path / "raw", 1)
    with pytest.raises(ConfigError, match=message):
        prepare(CrossingFiles(), raw, tmp_path / "out", **option)
    assert not (tmp_path / "out").exists()


def test_the_manifest_holds_options_counts_and_no_time_of_day(tmp_path):
    raw = write_crossings(tmp_path / "raw", {"train/a": "1", "val/b": "2"})
    prepare(CrossingFiles(), raw, tmp_path / "out", compression="zstd")
    manifest = Store(tmp_path / "out").manifest
    assert (manifest.adapter, manifest.time.history) == ("crossings", 50)
    assert manifest.options["compression"] == "zstd"
    assert manifest.counts.splits == {"train": 1, "val": 1}
    assert (manifest.counts.sources, manifest.counts.without_lanes) == (2, 0)
    assert set(json.loads((tmp_path / "out" / "manifest.json").read_text())) == {
        "format", "adapter", "motionpred", "options", "time", "counts", "content_hash", "shards",
        "files",
    }  # fmt: skip


def test_scenes_without_a_lane_are_counted(tmp_path):
    raw = write_crossings(tmp_path / "raw", {"a": "tiny", "b": "1"})
    assert prepare(CrossingFiles(), raw, tmp_path / "out").without_lanes == 1


def test_a_shard_takes_a_fixed_range_of_sources(tmp_path):
    raw = write_crossings(tmp_path / "raw", 7)
    prepare(CrossingFiles(), raw, tmp_path / "out", shard_size=3)
    shards = Store(tmp_path / "out").manifest.shards
    assert [(shard.name, shard.scenes) for shard in shards] == [
        ("shard-00000.arrow", 3),
        ("shard-00001.arrow", 3),
        ("shard-00002.arrow", 1),
    ]


@pytest.mark.parametrize(
    ("sources", "per_source", "size"),
    [(5, 1, 8), (20, 1, 8), (200, 1, 25), (200_000, 1, 2000), (1000, 500, 4)],
)
def test_the_default_shard_leaves_work_for_two_and_holds_at_most_2000_scenes(
    sources, per_source, size
):
    from motionpred.store.plan import _shard_size

    assert _shard_size(sources, per_source) == size
