"""One report from any split of the scenes into shards, in any order."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from motionpred.errors import SceneError
from motionpred.metrics import Evaluation, Scores, evaluate, get_protocol
from motionpred.prediction import Prediction
from motionpred.testing import crossing_scene

MODES = 6


def _pairs(count):
    for seed in range(count):
        scene = crossing_scene(f"scene-{seed}", seed=seed)
        here = scene.tracks.valid[:, scene.now]
        future = scene.tracks.position[here][:, scene.now + 1 :, :2]
        rng = np.random.default_rng(seed)
        noise = rng.normal(0, 1.5, (MODES, *future.shape)).cumsum(axis=2) / 5
        yield (
            scene,
            Prediction(
                scene_id=scene.scene_id,
                track_id=scene.tracks.track_id[here],
                time=0.1 * np.arange(1, 61),
                position=future + noise,
                probability=rng.dirichlet(np.ones(MODES)),
                joint=True,
                scale=np.full((MODES, *future.shape), 0.8),
            ),
        )


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi", "joint"])
def test_the_report_is_the_same_for_any_split_and_order(name):
    protocol = get_protocol(name)()
    scores = [protocol.score(*pair) for pair in _pairs(9)]
    whole = protocol.report(scores)
    assert whole.scenes == 9
    for shards in (1, 2, 3):
        parts = [pickle.loads(pickle.dumps(scores[i::shards])) for i in range(shards)]  # noqa: S301
        gathered = protocol.report(item for part in reversed(parts) for item in part)
        assert gathered == whole


def test_padded_samplers_repeat_scenes_and_they_count_once():
    protocol = get_protocol("joint")()
    scores = [protocol.score(*pair) for pair in _pairs(3)]
    padded = protocol.report([*scores, scores[0], scores[0]])
    assert padded.figures == protocol.report(scores).figures
    assert padded.notes["duplicate_scenes"] == 2


def test_errors_of_single_scenes_are_collected_where_asked_and_the_others_go_on():
    pairs = list(_pairs(2))
    broken = pairs[0][0], pairs[0][1].select(["102"])
    with pytest.raises(SceneError, match="lacks target"):
        evaluate(get_protocol("joint")(), [broken, pairs[1]])
    evaluation = Evaluation(get_protocol("joint")())
    for scene, prediction in (broken, pairs[1]):
        evaluation.add(scene, prediction)
    report = evaluation.report()
    assert report.scenes == 1
    assert [error.scene for error in evaluation.failures] == ["scene-0"]


@pytest.mark.parametrize("name", ["argoverse2-single", "argoverse2-multi", "joint"])
def test_no_scores_at_all_is_a_report_of_no_scenes(name):
    report = get_protocol(name)().report([])
    assert (report.scenes, report.without_truth) == (0, 0)


def test_scenes_without_truth_are_counted_apart_from_notes():
    scores = [Scores("a", {}, {"without_truth": 1}), Scores("b", {}, {"without_truth": 1})]
    report = get_protocol("joint")().report(scores)
    assert report.without_truth == 2
    assert report.notes == {}
