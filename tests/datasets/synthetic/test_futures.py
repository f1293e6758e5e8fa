"""One past, many futures: what comes after now leaves no trace before it."""

from __future__ import annotations

import numpy as np
import pytest

from motionpred.datasets.synthetic import generate
from motionpred.scene import Role
from motionpred.testing import differences

COUNT = 8


@pytest.fixture(scope="module")
def families():
    """Scenes with three futures each."""
    return [[generate(77, index, future=future) for future in range(3)] for index in range(COUNT)]


def test_another_future_has_the_same_past_bit_for_bit(families):
    for first, *others in families:
        for other in others:
            found = differences(first.observed(), other.observed())
            # Roles look at whole tracks, as a benchmark's do.
            assert set(found) <= {"tracks.roles"} | {
                text for text in found if text.startswith("info")
            }


def test_another_future_is_another_future(families):
    changed = [
        bool(differences(first.tracks, other.tracks))
        for first, *others in families
        for other in others
    ]
    assert all(changed)


def lateral_ends(family):
    """For each scored agent: where it ends to the left of where it heads at now, per future."""
    first = family[0]
    for row in np.flatnonzero((first.tracks.roles & Role.SCORED) != 0):
        angle = float(first.tracks.heading[row, first.now])
        ends = []
        for scene in family:
            same = np.flatnonzero(scene.tracks.track_id == first.tracks.track_id[row])
            if len(same) and scene.tracks.valid[same[0], -1]:
                moved = scene.tracks.position[same[0], -1, :2] - first.tracks.position[row, 49, :2]
                ends.append(float(moved @ [-np.sin(angle), np.cos(angle)]))
        yield ends


def test_the_same_past_may_turn_or_go_straight(families):
    apart = [np.ptp(ends) for family in families for ends in lateral_ends(family) if ends]
    assert max(apart) > 5.0


def test_who_goes_first_may_change_and_then_both_futures_change(families):
    def both_change(family):
        first, other = family[0], family[1]
        _, a, b = np.intersect1d(first.tracks.track_id, other.tracks.track_id, return_indices=True)
        valid = first.tracks.valid[a, -1] & other.tracks.valid[b, -1]
        offset = first.tracks.position[a, -1] - other.tracks.position[b, -1]
        return int((valid & (np.hypot(offset[:, 0], offset[:, 1]) > 2.0)).sum()) >= 2

    assert sum(map(both_change, families)) >= COUNT // 3
