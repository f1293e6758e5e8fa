"""generate(seed, index): the same scene wherever it is made, in Argoverse 2's shape."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from motionpred.datasets.synthetic import TIME, content_hash, generate, scenes
from motionpred.datasets.synthetic.draws import Draws
from motionpred.datasets.synthetic.places import draw_layout
from motionpred.errors import ConfigError
from motionpred.scene import AgentType, FieldSource, Role
from motionpred.testing import differences


def has(tracks, role):
    return (tracks.roles & role) != 0


def test_scenes_keep_the_contract_and_the_clock_of_argoverse2(made):
    for scene in made:
        scene.validate()
        assert (len(scene.time), scene.now, scene.dt) == (110, 49, 0.1)
        assert scene.dataset == "synthetic"
    assert (TIME.history, TIME.future) == (50, 60)


def test_roles_are_those_of_argoverse2(made):
    for scene in made:
        tracks = scene.tracks
        complete = tracks.valid.all(axis=1)
        assert tracks.track_id[has(tracks, Role.EGO)].tolist() == ["AV"]
        assert has(tracks, Role.FOCAL).sum() == 1
        assert complete[has(tracks, Role.SCORED | Role.UNSCORED)].all()
        np.testing.assert_array_equal(has(tracks, Role.FRAGMENT), ~complete)
        assert scene.info["focal_track_id"] == tracks.track_id[has(tracks, Role.FOCAL)][0]


def test_sizes_headings_and_velocities_are_recorded(made):
    for scene in made:
        tracks = scene.tracks
        assert set(tracks.source.values()) == {FieldSource.RECORDED}
        assert (tracks.size[tracks.valid] > 0).all()
        np.testing.assert_array_equal(tracks.velocity_valid, tracks.valid)


def test_a_scene_is_the_same_alone_in_any_order_and_in_another_process(made):
    again = [generate(77, index) for index in (5, 2)]
    assert not differences(again[0], made[5])
    assert not differences(again[1], made[2])
    code = (
        "from motionpred.datasets.synthetic import content_hash, generate;"
        "print(content_hash([generate(77, 2), generate(77, 5)]))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert other == content_hash([made[2], made[5]])


def test_a_range_of_scenes_is_that_part_of_the_whole(made):
    (scene,) = scenes(77, 1, start=3)
    assert not differences(scene, made[3])


def test_other_seeds_and_indices_are_other_scenes(made):
    hashes = {content_hash([scene]) for scene in [*made, generate(78, 0)]}
    assert len(hashes) == len(made) + 1


def test_the_hash_sees_a_change_of_a_millimetre(made):
    before = content_hash(made[:1])
    made[0].tracks.position[0, 0, 0] += 0.001
    changed = content_hash(made[:1])
    made[0].tracks.position[0, 0, 0] -= 0.001
    assert changed != before


def test_negative_numbers_are_refused():
    with pytest.raises(ConfigError, match="seed"):
        generate(-1, 0)


def test_scenes_lie_anywhere_in_the_world_and_any_way_round(made):
    centres = np.array([scene.map.points[:, :2].mean(axis=0) for scene in made])
    assert np.ptp(centres, axis=0).min() > 1000


def test_every_kind_of_place_and_of_agent_occurs(made):
    kinds = {draw_layout(Draws(9, index)).kind for index in range(60)}
    assert kinds == {"straight", "curve", "merge", "signalised", "unsignalised", "roundabout"}
    types = {AgentType(kind) for scene in made for kind in np.unique(scene.tracks.type)}
    assert types >= {AgentType.VEHICLE, AgentType.PEDESTRIAN, AgentType.CYCLIST, AgentType.BUS}


def test_tracks_appear_late_leave_early_and_have_gaps(made):
    valid = np.concatenate([scene.tracks.valid for scene in made])
    first, last = valid.argmax(axis=1), 109 - valid[:, ::-1].argmax(axis=1)
    for share in ((first > 49).mean(), (last < 109).mean()):
        assert 0.1 < share < 0.8
    assert (valid.sum(axis=1) < last - first + 1).mean() > 0.05


# Of the first three scenes of train, val and test.
FROZEN = {
    0: "c4cbe9c040616d25df0cb26da4edf8a2aa3edb629bb2cf131694d82abd66fdbe",
    1: "4583a581441e1a491456f0c892d37b5a08e97adf8fd6c99305a6bc1c68658b5b",
    2: "99bcde2b07f96317bef55c9eee0229a2655aa7139ff7493e16590030a1e0517a",
}


@pytest.mark.parametrize("seed", FROZEN)
def test_the_content_of_this_version_is_frozen(seed):
    """A change here changes every figure measured on synthetic-v1: raise the version instead."""
    assert content_hash(scenes(seed, 3)) == FROZEN[seed]
