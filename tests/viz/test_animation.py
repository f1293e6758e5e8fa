"""Animations: what moves, what stays, and the files."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image, ImageSequence

from motionpred.errors import ConfigError, MotionpredError
from motionpred.scene import MapKind, Role, Scene, Signals, SignalState
from motionpred.testing import crossing_scene, make_map, make_scene, make_tracks
from motionpred.viz import LIGHT, animate, movie_files, stage
from motionpred.viz.contents import contents_of
from motionpred.viz.moments import moment_at
from motionpred.viz.moving_futures import MovingFutures
from motionpred.viz.moving_traffic import MovingSignals, Trail
from motionpred.viz.palette import Palette
from motionpred.viz.panels import Picture, one_panel
from motionpred.viz.stage import Stage
from motionpred.viz.window import Window

PIXELS_A_METRE = 760 / 40  # of 7.6 inches of 100 pixels for a radius of 20 m


def one_car(steps: int = 30) -> Scene:
    """A car of known size drives 1 m a step along x from 0; now is step 10."""
    position = np.stack([np.arange(float(steps)), np.zeros(steps)], -1)[None]
    tracks = make_tracks(position, size=[(4.8, 2.0, 1.6)], roles=[Role.SCORED])
    return make_scene(tracks, 10)


def frames(path) -> list[np.ndarray]:
    with Image.open(path) as movie:
        return [np.array(frame.convert("RGB")) for frame in ImageSequence.Iterator(movie)]


def milliseconds(path) -> list[int]:
    with Image.open(path) as movie:
        return [frame.info["duration"] for frame in ImageSequence.Iterator(movie)]


def pixels(frame: np.ndarray, color: str) -> np.ndarray:
    """Where ``[n, 2]`` (row, column) above the legend a frame has exactly this colour."""
    wanted = np.round(255 * np.array(to_rgb(color)))
    return np.argwhere((frame[:700] == wanted).all(-1))


def test_a_box_is_where_its_agent_is_at_each_time(tmp_path):
    shown = frames(animate(one_car(), None, tmp_path / "a.gif", center=(15.0, 0.0), radius=20.0))
    assert len(shown) == 30
    column = [pixels(frame, LIGHT.target)[:, 1].mean() for frame in shown]
    assert np.diff(column) == pytest.approx(PIXELS_A_METRE, abs=1.5)
    assert column[-1] - column[0] == pytest.approx(29 * PIXELS_A_METRE, abs=3)


def test_every_frame_lasts_as_asked_and_those_at_now_and_at_the_end_stay_longer(tmp_path):
    lasts = milliseconds(animate(one_car(), None, tmp_path / "a.gif", fps=10))
    assert lasts[10] == 700
    assert lasts[-1] == 1600
    assert set(lasts[:10] + lasts[11:-1]) == {100}


def test_speed_and_past_choose_the_frames(tmp_path):
    half = animate(one_car(), None, tmp_path / "a.gif", speed=0.5)
    assert len(frames(half)) == 59  # every 0.05 s from -1 s to 1.9 s
    late = animate(one_car(), None, tmp_path / "b.gif", past=0.3)
    assert len(frames(late)) == 3 + 1 + 19
    assert milliseconds(late)[3] == 700


def test_futures_appear_at_now(fan, tmp_path):
    scene = one_car()
    path = animate(scene, fan(scene, steps=15), tmp_path / "a.gif", radius=20.0)
    color = LIGHT.modes[0]
    seen = [len(pixels(frame, color)) for frame in frames(path)]
    assert max(seen[:10]) == 0
    assert min(seen[10:]) > 100


def test_marks_run_along_the_futures_and_a_box_along_the_most_probable_one(fan):
    scene = one_car()
    prediction = fan(scene, steps=19)
    contents = contents_of(scene, [("f", prediction)], "scored", None)
    ax = Picture().add_axes((0, 0, 1, 1))
    made = MovingFutures(ax, contents, Window(15.0, 0.0, 40.0, 40.0), LIGHT, [])
    box, dots = made.artists
    made.move(moment_at(scene, -0.1, last=29))
    assert not box.get_visible()
    assert not dots.get_visible()
    made.move(moment_at(scene, 0.5, last=29))
    moved = [0, 1, 3, 4, 5]  # a future that stands still has no mark
    expected = {tuple(np.round(at, 6)) for at in prediction.position[moved, 0, 4]}
    assert {tuple(np.round(at, 6)) for at in dots.get_offsets()} == expected
    corners = box.get_paths()[0].vertices[:4]
    assert corners.mean(0) == pytest.approx(prediction.position[0, 0, 4])


def test_without_the_truth_the_boxes_stay_pale_after_now(fan, tmp_path):
    scene = one_car()
    prediction = fan(scene, steps=19)
    with_truth = frames(animate(scene, prediction, tmp_path / "a.gif", radius=20.0))
    alone = frames(animate(scene, prediction, tmp_path / "b.gif", radius=20.0, truth=False))
    assert len(with_truth) == len(alone)
    assert len(pixels(with_truth[25], LIGHT.target)) > 300
    assert len(pixels(alone[25], LIGHT.target)) == 0


def test_a_scene_without_a_future_is_shown_to_the_end_of_the_forecast(fan, tmp_path):
    scene = one_car()
    observed = scene.observed()
    assert len(frames(animate(observed, fan(scene, steps=15), tmp_path / "a.gif"))) == 11 + 15
    assert len(frames(animate(observed, None, tmp_path / "b.gif"))) == 11


def test_the_record_ends_with_the_forecast(fan, tmp_path):
    scene = one_car()
    assert len(frames(animate(scene, fan(scene, steps=5), tmp_path / "a.gif"))) == 11 + 5


def test_agents_at_rest_have_no_marks_that_would_hide_them(fan, tmp_path):
    position = np.zeros((1, 20, 2))
    tracks = make_tracks(
        position, size=[(4.8, 2.0, 1.6)], roles=[Role.SCORED], heading=np.zeros((1, 20))
    )
    scene = make_scene(tracks, 10)
    shown = frames(animate(scene, fan(scene, steps=5), tmp_path / "a.gif", radius=20.0))
    assert len(pixels(shown[12], LIGHT.target)) > 300


def test_several_forecasts_stand_side_by_side(fan, tmp_path):
    scene = one_car()
    two = {"one": fan(scene, steps=5), "two": fan(scene, steps=5, seed=1)}
    wide = frames(animate(scene, two, tmp_path / "a.gif"))[0]
    tall = frames(animate(scene, two, tmp_path / "b.gif", columns=1))[0]
    assert wide.shape[1] > 1.8 * tall.shape[1]
    assert tall.shape[0] > 1.4 * wide.shape[0]


def test_many_panels_make_no_wider_frames_than_1200_pixels(fan, tmp_path):
    scene = one_car()
    three = {name: fan(scene, steps=2) for name in ("one", "two", "three")}
    assert frames(animate(scene, three, tmp_path / "a.gif"))[0].shape[1] <= 1200
    assert frames(animate(scene, three, tmp_path / "b.gif", dpi=100))[0].shape[1] > 1300


def test_a_frame_is_what_a_full_drawing_of_the_figure_would_be(fan):
    scene = crossing_scene()
    contents = contents_of(scene, [("f", fan(scene))], "scored", None)
    from motionpred.viz.animation import _Panels, _script

    script = _script(contents, 10.0, 1.0, None, truth=True)
    panels = _Panels(script, LIGHT, single=True)
    window = Window(3000.0, 1500.0, 90.0, 90.0)
    picture = one_panel(contents, window, panels.draw, LIGHT, legend=True, title=None)
    drawn = Stage(picture, panels.artists, dpi=60)
    panels.move(script.moments[20])
    drawn.frame()
    panels.move(script.moments[70])
    quick = drawn.frame()
    for artist in panels.artists:
        artist.set_animated(False)
    picture.canvas.draw()
    whole = np.asarray(picture.canvas.buffer_rgba())[..., :3]
    # A blend may be rounded otherwise where the order of layers differs.
    assert (np.abs(whole.astype(int) - quick).max(-1) > 2).mean() < 1e-4


def trail(seconds):
    scene = one_car()
    contents = contents_of(scene, [], "scored", None)
    ax = Picture().add_axes((0, 0, 1, 1))
    members = np.array([True])
    window = Window(15.0, 0.0, 80.0, 80.0)
    made = Trail(
        ax,
        contents,
        window,
        members,
        steps=(0, 29),
        seconds=seconds,
        color="#000000",
        width=1.0,
        zorder=1.0,
        gid="trail",
    )
    return scene, made


def test_a_trail_fades_with_age_and_ends_at_the_box():
    scene, made = trail(seconds=1.0)
    made.move(moment_at(scene, 0.55, last=29))
    segments, alpha = made.artist.get_segments(), made.artist.get_colors()[:, 3]
    assert segments[-1][-1] == pytest.approx([15.5, 0.0])
    assert (np.diff(alpha) > 0).all()
    assert segments[0][0][0] == pytest.approx(5.0)  # what ended at most a second ago


def test_a_trail_that_stays_begins_at_the_first_step():
    scene, made = trail(seconds=None)
    made.move(moment_at(scene, 1.0, last=29))
    assert made.artist.get_segments()[0][0].tolist() == [0.0, 0.0]
    assert len(made.artist.get_segments()) == 20


def test_signals_change_their_state():
    scene = one_car()
    state = np.full((1, 30), SignalState.STOP, np.int8)
    state[0, 15:] = SignalState.GO
    signals = Signals(lane=np.array([0]), state=state, stop_point=np.array([[12.0, 1.0, 0.0]]))
    road = make_map([(MapKind.LANE, [(0.0, 0.0), (30.0, 0.0)])])
    scene = make_scene(scene.tracks, 10, map=road, signals=signals)
    contents = contents_of(scene, [], "scored", None)
    ax = Picture().add_axes((0, 0, 1, 1))
    made = MovingSignals(ax, contents, Window(12.0, 0.0, 40.0, 40.0), LIGHT)
    stop, _, go, _ = made.artists
    made.move(moment_at(scene, 0.0, last=29))
    assert (len(stop.get_offsets()), len(go.get_offsets())) == (1, 0)
    made.move(moment_at(scene, 0.5, last=29))
    assert (len(stop.get_offsets()), len(go.get_offsets())) == (0, 1)
    moments = [moment_at(scene, s, last=29) for s in (0.0, 0.5)]
    assert [entry.get_label() for entry in made.entries(moments)] == ["red light", "green light"]


def test_the_palette_keeps_frequent_colours_exactly_and_the_others_nearly():
    rng = np.random.default_rng(0)
    frame = np.full((100, 100, 3), 255, np.uint8)
    frame[:30] = (214, 57, 11)
    frame[60:70, :60] = rng.integers(0, 256, (10, 60, 3))
    image = np.array(Palette([frame]).image(frame).convert("RGB"))
    assert (image[:30] == (214, 57, 11)).all()
    assert (image[80:] == 255).all()
    assert np.abs(image.astype(int) - frame).max() < 64


def test_the_gif_of_a_crossing_is_small(fan, tmp_path):
    scene = crossing_scene()
    path = animate(scene, fan(scene), tmp_path / "a.gif")
    assert path.stat().st_size < 3e6


def test_a_failed_animation_leaves_the_old_file_and_nothing_half_written(tmp_path, monkeypatch):
    path = tmp_path / "a.gif"
    path.write_bytes(b"before")
    calls = []
    whole = stage.Stage.frame

    def failing(self):
        calls.append(1)
        if len(calls) > 6:
            raise OSError("no space left on device")
        return whole(self)

    monkeypatch.setattr(stage.Stage, "frame", failing)
    with pytest.raises(OSError, match="no space left"):
        animate(one_car(), None, path)
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.gif"]


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("a.avi", {}, ".gif"),
        ("a.gif", {"fps": 0}, "fps"),
        ("a.gif", {"fps": 90}, "fps"),
        ("a.gif", {"speed": 0}, "speed"),
        ("a.gif", {"past": -1}, "past"),
        ("a.gif", {"dpi": 0}, "dpi"),
        ("a.gif", {"columns": 0}, "columns"),
    ],
)
def test_what_cannot_be_made_is_refused_before_any_work(tmp_path, name, options, word):
    with pytest.raises(ConfigError, match=word):
        animate(one_car(), None, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_without_ffmpeg_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ConfigError, match=r"motionpred\[video\]"):
        animate(one_car(), None, tmp_path / "a.mp4")


def test_an_mp4_file_has_the_same_frames_with_pauses_made_of_repeats(fan, tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="needs the extra video")
    scene = one_car()
    path = animate(scene, fan(scene, steps=10), tmp_path / "a.mp4", radius=20.0)
    reader = imageio_ffmpeg.read_frames(str(path))
    width, height = next(reader)["size"]
    shown = [np.frombuffer(raw, np.uint8).reshape(height, width, 3) for raw in reader]
    assert len(shown) == 21 + 6 + 15
    assert width % 2 == height % 2 == 0
    gif = frames(animate(scene, fan(scene, steps=10), tmp_path / "a.gif", radius=20.0))
    assert np.abs(shown[5].astype(int) - gif[5][:height, :width]).mean() < 3
    assert np.abs(shown[-1].astype(int) - gif[-1][:height, :width]).mean() < 3


def test_when_ffmpeg_fails_its_reason_is_given_and_no_file_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(movie_files, "_ffmpeg", lambda: sys.executable)  # knows no such options
    with pytest.raises(MotionpredError, match="ffmpeg failed"):
        animate(one_car(), None, tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_real_scenes_make_small_files_in_seconds(fan, argoverse2_root, tmp_path):
    from motionpred.datasets.adapter import get_adapter

    adapter = get_adapter("argoverse2")
    seconds = []
    for source in adapter.find(argoverse2_root)[::2]:
        for scene in adapter.read(source):
            begin = time.process_time()
            path = animate(scene, fan(scene), tmp_path / f"{scene.scene_id}.gif")
            seconds.append(time.process_time() - begin)
            assert path.stat().st_size < 3e6
    assert np.median(seconds) < 8
