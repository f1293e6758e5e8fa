"""``joint`` on scenes: two sets of names, plausibility, likelihood, calibration, counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.errors import ConfigError, SceneError
from motionpred.metrics import evaluate, get_protocol
from motionpred.prediction import Prediction
from motionpred.scene import AgentType, MapKind, Role
from motionpred.testing import make_map, make_scene, make_tracks

ROAD = [(MapKind.DRIVABLE_AREA, [(-50, -5), (50, -5), (50, 5), (-50, 5)])]


def _scene(truth, now=0, dt=0.5, road=(), **tracks):
    """A scene whose agents have ``truth`` [A, 1 + N, 2] from now on."""
    made = make_tracks(np.asarray(truth, float), dt=dt, **tracks)
    return make_scene(made, now, dt=dt, map=make_map(road) if road else None, scene_id="s")


def _forecast(scene, position, probability=None, joint=True, **fields):
    position = np.asarray(position, float)
    modes = len(position)
    if probability is None:
        probability = np.full(modes if joint else (position.shape[1], modes), 1 / modes)
    return Prediction(
        scene_id="s",
        track_id=scene.tracks.track_id,
        time=scene.dt * np.arange(1, position.shape[2] + 1),
        position=position,
        probability=np.asarray(probability, float),
        joint=joint,
        **fields,
    )


def _report(scene, forecast, **options):
    return evaluate(get_protocol("joint")(**options), [(scene, forecast)])


def _names(report):
    return {figure.metric for figure in report.figures}


def _figure(report, metric):
    return next(f for f in report.figures if f.metric == metric)


def _straight(y, speed=2.0, steps=4, dt=0.5):
    """From x = 0 along x: now and ``steps`` more."""
    return [(speed * dt * t, y) for t in range(steps + 1)]


def test_a_joint_forecast_has_both_sets_under_different_names():
    scene = _scene([_straight(0), _straight(4)])
    report = _report(scene, _forecast(scene, [[_straight(0)[1:], _straight(4)[1:]]]))
    joint = {"minADE", "minFDE", "MR", "overlap", "off-road", "kinematic", "ECE"}
    assert _names(report) == joint | {f"marginal {m}" for m in ("minADE", "minFDE", "MR", "ECE")}


def test_a_marginal_forecast_has_marginal_names_only():
    scene = _scene([_straight(0), _straight(4)])
    forecast = _forecast(scene, [[_straight(0)[1:], _straight(4)[1:]]], joint=False)
    report = _report(scene, forecast)
    assert _names(report)
    assert all(name.startswith("marginal ") for name in _names(report))
    assert report.notes["marginal_forecasts"] == 1


def test_the_marginal_set_of_a_joint_forecast_is_that_of_its_marginal_view():
    rng = np.random.default_rng(0)
    scene = _scene(rng.normal(size=(3, 5, 2)))
    joint = _forecast(scene, rng.normal(size=(4, 3, 4, 2)), [0.4, 0.3, 0.2, 0.1])
    both, alone = _report(scene, joint), _report(scene, joint.marginal())
    for metric in ("minADE", "minFDE", "MR"):
        for k in (1, 6):
            name = f"marginal {metric}"
            assert both.value(name, k) == alone.value(name, k)
    assert both.value("off-road", 1) is not None
    assert both.value("kinematic", 1) == alone.value("marginal kinematic", 1)


def test_figures_come_from_the_k_most_probable_modes():
    scene = _scene([[(0, 0), (0, 0)]])
    modes = [[[(x, 0.0)]] for x in (7, 6, 5, 4, 3, 2, 1)]
    report = _report(scene, _forecast(scene, modes, [0.1, 0.4, 0.1, 0.1, 0.1, 0.1, 0.1]))
    assert report.value("minFDE", 1) == 6.0
    assert report.value("minFDE", 6) == 2.0  # the seventh, equally probable, comes too late


def test_only_scored_agents_that_are_there_now_and_can_move_count():
    truth = np.zeros((4, 2, 2))
    scene = _scene(
        truth,
        roles=[Role.SCORED, Role.UNSCORED, Role.SCORED, Role.SCORED],
        type=[AgentType.VEHICLE, AgentType.VEHICLE, AgentType.STATIC, AgentType.VEHICLE],
        valid=[[True, True]] * 3 + [[False, True]],
    )
    off = [[[(1.0, 0)], [(50, 0)], [(60, 0)], [(70, 0)]]]
    report = _report(scene, _forecast(scene, off))
    assert report.value("minFDE", 6) == 1.0
    assert _figure(report, "MR").n == _figure(report, "overlap").n == 1
    assert report.notes["targets_absent_at_now"] == 1


def test_agents_of_no_interest_in_a_forecast_change_no_figure():
    truth = [_straight(0), _straight(0.5)]
    scene = _scene(truth, roles=[Role.SCORED, Role.UNSCORED])
    everyone = _forecast(scene, [[t[1:] for t in truth]])
    scored = everyone.select([scene.tracks.track_id[0]])
    assert _report(scene, everyone) == _report(scene, scored)
    assert _report(scene, everyone).value("overlap", 1) == 0.0


# --- overlap -----------------------------------------------------------------------------------


def test_overlap_is_the_share_of_agents_whose_boxes_meet_in_the_most_probable_mode():
    scene = _scene([_straight(0), _straight(4), _straight(8)], size=[(4, 2)] * 3)
    meet = [_straight(0)[1:], _straight(1)[1:], _straight(8)[1:]]
    apart = [_straight(0)[1:], _straight(4)[1:], _straight(8)[1:]]
    first = _report(scene, _forecast(scene, [meet, apart], [0.6, 0.4]))
    assert first.value("overlap", 1) == pytest.approx(2 / 3)
    second = _report(scene, _forecast(scene, [meet, apart], [0.4, 0.6]))
    assert second.value("overlap", 1) == 0.0
    assert "assumed_boxes" not in first.notes


def test_a_pair_that_overlaps_in_the_truth_is_left_out_and_counted():
    truth = [_straight(0), _straight(1), _straight(8)]
    scene = _scene(truth, size=[(4, 2)] * 3)
    report = _report(scene, _forecast(scene, [[t[1:] for t in truth]]))
    assert report.value("overlap", 1) == 0.0
    assert report.notes["pairs_overlapping_in_truth"] == 1
    meets_another = [_straight(0)[1:], _straight(1)[1:], _straight(1.5)[1:]]
    again = _report(scene, _forecast(scene, [meets_another]))
    assert again.value("overlap", 1) == 1.0


def test_a_given_heading_turns_the_boxes():
    scene = _scene([_straight(0), _straight(2.8)], size=[(4, 2)] * 2)
    path = [[_straight(0)[1:], _straight(2.8)[1:]]]
    along = np.zeros((1, 2, 4))
    across = np.stack([np.zeros((1, 4)), np.full((1, 4), np.pi / 2)], 1)
    assert _report(scene, _forecast(scene, path)).value("overlap", 1) == 0.0
    assert _report(scene, _forecast(scene, path, heading=along)).value("overlap", 1) == 0.0
    assert _report(scene, _forecast(scene, path, heading=across)).value("overlap", 1) == 1.0


def test_a_box_without_a_heading_points_along_the_first_displacement_and_is_counted():
    # Northbound, 2.5 m apart: boxes along x, 4 m long, would meet in forecast and truth.
    truth = [[(x, 2.0 * t) for t in range(5)] for x in (0.0, 2.5)]
    scene = _scene(truth, size=[(4, 2)] * 2)  # derived: no heading at now
    late = [[(x, 2.0 * max(t - 1, 0)) for t in range(1, 5)] for x in (0.0, 2.5)]
    report = _report(scene, _forecast(scene, [late]))
    assert report.value("overlap", 1) == 0.0
    assert report.notes["assumed_headings"] == 2
    assert "pairs_overlapping_in_truth" not in report.notes
    given = _scene(truth, size=[(4, 2)] * 2, heading=np.full((2, 5), np.pi / 2))
    assert "assumed_headings" not in _report(given, _forecast(given, [late])).notes


# --- road, motion ------------------------------------------------------------------------------


def test_off_road_is_the_share_of_vehicles_that_leave_the_drivable_area():
    scene = _scene(
        [_straight(0), _straight(3), _straight(-3), _straight(7)],
        road=ROAD,
        type=[AgentType.VEHICLE, AgentType.BUS, AgentType.PEDESTRIAN, AgentType.VEHICLE],
    )
    out = [(1, 1), (2, 6), (3, 1), (4, 1)]
    stay = [(1, 1), (2, 2), (3, 1), (4, 1)]
    report = _report(scene, _forecast(scene, [[out, stay, out, out]]))
    figure = _figure(report, "off-road")
    assert (figure.value, figure.n, figure.agents) == (0.5, 2, "scored vehicles")
    assert report.notes["vehicles_off_road_at_now"] == 1


def test_a_scene_without_drivable_area_is_not_counted_as_on_the_road():
    scene = _scene([_straight(0)])
    report = _report(scene, _forecast(scene, [[_straight(0)[1:]]]))
    assert np.isnan(report.value("off-road", 1))
    assert _figure(report, "off-road").n == 0
    assert report.notes["scenes_without_drivable_area"] == 1


def test_kinematic_is_the_share_of_steps_that_are_too_hard():
    scene = _scene([_straight(0), _straight(9)])
    jump = [(1, 9), (2, 9), (7, 9), (8, 9)]
    report = _report(scene, _forecast(scene, [[_straight(0)[1:], jump]]))
    figure = _figure(report, "kinematic")
    assert (figure.value, figure.n, figure.over) == (2 / 6, 6, "steps")


# --- likelihood, calibration -------------------------------------------------------------------


def test_likelihood_is_reported_where_a_scale_is_given():
    scene = _scene([_straight(0)], heading=np.zeros((1, 5)))
    path = np.array([[_straight(0)[1:]]], float)
    report = _report(scene, _forecast(scene, path, scale=np.full((1, 1, 4, 2), 0.5)))
    assert report.value("NLL", 6) == pytest.approx(0.0)  # 2 log(2 * 0.5)
    assert _figure(report, "NLL").n == 4
    assert "NLL" not in _names(_report(scene, _forecast(scene, path)))
    marginal = _forecast(scene, path, joint=False, scale=np.full((1, 1, 4, 2), 0.5))
    assert _report(scene, marginal).value("marginal NLL", 6) == pytest.approx(0.0)


def test_likelihood_runs_over_the_valid_steps():
    scene = _scene(
        [_straight(0)], valid=[[True, True, False, True, False]], heading=np.zeros((1, 5))
    )
    path = np.array([[_straight(0)[1:]]], float)
    report = _report(scene, _forecast(scene, path, scale=np.full((1, 1, 4, 2), 0.5)))
    assert _figure(report, "NLL").n == 2


def test_likelihood_leaves_out_agents_whose_own_frame_nobody_recorded():
    truth = [_straight(0), _straight(4)]
    scene = _scene(truth, heading=np.zeros((2, 5)))
    known = np.array([[True] * 5, [False] + [True] * 4])
    scene = replace(scene, tracks=replace(scene.tracks, heading_valid=known)).validate()
    path = np.array([[t[1:] for t in truth]], float)
    report = _report(scene, _forecast(scene, path, scale=np.full((1, 2, 4, 2), 0.5)))
    assert _figure(report, "NLL").n == 4
    assert report.notes["targets_without_heading_at_now"] == 1


def test_a_scale_that_is_not_positive_is_refused():
    scene = _scene([_straight(0)])
    path = np.array([[_straight(0)[1:]]], float)
    with pytest.raises(SceneError, match=r"above 0 \[scene=s, field=prediction.scale"):
        _report(scene, _forecast(scene, path, scale=np.zeros((1, 1, 4, 2))))


def test_calibration_asks_whether_the_closest_mode_was_called_so():
    scene = _scene([[(0, 0), (0, 0)], [(0, 0), (0, 0)]])
    modes = [[[(0, 0)], [(5, 0)]], [[(4, 0)], [(4, 0)]]]
    report = _report(scene, _forecast(scene, modes, [0.95, 0.05]))
    assert report.value("ECE", 6) == pytest.approx(0.05)  # the first mode wins the scene
    assert _figure(report, "ECE").n == 2
    # The agents' own winners are the first and the second mode.
    assert report.value("marginal ECE", 6) == pytest.approx(0.45)
    assert _figure(report, "marginal ECE").n == 4


# --- horizon -----------------------------------------------------------------------------------


def test_a_shorter_forecast_is_scored_over_its_own_horizon():
    scene = _scene([_straight(0)])
    report = _report(scene, _forecast(scene, [[[(1, 0), (2, 3)]]]))
    assert report.value("minFDE", 6) == 3.0
    assert {figure.horizon for figure in report.figures} == {1.0}


def test_horizon_scores_the_first_seconds():
    scene = _scene([_straight(0)])
    forecast = _forecast(scene, [[[(1, 0), (2, 3), (9, 9), (9, 9)]]])
    report = _report(scene, forecast, horizon=1.0)
    assert report.value("minFDE", 6) == 3.0
    assert {figure.horizon for figure in report.figures} == {1.0}
    with pytest.raises(SceneError, match=r"no point 3 s after now, it goes on for 2 s"):
        _report(scene, forecast, horizon=3.0)
    with pytest.raises(ConfigError, match="horizon"):
        get_protocol("joint")(horizon=0.0)


def test_figures_of_different_horizons_are_never_averaged():
    scene = _scene([_straight(0)])
    other = replace(scene, scene_id="t")
    short = _forecast(scene, [[[(1, 0), (2, 3)]]])
    long = replace(_forecast(scene, [[_straight(0)[1:]]]), scene_id="t")
    with pytest.raises(SceneError, match=r"over 2 s, and scene s over 1 s"):
        evaluate(get_protocol("joint")(), [(scene, short), (other, long)])


def test_nothing_to_score_is_a_report_of_no_scenes():
    scene = _scene([_straight(0)], valid=[[True, False, False, False, False]])
    lively = _scene(
        [_straight(0), _straight(4)],
        roles=[Role.SCORED, Role.UNSCORED],
        valid=[[True, False, False, False, False], [True] * 5],
    )
    empty = _report(scene, _forecast(scene, [[_straight(0)[1:]]]))
    assert (empty.scenes, empty.without_truth, empty.figures) == (0, 1, ())
    report = _report(lively, _forecast(lively, [[_straight(0)[1:], _straight(4)[1:]]]))
    assert report.scenes == 0
    assert report.notes == {"scenes_without_target_truth": 1}


def test_rigid_motion_of_scene_and_forecast_changes_no_figure():
    rng = np.random.default_rng(3)
    truth = np.cumsum(rng.normal(0, 1, (5, 13, 2)), axis=1)
    position = truth[None, :, 1:] + rng.normal(0, 1, (6, 5, 12, 2))
    scale = np.exp(rng.normal(size=(6, 5, 12, 2)))
    p = rng.dirichlet(np.ones(6))
    area = np.array([(-9, -9), (9, -9), (9, 9), (-9, 9)], float)

    def report(turn, shift):
        cos, sin = np.cos(turn), np.sin(turn)

        def move(points):
            return points @ np.array([[cos, sin], [-sin, cos]]) + shift

        scene = _scene(
            move(truth),
            road=[(MapKind.DRIVABLE_AREA, move(area))],
            heading=np.full((5, 13), turn),
        )
        return _report(scene, _forecast(scene, move(position), p, scale=scale))

    still, moved = report(0.0, np.zeros(2)), report(0.5, np.array([5000.0, -3000.0]))
    for before, after in zip(still.figures, moved.figures, strict=True):
        tolerance = 1e-6 if "NLL" in before.metric else 1e-9  # heading is stored in float32
        assert after.value == pytest.approx(before.value, rel=tolerance, nan_ok=True)
        assert after.n == before.n
