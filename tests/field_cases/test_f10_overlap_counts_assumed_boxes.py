"""F10, the metrics' side: unknown types and absent sizes get a default box, and it is counted."""

from __future__ import annotations

import numpy as np

from motionpred.metrics import evaluate, get_protocol
from motionpred.prediction import Prediction
from motionpred.scene import AgentType
from motionpred.testing import make_scene, make_tracks


def test_f10_overlap_states_how_many_boxes_were_assumed():
    truth = np.array(
        [[(0.0, 0), (1, 0)], [(0, 10), (1, 10)], [(0, 20), (1, 20)], [(0, 30), (1, 30)]]
    )
    tracks = make_tracks(
        truth,
        type=[
            AgentType.RIDERLESS_BICYCLE,
            AgentType.UNKNOWN,
            AgentType.VEHICLE,
            AgentType.VEHICLE,
        ],
        size=[(0, 0), (0, 0), (0, 0), (4.5, 1.9)],
    )
    scene = make_scene(tracks, now=0)
    close = truth[:, 1:].copy()
    close[1] = close[2] + (0, 1.5)  # closer than the width of a car
    forecast = Prediction(
        scene_id=scene.scene_id,
        track_id=tracks.track_id,
        time=np.array([0.1]),
        position=close[None],
        probability=np.ones(1),
        joint=True,
    )
    report = evaluate(get_protocol("joint")(), [(scene, forecast)])
    assert report.notes["assumed_boxes"] == 3
    assert report.value("overlap", 1) == 2 / 4  # a 0 x 0 box would meet nothing
