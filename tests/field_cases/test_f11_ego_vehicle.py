"""F11: the ego has one role in every dataset, and the benchmark alone names the targets."""

from __future__ import annotations

import numpy as np

from motionpred.graph import BatchOptions, collate_scenes
from motionpred.scene import Role, TimeSpec
from motionpred.testing import make_scene, make_tracks


def ego_and_two_targets():
    position = np.zeros((3, 110, 2))
    position[:, :, 0] = np.arange(110)
    position[:, :, 1] = [[0.0], [5.0], [10.0]]
    tracks = make_tracks(
        position,
        track_id=["AV", "2", "3"],
        roles=[Role.EGO | Role.UNSCORED, Role.FOCAL | Role.SCORED, Role.SCORED],
        heading=np.zeros((3, 110)),
        velocity=np.zeros((3, 110, 2)),
    )
    return make_scene(tracks, now=49)


def test_f11_the_track_called_av_is_the_ego_and_no_target(read_argoverse2):
    tracks = read_argoverse2(ego_and_two_targets()).tracks
    ego = (tracks.roles & Role.EGO) != 0
    scored = (tracks.roles & Role.SCORED) != 0
    assert tracks.track_id[ego].tolist() == ["AV"]
    assert tracks.track_id[scored].tolist() == ["2", "3"]
    assert tracks.track_id[(tracks.roles & Role.FOCAL) != 0].tolist() == ["2"]


def test_f11_an_ego_that_the_benchmark_scores_is_both(read_argoverse2):
    def scored_ego(rows):
        return [
            {**row, "object_category": 2 if row["track_id"] == "AV" else row["object_category"]}
            for row in rows
        ]

    tracks = read_argoverse2(ego_and_two_targets(), rows=scored_ego).tracks
    roles = dict(zip(tracks.track_id.tolist(), tracks.roles.tolist(), strict=True))
    assert roles["AV"] == Role.EGO | Role.SCORED


def test_f11_include_ego_changes_the_input_and_never_the_targets(read_argoverse2):
    scene = read_argoverse2(ego_and_two_targets())
    for include, agents in ((True, ["2", "3", "AV"]), (False, ["2", "3"])):
        options = BatchOptions(include_ego=include)
        batch = collate_scenes([scene], TimeSpec(0.1, 50, 60), options)
        assert batch.track_id[0].tolist() == agents
        scored = (batch.roles[0, : len(agents)] & Role.SCORED) != 0
        assert batch.track_id[0][scored.numpy()].tolist() == ["2", "3"]
