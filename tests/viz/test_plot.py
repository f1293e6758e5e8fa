"""What the picture of a scene and its forecasts shows."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace

import matplotlib
import matplotlib.image
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import motionpred
from motionpred.errors import ConfigError, SceneError, StoreError
from motionpred.scene import AgentType, RoadMap, Role, Scene
from motionpred.testing import crossing_scene, make_scene, make_tracks
from motionpred.viz import DARK, LIGHT, plot, plot_grid
from motionpred.viz.frame import bar_length
from motionpred.viz.labels import Placement
from motionpred.viz.style import opacity
from motionpred.viz.window import Window


def drawn(figure, gid):
    """The artists of the first axes that carry the name ``gid``."""
    return [artist for artist in figure.axes[0].get_children() if artist.get_gid() == gid]


def futures(figure):
    """Every drawn future: its points and its colour with opacity."""
    found = []
    for gid in ("forecast", "most probable forecast"):
        for lines in drawn(figure, gid):
            found += zip(lines.get_segments(), lines.get_colors(), strict=True)
    return found


def legend(figure):
    return [text.get_text() for text in figure.axes[-1].get_legend().get_texts() if text.get_text()]


def texts(figure, gid):
    return [text.get_text() for text in drawn(figure, gid)]


def one_car(size=((4.8, 2.0, 1.6),), **options) -> Scene:
    position = np.stack([np.arange(30.0), np.zeros(30)], -1)[None]
    return make_scene(make_tracks(position, size=size, roles=[Role.SCORED], **options), 10)


def test_every_target_has_as_many_futures_as_the_forecast_has_modes(fan):
    scene = crossing_scene()
    prediction = fan(scene)
    assert len(futures(plot(scene, prediction))) == 6 * len(prediction.track_id)
    assert len(futures(plot(scene, prediction, agents=["101", "102"]))) == 12
    assert len(futures(plot(scene, prediction, mode=2))) == len(prediction.track_id)
    assert futures(plot(scene)) == []


def test_a_future_starts_at_the_agent_and_ends_where_the_forecast_ends(fan):
    scene = crossing_scene()
    prediction = fan(scene)
    [(path, _)] = futures(plot(scene, prediction, agents=["102"], mode=3))
    agent = prediction.track_id.tolist().index("102")
    row = scene.tracks.track_id.tolist().index("102")
    assert np.allclose(path[0], scene.tracks.position[row, scene.now, :2])
    assert np.allclose(path[1:], prediction.position[3, agent])


def test_a_joint_mode_has_one_colour_and_opacity_across_agents_that_falls_with_probability(fan):
    scene = crossing_scene()
    prediction = fan(scene)
    ends = prediction.position[:, :, -1]
    looks = {k: set() for k in range(6)}
    for path, color in futures(plot(scene, prediction)):
        same = np.argwhere(np.linalg.norm(ends - path[-1], axis=-1) < 1e-9)
        if len(same) == 1:  # an agent at rest has several futures in one place
            looks[int(same[0, 0])].add(tuple(np.round(color, 6)))
    assert all(len(look) == 1 for look in looks.values())
    colors = [next(iter(look)) for look in looks.values()]
    assert len({color[:3] for color in colors}) == 6
    alpha = [color[3] for color in colors]
    assert alpha[0] == 1.0
    assert alpha == sorted(alpha, reverse=True)
    assert len(set(alpha)) == 6


def test_a_marginal_future_has_the_opacity_of_its_own_agents_probability(fan):
    scene = crossing_scene()
    prediction = fan(scene, joint=False).select(["101"])
    alpha = {tuple(path[-1]): color[3] for path, color in futures(plot(scene, prediction))}
    by_probability = np.argsort(prediction.probability[0])
    ordered = [alpha[tuple(prediction.position[k, 0, -1])] for k in by_probability]
    assert ordered == sorted(ordered)
    assert ordered[-1] == 1.0


def test_opacity_is_even_where_all_modes_are_equally_probable_or_impossible():
    assert opacity([0.25] * 4).tolist() == [1.0] * 4
    assert opacity([0.0, 0.0]).tolist() == [1.0, 1.0]


def test_the_most_probable_future_is_the_widest_and_on_top(fan):
    scene = crossing_scene()
    figure = plot(scene, fan(scene))
    [others], [top] = drawn(figure, "forecast"), drawn(figure, "most probable forecast")
    assert min(top.get_linewidths()) > max(others.get_linewidths())
    assert top.get_zorder() > others.get_zorder()
    assert len(top.get_segments()) == 4


def test_several_forecasts_have_a_hue_and_a_legend_entry_each(fan):
    scene = crossing_scene()
    figure = plot(scene, [fan(scene, source="one"), fan(scene, source="two")])
    assert {tuple(color[:3]) for _, color in futures(figure)} == {
        to_rgb(color) for color in LIGHT.forecasts[:2]
    }
    assert {"one", "two"} <= set(legend(figure))
    named = plot(scene, {"mine": fan(scene), "theirs": fan(scene)})
    assert {"mine", "theirs"} <= set(legend(named))


def test_forecasts_of_one_source_are_told_apart_by_number(fan):
    scene = crossing_scene()
    assert {"fan (1)", "fan (2)"} <= set(legend(plot(scene, [fan(scene), fan(scene)])))


def test_the_legend_tells_what_is_drawn_and_nothing_else(fan):
    scene = crossing_scene()
    full = legend(plot(scene, fan(scene)))
    assert {"ego", "focal agent", "target", "other agent", "assumed size"} <= set(full)
    assert {"history", "truth", "mode 1 (0.30)", "mode 6 (0.10)"} <= set(full)
    bare = legend(plot(scene, history=False, truth=False))
    assert not {"history", "truth", "mode 1 (0.30)"} & set(bare)
    assert plot(scene, legend=False).axes[0].get_legend() is None


def test_a_box_of_assumed_size_is_dashed_and_a_recorded_one_is_not():
    def styles(scene):
        outlines = drawn(plot(scene), "target") + drawn(plot(scene), "target, assumed size")
        return [dashes for artist in outlines for _, dashes in artist.get_linestyle()]

    assert [dashes is not None for dashes in styles(one_car(size=None))] == [True]
    assert [dashes is not None for dashes in styles(one_car())] == [False]


def test_a_box_has_the_recorded_size_and_heading():
    [box] = drawn(plot(one_car()), "target")
    corners = box.get_paths()[0].vertices[:4]
    assert np.ptp(corners[:, 0]) == pytest.approx(4.8)
    assert np.ptp(corners[:, 1]) == pytest.approx(2.0)


def test_a_pedestrian_is_round():
    figure = plot(one_car(type=[AgentType.PEDESTRIAN], size=[(0.8, 0.8, 1.7)]))
    assert len(drawn(figure, "target")[0].get_paths()[0].vertices) > 20
    assert drawn(figure, "heading") == []


def test_ego_focal_and_targets_are_named_and_context_is_not(fan):
    scene = crossing_scene()
    assert sorted(texts(plot(scene, fan(scene)), "track id")) == ["101", "102", "103", "104", "ego"]


def test_names_cover_neither_one_another_nor_a_crowded_place():
    window = Window(0.0, 0.0, 100.0, 100.0, scale=5.0)
    crowd = np.stack([np.linspace(1, 20, 200), np.zeros(200)], -1)
    placement = Placement(window, crowd)
    places = [placement.place("12345", np.zeros(2), np.ones(2), 7.0) for _ in range(40)]
    found = [place for place in places if place is not None]
    assert 1 < len(found) < 40
    half_width, half_height = 5 * 0.62 * 7 / 5 / 2, 1.15 * 7 / 5 / 2
    for i, a in enumerate(found):
        for b in found[:i]:
            assert abs(a[0] - b[0]) >= 2 * half_width or abs(a[1] - b[1]) >= 2 * half_height
    assert not ((found[0][0] > 0) and abs(found[0][1]) < half_height)


def test_the_truth_stops_at_the_horizon_of_the_forecast(fan):
    scene = crossing_scene()
    [long] = drawn(plot(scene, agents=["101"]), "truth")
    [short] = drawn(plot(scene, fan(scene, steps=20), agents=["101"]), "truth")
    assert len(long.get_segments()[0]) == 61
    assert len(short.get_segments()[0]) == 21


def test_a_gap_in_a_track_stays_a_gap():
    position = np.stack([np.arange(30.0), np.zeros(30)], -1)[None]
    valid = np.ones((1, 30), bool)
    valid[0, [4, 20]] = False
    scene = make_scene(make_tracks(position, valid=valid), 10)
    figure = plot(scene, center=(15.0, 0.0), radius=20.0)
    past = np.array(drawn(figure, "history")[0].get_segments())
    assert np.allclose(np.linalg.norm(past[:, 1] - past[:, 0], axis=1), 1.0)
    assert len(past) == 8
    assert [len(run) for run in drawn(figure, "truth")[0].get_segments()] == [10, 9]


def test_history_fades_with_age():
    [past] = drawn(plot(one_car()), "history")
    alpha = past.get_colors()[:, 3]
    assert (np.diff(alpha) > 0).all()


def test_a_scene_that_ends_now_is_drawn_without_truth(fan):
    scene = crossing_scene()
    figure = plot(scene.observed(), fan(scene))
    assert drawn(figure, "truth") == []
    assert "truth" not in legend(figure)
    assert len(futures(figure)) == 24


def test_a_scene_without_a_map_without_targets_or_without_anyone_is_drawn(fan):
    scene = crossing_scene()
    bare = replace(scene, map=RoadMap.empty())
    assert len(futures(plot(bare, fan(bare)))) == 24
    roles = np.zeros_like(scene.tracks.roles)
    assert len(plot(replace(scene, tracks=replace(scene.tracks, roles=roles))).axes) == 1
    nobody = replace(scene, tracks=scene.tracks.take(np.zeros(0, np.int64)))
    for empty in (nobody, replace(nobody, map=RoadMap.empty())):
        image = picture_of(plot(empty))
        assert image.shape[2] == 4


def test_scored_means_the_forecast_agents_where_a_scene_scores_nobody(fan):
    scene = crossing_scene()
    prediction = fan(scene).select(["103"])
    roles = np.zeros_like(scene.tracks.roles)
    unscored = replace(scene, tracks=replace(scene.tracks, roles=roles))
    assert len(futures(plot(unscored, prediction))) == 6


def test_the_window_holds_the_targets_and_their_futures(fan):
    scene = crossing_scene()
    prediction = fan(scene)
    ax = plot(scene, prediction).axes[0]
    (low_x, high_x), (low_y, high_y) = ax.get_xlim(), ax.get_ylim()
    x, y = prediction.position[..., 0], prediction.position[..., 1]
    assert ((x > low_x) & (x < high_x) & (y > low_y) & (y < high_y)).all()
    assert ax.get_aspect() == 1.0


def test_a_forecast_without_a_step_or_an_agent_draws_no_future(fan):
    scene = crossing_scene()
    for empty in (fan(scene, steps=0), fan(scene).select([])):
        for options in ({}, {"truth": False, "agents": "all"}):
            assert futures(plot(scene, empty, **options)) == []


def test_center_and_radius_set_the_window(fan):
    scene = crossing_scene()
    for center in ((3000.0, 1500.0), "102"):
        ax = plot(scene, fan(scene), center=center, radius=25.0).axes[0]
        assert np.ptp(ax.get_xlim()) == pytest.approx(50.0)
        assert np.ptp(ax.get_ylim()) == pytest.approx(50.0)
    row = scene.tracks.track_id.tolist().index("102")
    assert np.mean(ax.get_xlim()) == pytest.approx(scene.tracks.position[row, scene.now, 0])


def test_a_metre_is_as_long_on_paper_as_the_scale_bar_says(fan):
    scene = crossing_scene()
    figure = plot(scene, fan(scene))
    [bar] = [artist for artist in drawn(figure, "scale bar") if hasattr(artist, "get_xdata")]
    [label] = [artist for artist in drawn(figure, "scale bar") if hasattr(artist, "get_text")]
    assert label.get_text() == f"{np.ptp(bar.get_xdata()):g} m"
    ax = figure.axes[0]
    figure.canvas.draw()
    ends = ax.transData.transform([(3000, 1500), (3010, 1500), (3000, 1510)])
    assert ends[1, 0] - ends[0, 0] == pytest.approx(ends[2, 1] - ends[0, 1])


@pytest.mark.parametrize(("width", "length"), [(40, 5), (60, 10), (100, 20), (250, 50), (3, 0.5)])
def test_the_scale_bar_has_a_round_length(width, length):
    assert bar_length(width) == pytest.approx(length)


def test_the_title_says_which_scene_which_model_and_how_many_modes(fan):
    scene = crossing_scene()
    figure = plot(scene, fan(scene))
    assert texts(figure, "title") == ["crossing"]
    [subtitle] = texts(figure, "subtitle")
    for fact in ("argoverse2", "austin", "train", "fan, joint, K = 6, 6 s"):
        assert fact in subtitle
    assert texts(plot(scene, title="mine"), "title") == ["mine"]


def picture_of(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=60)
    return matplotlib.image.imread(io.BytesIO(buffer.getvalue()))


def test_a_notebook_gets_a_png_of_many_colours(fan, count_colors):
    scene = crossing_scene()
    data = motionpred.plot(scene, fan(scene))._repr_png_()
    image = matplotlib.image.imread(io.BytesIO(data))
    assert count_colors(image) > 100


def test_a_theme_colours_the_page_and_an_unknown_one_is_refused(fan):
    scene = crossing_scene()
    assert np.allclose(
        picture_of(plot(scene, theme="dark"))[0, 0, :3], to_rgb(DARK.background), atol=0.01
    )
    with pytest.raises(ConfigError, match="Did you mean 'dark'"):
        plot(scene, theme="drak")


def test_pyplot_holds_no_figure_and_no_backend_is_chosen(fan):
    import matplotlib.pyplot as plt

    scene = crossing_scene()
    before = matplotlib.get_backend(auto_select=False)
    plot(scene, fan(scene))
    plot_grid(scene, {"a": fan(scene), "b": fan(scene)})
    assert plt.get_fignums() == []
    assert matplotlib.get_backend(auto_select=False) == before


def test_importing_the_room_loads_no_matplotlib():
    code = "import sys, motionpred.viz; print('matplotlib' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_picture_goes_into_axes_that_the_caller_made(fan):
    scene = crossing_scene()
    figure = Figure(figsize=(8, 4))
    left, right = figure.subplots(1, 2)
    assert plot(scene, fan(scene), ax=right) is figure
    assert not left.collections
    assert right.collections


def test_a_forecast_of_another_scene_is_refused(fan):
    scene = crossing_scene()
    with pytest.raises(SceneError, match="is of scene 'other'"):
        plot(scene, fan(crossing_scene("other")))


def test_a_forecast_of_an_unknown_track_is_refused(fan):
    scene = crossing_scene()
    stranger = replace(fan(scene), track_id=np.array(["101", "102", "103", "999"]))
    with pytest.raises(SceneError, match="'999', which the scene does not have"):
        plot(scene, stranger)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": 6}, "no mode 6"),
        ({"agents": "scorde"}, "Did you mean 'scored'"),
        ({"agents": ["1O1"]}, "no track '1O1'"),
        ({"center": "999"}, "no track '999'"),
        ({"radius": 0.0}, "field=radius"),
    ],
)
def test_an_option_that_does_not_exist_is_refused(fan, options, message):
    scene = crossing_scene()
    with pytest.raises(ConfigError, match=message):
        plot(scene, fan(scene), **options)


def test_a_forecast_file_stands_for_its_forecast_of_the_scene(fan, tmp_path):
    scene, other = crossing_scene("here", seed=1), crossing_scene("there")
    fan(scene).save(tmp_path / "f.parquet")
    assert len(futures(plot(scene, tmp_path / "f.parquet"))) == 24
    with pytest.raises(StoreError, match=r"no forecast of this scene \[file=.*scene=there"):
        plot(other, tmp_path / "f.parquet")


def test_a_grid_shows_each_forecast_in_one_window(fan):
    scene = crossing_scene()
    figure = plot_grid(scene, {"a": fan(scene), "b": fan(scene, joint=False), "c": fan(scene)})
    assert len(figure.axes) == 3
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    titles = [t.get_text() for ax in figure.axes for t in ax.texts if t.get_gid() == "title"]
    assert titles == ["a", "b", "c"]
    boxes = [ax.get_position() for ax in figure.axes]
    assert all(not a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    [legend_axes] = [ax for ax in figure.axes if ax.get_legend()]
    labels = [text.get_text() for text in legend_axes.get_legend().get_texts()]
    assert {"mode 1", "futures", "truth"} <= set(labels)
    with pytest.raises(ConfigError, match="field=forecasts"):
        plot_grid(scene, {})
