"""F10: an unknown type is a class of its own, and a size that nobody recorded stays absent."""

from __future__ import annotations

import numpy as np

from motionpred.scene import AgentType, FieldSource, Role
from motionpred.testing import make_scene, make_tracks
from motionpred.viz import plot


def typed(words):
    """Gives the tracks 0, 1, 2, ... these words as their type."""

    def edit(rows):
        return [{**row, "object_type": words[int(row["track_id"])]} for row in rows]

    return edit


def three_agents():
    position = np.zeros((3, 110, 2))
    position[:, :, 0] = np.arange(110)
    position[:, :, 1] = [[0.0], [5.0], [10.0]]
    focal = Role.FOCAL | Role.SCORED
    velocity = np.zeros((3, 110, 2))
    heading = np.zeros((3, 110))
    tracks = make_tracks(
        position, roles=[focal, Role.SCORED, Role.SCORED], heading=heading, velocity=velocity
    )
    return make_scene(tracks, now=49)


def test_f10_riderless_unset_and_unlisted_types_all_load(read_argoverse2):
    scene = read_argoverse2(three_agents(), rows=typed(["riderless_bicycle", None, "scooter"]))
    assert scene.validate().tracks.type.tolist() == [
        AgentType.RIDERLESS_BICYCLE,
        AgentType.UNKNOWN,
        AgentType.OTHER,
    ]
    assert scene.tracks.raw_type.tolist() == ["riderless_bicycle", "", "scooter"]
    assert scene.info["read_report"] == {"unlisted_types": 1}


def test_f10_a_size_that_is_not_in_the_files_is_absent_and_not_a_box_of_nothing(read_argoverse2):
    scene = read_argoverse2(three_agents())
    assert scene.tracks.source["size"] == FieldSource.ABSENT
    assert not scene.tracks.size.any()


def test_f10_static_background_and_construction_are_one_class_of_context(read_argoverse2):
    scene = read_argoverse2(three_agents(), rows=typed(["static", "background", "construction"]))
    assert (scene.tracks.type == AgentType.STATIC).all()
    assert scene.tracks.raw_type.tolist() == ["static", "background", "construction"]


def test_f10_all_of_them_are_drawn_with_a_box_that_is_marked_as_assumed(read_argoverse2):
    scene = read_argoverse2(three_agents(), rows=typed(["riderless_bicycle", None, "vehicle"]))
    (axes,) = plot(scene).axes
    boxes = {
        artist.get_gid(): len(artist.get_paths())
        for artist in axes.collections
        if str(artist.get_gid()).endswith(("agent", "target", "assumed size"))
    }
    assert boxes == {"focal agent, assumed size": 1, "target, assumed size": 2}
