"""The Argoverse 2 benchmarks on scenes: who is scored, over what, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.errors import ConfigError, SceneError
from motionpred.metrics import evaluate, get_protocol
from motionpred.prediction import Prediction
from motionpred.scene import AgentType, Role
from motionpred.testing import crossing_scene, make_scene, make_tracks

FOCAL, SCORED, UNSCORED = Role.FOCAL | Role.SCORED, Role.SCORED, Role.UNSCORED


def _scene(truth, roles, scene_id="s", valid=None, now=0, dt=0.1):
    """A scene whose agents stand at the origin at now and then follow ``truth`` [A, N, 2]."""
    truth = np.asarray(truth, float)
    position = np.concatenate([np.zeros((len(truth), now + 1, 2)), truth], axis=1)
    if valid is not None:
        valid = np.concatenate([np.ones((len(truth), now + 1), bool), valid], axis=1)
    names = [f"t{i}" for i in range(len(truth))]
    tracks = make_tracks(position, roles=roles, track_id=names, valid=valid)
    return make_scene(tracks, now, scene_id=scene_id, dt=dt)


def _forecast(position, probability, scene_id="s", joint=True, tracks=None):
    position = np.asarray(position, float)
    names = [f"t{i}" for i in range(position.shape[1])] if tracks is None else tracks
    return Prediction(
        scene_id=scene_id,
        track_id=np.array(names, np.str_),
        time=0.1 * np.arange(1, position.shape[2] + 1),
        position=position,
        probability=np.asarray(probability, float),
        joint=joint,
    )


def _report(name, pairs, **options):
    return evaluate(get_protocol(name)(**options), pairs)


def _case_a():
    scene = _scene([[(1, 0), (2, 0)], [(9, 9), (9, 9)]], [FOCAL, SCORED])
    focal = [[(1, 0), (2, 3)], [(1, 1), (2, 1)], [(1, 0), (4, 0)]]
    other = [[(0, 0), (0, 0)]] * 3
    return scene, _forecast(np.stack([focal, other], 1), [0.5, 0.2, 0.3])


def test_single_scores_the_focal_track_alone():
    report = _report("argoverse2-single", [_case_a()])
    assert {f.metric: f.value for f in report.figures if f.k == 6} == pytest.approx(
        {"minADE": 1.0, "minFDE": 1.0, "MR": 0.0, "brier-minFDE": 1.64, "brier-minADE": 1.64}
    )
    assert {f.metric: f.value for f in report.figures if f.k == 1} == pytest.approx(
        {"minADE": 1.5, "minFDE": 3.0, "MR": 1.0, "brier-minFDE": 3.0, "brier-minADE": 1.5}
    )


def test_every_figure_says_protocol_k_horizon_agents_and_n():
    report = _report("argoverse2-single", [_case_a()])
    figure = report.figures[0]
    assert (report.protocol, figure.k, figure.horizon) == ("argoverse2-single", 1, 0.2)
    assert (figure.agents, figure.n, figure.over) == ("focal", 1, "agents")
    assert report.notes == {"forecasts_of_fewer_than_6_modes": 1}


def test_single_scores_a_joint_and_a_marginal_forecast_alike():
    scene, joint = _case_a()
    marginal = joint.marginal()
    assert (
        _report("argoverse2-single", [(scene, joint)]).figures
        == _report("argoverse2-single", [(scene, marginal)]).figures
    )


def test_single_uses_the_focal_track_s_own_probabilities():
    scene, joint = _case_a()
    own = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    marginal = replace(joint.marginal(), probability=own)
    report = _report("argoverse2-single", [(scene, marginal)])
    assert report.value("minFDE", 1) == 2.0
    assert report.value("brier-minFDE", 6) == pytest.approx(1.49)


def _case_b():
    scene = _scene([[(0, 0)], [(0, 0)]], [FOCAL, SCORED])
    worlds = [[[(0, 0)], [(0, 4)]], [[(3, 0)], [(0, 0)]]]
    return scene, _forecast(worlds, [0.6, 0.4])


def test_multi_takes_one_world_for_all_agents():
    report = _report("argoverse2-multi", [_case_b()])
    assert report.value("avgMinFDE", 6) == pytest.approx(1.5)
    assert report.value("avgBrierMinFDE", 6) == pytest.approx(1.86)
    assert report.value("actorMR", 6) == 0.5
    assert report.value("avgMinFDE", 1) == report.value("avgBrierMinFDE", 1) == 2.0


def test_case_e_actor_miss_rate_is_pooled_over_agents_or_over_scenes():
    one = _scene([[(0, 0)]], [FOCAL], "one")
    three = _scene([[(0, 0)]] * 3, [FOCAL, SCORED, SCORED], "three")
    pairs = [
        (one, _forecast([[[(4, 0)]], [[(1, 0)]]], [0.5, 0.5], "one")),
        (
            three,
            _forecast(
                [[[(0, 0)], [(3, 0)], [(3, 0)]], [[(3, 0)], [(0, 0)], [(3, 0)]]],
                [0.5, 0.5],
                "three",
            ),
        ),
    ]
    by_agent = _report("argoverse2-multi", pairs)
    assert by_agent.value("avgMinFDE", 6) == pytest.approx(1.5)
    assert by_agent.value("actorMR", 6) == pytest.approx(2 / 4)
    rate = next(f for f in by_agent.figures if f.metric == "actorMR")
    assert (rate.n, rate.over) == (4, "agents")
    by_scene = _report("argoverse2-multi", pairs, pooling="scenes")
    assert by_scene.value("actorMR", 6) == pytest.approx(1 / 3)
    assert by_scene.protocol == "argoverse2-multi (pooling=scenes)"


def test_a_figure_of_another_selection_rule_says_so_in_the_report_s_name():
    truth = np.zeros((2, 2, 2))
    worlds = [[[(5.0, 0), (0, 0)]] * 2, [[(0, 0), (1, 0)]] * 2]
    pair = (_scene(truth, [FOCAL, SCORED]), _forecast(worlds, [0.5, 0.5]))
    assert _report("argoverse2-multi", [pair]).value("avgMinADE", 6) == pytest.approx(2.5)
    own = _report("argoverse2-multi", [pair], select="own")
    assert own.value("avgMinADE", 6) == pytest.approx(0.5)
    assert own.protocol == "argoverse2-multi (select=own)"


def test_multi_refuses_a_marginal_forecast_and_says_what_to_do():
    scene, joint = _case_b()
    with pytest.raises(ConfigError, match=r"marginal.*not paired across agents.*joint modes"):
        get_protocol("argoverse2-multi")().score(scene, joint.marginal())


def test_targets_are_the_benchmark_s_lists():
    scene = _scene(np.zeros((4, 1, 2)), [FOCAL, SCORED, UNSCORED, Role.EGO | UNSCORED])
    assert get_protocol("argoverse2-single")().targets(scene).tolist() == [0]
    assert get_protocol("argoverse2-multi")().targets(scene).tolist() == [0, 1]


def test_an_incomplete_target_is_left_out_and_reported():
    valid = np.array([[True, True, True], [True, False, True]])
    scene = _scene(np.zeros((2, 3, 2)), [FOCAL, SCORED], valid=valid)
    forecast = _forecast([[[(1, 0)] * 3, [(50, 0)] * 3]], [1.0])
    report = _report("argoverse2-multi", [(scene, forecast)])
    assert report.value("avgMinFDE", 6) == 1.0
    assert report.notes["incomplete_targets"] == 1
    assert next(f.n for f in report.figures if f.metric == "actorMR") == 1


def test_a_scene_whose_only_target_is_incomplete_scores_nothing():
    scene = _scene(np.zeros((1, 2, 2)), [FOCAL], valid=np.array([[True, False]]))
    report = _report("argoverse2-single", [(scene, _forecast(np.zeros((1, 1, 2, 2)), [1.0]))])
    assert report.scenes == 0
    assert report.notes == {"incomplete_targets": 1, "scenes_without_complete_target": 1}
    assert all(np.isnan(f.value) and f.n == 0 for f in report.figures)


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi", "joint"])
def test_scenes_without_a_future_are_counted_and_score_nothing(name):
    scene = crossing_scene().observed()
    forecast = _forecast(np.zeros((1, 1, 60, 2)), [1.0], "crossing", tracks=["101"])
    report = _report(name, [(scene, forecast)])
    assert (report.scenes, report.without_truth) == (0, 1)
    assert all(f.n == 0 for f in report.figures)


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi", "joint"])
def test_a_missing_target_is_named_with_scene_and_remedy(name):
    scene, forecast = _case_a()
    with pytest.raises(SceneError, match=r"lacks target track 't0'.*scene=s.*--agents scored"):
        get_protocol(name)().score(scene, forecast.select(["t1"]))


def test_a_static_track_on_the_benchmark_s_list_is_asked_for_all_the_same():
    position = np.zeros((2, 2, 2))
    kinds = [AgentType.VEHICLE, AgentType.STATIC]
    tracks = make_tracks(position, roles=[FOCAL, SCORED], type=kinds, track_id=["t0", "t1"])
    scene = make_scene(tracks, 0, scene_id="s")
    forecast = _forecast(np.zeros((1, 1, 1, 2)), [1.0])
    with pytest.raises(SceneError, match=r"'t1'.*static class, and the benchmark asks for it"):
        get_protocol("argoverse2-multi")().score(scene, forecast)
    assert get_protocol("joint")().score(scene, forecast).terms["minFDE", 6] == (0.0, 1.0)


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi", "joint"])
def test_an_index_in_place_of_a_track_id_is_recognised(name):
    scene, forecast = _case_a()
    wrong = replace(forecast, track_id=np.array(["0", "1"]))
    with pytest.raises(SceneError, match=r"has '0', which is no track.*not by their index"):
        get_protocol(name)().score(scene, wrong)


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi", "joint"])
def test_a_forecast_of_another_scene_is_refused(name):
    scene, forecast = _case_a()
    with pytest.raises(SceneError, match=r"is of scene 'else' \[scene=s"):
        get_protocol(name)().score(scene, replace(forecast, scene_id="else"))


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi", "joint"])
def test_a_forecast_longer_than_the_truth_is_refused_with_both_horizons(name):
    scene, _ = _case_a()
    longer = _forecast(np.zeros((1, 2, 3, 2)), [1.0])
    with pytest.raises(SceneError, match=r"goes on for 0\.3 s and the truth for 0\.2 s"):
        get_protocol(name)().score(scene, longer)


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi"])
def test_a_shorter_forecast_is_refused_with_both_horizons(name):
    scene, _ = _case_a()
    shorter = _forecast(np.zeros((1, 2, 1, 2)), [1.0])
    with pytest.raises(SceneError, match=r"1 steps to 0\.1 s.* asks for 2 to 0\.2 s"):
        get_protocol(name)().score(scene, shorter)


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi", "joint"])
def test_a_nan_in_a_forecast_is_an_error_and_never_part_of_a_mean(name):
    scene, forecast = _case_a()
    position = forecast.position.copy()
    position[1, 0, 1, 0] = np.nan
    with pytest.raises(SceneError, match="position"):
        get_protocol(name)().score(scene, replace(forecast, position=position))


def test_an_unknown_option_value_names_those_there_are():
    with pytest.raises(ConfigError, match="fde, own"):
        get_protocol("argoverse2-multi")(select="best")
