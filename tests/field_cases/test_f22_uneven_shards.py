"""F22: averages over uneven shards."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from motionpred.metrics import evaluate, get_protocol
from motionpred.prediction import Prediction
from motionpred.testing import make_scene, make_tracks

FDE = {"a": [6.0], "b": [2.0, 2.0, 2.0], "c": [4.0]}


def _pair(scene_id):
    errors = FDE[scene_id]
    scene = make_scene(make_tracks(np.zeros((len(errors), 2, 2))), now=0, scene_id=scene_id)
    position = np.array([[[(error, 0.0)] for error in errors]])
    ids = scene.tracks.track_id
    return scene, Prediction(scene_id, ids, np.array([0.1]), position, np.ones(1), joint=True)


@pytest.mark.parametrize("shards", [["abc"], ["ab", "c"], ["ac", "ba"], ["a", "b", "ca"]])
def test_f22_one_value_per_agent_and_one_per_scene_for_any_number_of_processes(shards):
    protocol = get_protocol("joint")()
    gathered = [protocol.score(*_pair(scene)) for shard in shards for scene in shard]
    report = protocol.report(gathered)
    per_agent = next(f for f in report.figures if f.metric == "marginal minFDE" and f.k == 1)
    per_scene = next(f for f in report.figures if f.metric == "minFDE" and f.k == 1)
    assert (per_agent.value, per_agent.n, per_agent.over) == (pytest.approx(3.2), 5, "agents")
    assert (per_scene.value, per_scene.n, per_scene.over) == (pytest.approx(4.0), 3, "scenes")
    assert report.figures == evaluate(protocol, map(_pair, "cba")).figures


@pytest.mark.slow
def test_f22_two_processes_with_two_scenes_and_one():
    script = Path(__file__).with_name("two_process_validation.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    figures = {
        (figure["metric"], figure["k"]): figure
        for figure in json.loads(done.stdout.splitlines()[-1])["figures"]
    }
    per_agent, per_scene = figures["marginal minFDE", 1], figures["minFDE", 1]
    assert (per_agent["value"], per_agent["n"]) == (pytest.approx(3.2, rel=1e-6), 5)
    assert (per_scene["value"], per_scene["n"]) == (pytest.approx(4.0, rel=1e-6), 3)
