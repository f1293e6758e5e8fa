"""``motionpred render``: which file comes of which arguments."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PIL import Image


def test_render_draws_one_scene_to_a_file_and_many_to_a_folder(run, store):
    code, text = run("render", store, "fan", "--ids", "val-2", "--out", "one.png")
    assert code == 0, text
    assert Path("one.png").read_bytes().startswith(b"\x89PNG")
    code, text = run("render", store, "--limit", "2", "--out", "pictures")
    assert code == 0
    assert sorted(p.name for p in Path("pictures").iterdir()) == ["val-0.png", "val-1.png"]


def test_render_refuses_several_scenes_in_one_file(run, store):
    code, text = run("render", store, "--out", "one.png")
    assert code == 2
    assert "--limit 1" in text


def test_render_makes_an_animation_of_one_scene(run, store):
    code, text = run("render", store, "fan", "--ids", "val-1", "--out", "one.gif", "--fps", "5")
    assert code == 0, text
    assert "wrote one.gif" in text
    with Image.open("one.gif") as movie:
        assert movie.n_frames == 25 + 30  # every 0.2 s from -4.8 s to 6 s
    code, text = run("render", store, "--out", "many.gif")
    assert code == 2
    assert "--limit 1" in text


def test_several_forecasters_are_drawn_side_by_side(run, store):
    run("predict", "fan", store, "--out", "forecasts.parquet")
    some = ("--ids", "val-1", "--fps", "2", "--speed", "4")
    pair = ("forecasts.parquet", "constant-velocity")
    for name in ("a.png", "a.gif"):
        one = run("render", store, pair[0], *some, "--out", name)
        two = run("render", store, *pair, *some, "--out", f"two-{name}")
        assert one[0] == two[0] == 0, one[1] + two[1]
        with Image.open(name) as narrow, Image.open(f"two-{name}") as wide:
            assert wide.size[0] / wide.size[1] > 1.3 * narrow.size[0] / narrow.size[1]


def test_the_same_forecaster_twice_is_refused(run, store):
    code, text = run("render", store, "fan", "fan", "--limit", "1", "--out", "a.png")
    assert code == 2
    assert "named twice" in text


def test_mp4_without_its_extra_is_a_usage_error_that_names_it(run, store, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    code, text = run("render", store, "--limit", "1", "--out", "a.mp4")
    assert code == 2
    assert "motionpred[video]" in text
    assert not Path("a.mp4").exists()


def test_options_of_an_animation_are_checked(run, store):
    code, text = run("render", store, "--limit", "1", "--out", "a.gif", "--fps", "0")
    assert code == 2
    assert "fps" in text


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("fan", "fan"),
        ("results/forecasts.parquet", "forecasts"),
        ("runs/monday/best", "monday/best"),
    ],
)
def test_a_panel_is_named_after_what_tells_its_forecasts_from_others(name, title):
    from motionpred.cli.render import _title

    assert _title(name) == title
