"""Agents that never moved and have no recorded heading: their direction comes from the scene."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.graph import encode
from motionpred.scene import MapKind, TimeSpec
from motionpred.testing import make_map, make_scene, make_tracks, moved

CLOCK = TimeSpec(0.1, 5, 4)


def parked(*places: tuple[float, float], lanes=(), **columns):
    position = np.repeat(np.array(places, float)[:, None], 9, axis=1)
    road = make_map([(MapKind.LANE, lane) for lane in lanes]) if lanes else None
    return make_scene(make_tracks(position, **columns), now=4, map=road)


def test_a_derived_heading_is_known_only_after_a_movement():
    position = np.zeros((1, 9, 2))
    position[0, 3:, 1] = np.arange(6.0)  # stands at 0, 0, 0, 0, then drives along y
    tracks = make_tracks(position)
    assert tracks.heading_valid[0].tolist() == [False] * 4 + [True] * 5
    row = encode(make_scene(tracks, now=4), CLOCK)
    assert row.history_flags[0, :, 3].tolist() == [False] * 4 + [True]
    np.testing.assert_allclose(row.history_state[0, :, 2], np.pi / 2, rtol=1e-6)


def test_a_parked_car_points_along_the_nearest_lane():
    near, far = [(0, 3), (0, 0), (0, -9)], [(20, 0), (30, 0)]
    row = encode(parked((1.0, -2.0), lanes=[far, near]), CLOCK)
    assert row.pose[0, 2] == pytest.approx(-np.pi / 2)
    assert not row.history_flags[0, :, 3].any()


def test_without_a_lane_it_points_to_the_middle_of_the_scene():
    row = encode(parked((0.0, 0.0), (10.0, 0.0)), CLOCK)
    np.testing.assert_allclose(row.pose[:, 2], [0.0, np.pi], atol=1e-6)


def test_alone_in_the_middle_of_nothing_it_points_somewhere_finite():
    assert encode(parked((7.0, 7.0)), CLOCK).pose[0, 2] == 0


def test_a_recorded_heading_is_kept_whether_or_not_the_agent_moved():
    row = encode(parked((0.0, 0.0), heading=np.full((1, 9), 0.7), lanes=[[(0, 0), (0, 9)]]), CLOCK)
    np.testing.assert_allclose(row.pose[0, 2], 0.7, rtol=1e-6)
    assert row.history_flags[0, :, 3].all()


@pytest.mark.parametrize("angle", [0.5, 2.0, -3.0])
@pytest.mark.parametrize("lanes", [(), ([(0, 3), (4, 0), (9, -9)],)], ids=["no map", "lane"])
def test_the_direction_turns_with_the_scene(angle, lanes):
    scene = parked((1.0, -2.0), (12.0, 5.0), lanes=lanes)
    before = encode(scene, CLOCK).pose[:, 2]
    after = encode(moved(scene, angle, 4000.0, -2500.0), CLOCK).pose[:, 2]
    np.testing.assert_allclose(np.cos(after - before - angle), 1.0, atol=1e-6)
