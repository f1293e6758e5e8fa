"""The road in a picture: what is drawn, how, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from motionpred.scene import MapKind, Marking, Signals, SignalState
from motionpred.testing import make_map, make_scene, make_tracks
from motionpred.viz import LIGHT, plot
from motionpred.viz.map_layer import zebra


def scene_with(polylines, signals=None, **attributes):
    """A car at rest at the origin and a map; the window is 40 m across."""
    tracks = make_tracks(np.zeros((1, 5, 2)), heading=np.zeros((1, 5)))
    road = make_map(polylines, attributes=attributes)
    return make_scene(tracks, 4, map=road, signals=signals)


def drawn(scene, gid):
    ax = plot(scene, center=(0.0, 0.0), radius=20.0).axes[0]
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


def line(x):
    return [(x, -5.0), (x, 0.0), (x, 5.0)]


def test_polylines_outside_the_window_are_not_drawn():
    scene = scene_with([(MapKind.LANE, line(x)) for x in (-900.0, -10.0, 0.0, 21.0, 900.0)])
    [lanes] = drawn(scene, "lane")
    assert [segment[0, 0] for segment in lanes.get_segments()] == [-10.0, 0.0]


def test_a_polyline_that_crosses_the_window_without_a_point_in_it_is_drawn():
    scene = scene_with([(MapKind.LANE, [(-500.0, 1.0), (500.0, 1.0)])])
    assert len(drawn(scene, "lane")) == 1


def test_paint_is_drawn_by_its_marking():
    markings = [
        Marking.DASHED_WHITE,
        Marking.SOLID_WHITE,
        Marking.DOUBLE_SOLID_YELLOW,
        Marking.NONE,
    ]
    boundaries = [(MapKind.LANE_BOUNDARY, line(float(x))) for x in range(4)]
    look = {}
    for artist in drawn(scene_with(boundaries, marking=markings), "boundary"):
        for segment in artist.get_segments():
            dashed = artist.get_linestyle()[0][1] is not None
            look[int(segment[0, 0])] = (dashed, tuple(artist.get_colors()[0][:3]))
    assert look == {
        0: (True, to_rgb(LIGHT.boundary)),
        1: (False, to_rgb(LIGHT.boundary)),
        2: (False, to_rgb(LIGHT.yellow)),
    }


@pytest.mark.parametrize("ring", [1, -1], ids=["same way round", "other way round"])
def test_a_hole_of_a_drivable_area_is_left_open(ring):
    area = np.array([(-15, -15), (15, -15), (15, 15), (-15, 15)], float)
    hole = np.array([(5, 5), (10, 5), (10, 10), (5, 10)], float)[::ring]
    scene = scene_with(
        [(MapKind.DRIVABLE_AREA, area), (MapKind.DRIVABLE_AREA, hole)], hole_of=[-1, 0]
    )
    figure = plot(scene, center=(0.0, 0.0), radius=20.0)
    figure.set_dpi(50)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = np.asarray(canvas.buffer_rgba())[..., :3] / 255

    def color(x, y):
        column, row = figure.axes[0].transData.transform((x, y))
        return image[image.shape[0] - 1 - int(row), int(column)]

    assert np.allclose(color(12.5, 12.5), to_rgb(LIGHT.area), atol=0.01)
    assert np.allclose(color(7.5, 7.5), to_rgb(LIGHT.background), atol=0.01)


def test_the_bars_of_a_crosswalk_lie_inside_it_across_its_long_side():
    ring = np.array([(0, 0), (12, 0), (12, 3), (0, 3)], float)
    bars = zebra(ring)
    assert len(bars) == 10
    for bar in bars:
        assert np.ptp(bar[:, 0]) == pytest.approx(0.6)
        assert np.ptp(bar[:, 1]) == pytest.approx(3.0)
        assert (bar >= ring.min(axis=0) - 1e-9).all()
        assert (bar <= ring.max(axis=0) + 1e-9).all()


@pytest.mark.parametrize(
    "ring",
    [[(0, 0)], [(0, 0), (1, 1)], [(0, 0), (1, 1), (2, 2)], [(0, 0), (4, 4), (4, 0), (0, 4)]],
    ids=["point", "line", "flat", "crossing itself"],
)
def test_a_degenerate_crosswalk_draws_no_nonsense(ring):
    for bar in zebra(np.array(ring, float)):
        assert np.isfinite(bar).all()


def test_lane_arrows_are_sparse_and_point_along_the_lane():
    many = [(MapKind.LANE, [(-5.0, y), (5.0, y)]) for y in np.linspace(-1, 1, 50)]
    [arrows] = drawn(scene_with(many), "lane arrow")
    assert len(arrows.get_paths()) <= 4
    head = arrows.get_paths()[0].vertices[:3]
    assert head[0, 0] > head[1:, 0].max()


def test_a_signal_is_drawn_in_its_state_at_now_and_told_apart_without_colour():
    states = [SignalState.GO, SignalState.STOP, SignalState.CAUTION]
    history = np.array([[SignalState.STOP] * 4 + [state] for state in states], np.int8)
    points = np.array([(1.0, 0, 0), (2.0, 0, 0), (3.0, 0, 0)])
    scene = scene_with([(MapKind.LANE, line(0.0))], Signals(np.zeros(3, np.int64), history, points))
    marks = drawn(scene, "signal")
    assert len(marks) == 3
    assert len({tuple(mark.get_facecolor()[0]) for mark in marks}) == 3
    assert len({len(mark.get_paths()[0].vertices) for mark in marks}) == 3
    labels = [t.get_text() for t in plot(scene).axes[0].get_legend().get_texts()]
    assert {"green light", "red light", "amber light"} <= set(labels)


def test_every_kind_of_map_element_is_drawn():
    scene = scene_with([(kind, [(0, 0), (6, 0), (6, 3), (0, 3)]) for kind in MapKind])
    for gid in (
        "lane",
        "boundary",
        "road edge",
        "crosswalk",
        "drivable area",
        "stop line",
        "stop sign",
        "speed bump",
        "walkway",
    ):
        assert drawn(scene, gid), gid
