"""``motionpred synthesize``: files that the Argoverse 2 adapter reads, and the short way."""

from __future__ import annotations

import os
from pathlib import Path

from motionpred.datasets.synthetic import generate
from motionpred.store import Store, read_scenes


def folders(split: str) -> list[str]:
    return sorted(path.name for path in Path("out", split).iterdir())


def test_the_scenes_are_those_of_the_seed_in_the_argoverse_2_layout(run):
    code, text = run("synthesize", "out", "--split", "val", "--count", "2")
    assert code == 0, text
    assert "2 scenes of synthetic-v1, seed 1" in text  # the seed of this split
    assert "next: motionpred prepare argoverse2 out store/val --split val" in text
    read = list(read_scenes("out", dataset="argoverse2"))
    assert [scene.scene_id for scene in read] == folders("val")
    made = generate(1, 0, split="val")
    assert read[0].split == "val"
    assert len(read[0].tracks) == len(made.tracks)
    assert read[0].has_future


def test_what_the_layout_has_no_place_for_is_said_once(run, recwarn):
    _, text = run("synthesize", "out", "--count", "2")
    assert text.count("no place in the layout for") == 1
    assert "tracks.size (in 2 scenes)" in text
    assert not [w for w in recwarn if "no place" in str(w.message)]


def test_seed_and_index_choose_the_scenes_whatever_the_count(run):
    run("synthesize", "out", "--count", "1", "--seed", "7")
    run("synthesize", "out", "--split", "val", "--count", "2", "--seed", "7")
    assert folders("train") == folders("val")[:1]
    one, two = (
        next(Path("out", split, folders(split)[0]).glob("log_map*.json")).read_bytes()
        for split in ("train", "val")
    )
    assert one == two


def test_a_second_run_makes_only_what_is_missing(run):
    run("synthesize", "out", "--count", "1")
    (first,) = Path("out/train").iterdir()
    os.utime(first, (1, 1))
    code, text = run("synthesize", "out", "--count", "2")
    assert code == 0
    assert "1 scenes are there already" in text
    assert len(folders("train")) == 2
    assert first.stat().st_mtime == 1


def test_two_processes_make_the_same_files_as_one(run):
    run("synthesize", "out", "--count", "11")
    run("synthesize", "again", "--count", "11", "--workers", "2")
    files = sorted(path for path in Path("out").rglob("*.*"))
    assert len(files) == 22
    for path in files:
        assert Path("again", *path.parts[1:]).read_bytes() == path.read_bytes()


def test_the_short_layout_is_prepared_like_any_data_set(run):
    code, text = run(
        "synthesize", "out", "--split", "test", "--count", "2", "--layout", "synthetic"
    )
    assert code == 0
    assert "next: motionpred prepare synthetic out store/test --split test" in text
    code, text = run("prepare", "synthetic", "out", "store/test", "--split", "test")
    assert code == 0, text
    store = Store("store/test")
    assert len(store) == 2
    assert store[0].scene_id.startswith("synthetic-v1-2-")


def test_a_folder_that_cannot_be_written_is_an_error_with_a_remedy(run):
    Path("out").write_text("a file")
    for layout in ("argoverse2", "synthetic"):
        code, text = run("synthesize", "out", "--count", "1", "--layout", layout)
        assert code == 1
        assert "cannot be written" in text
