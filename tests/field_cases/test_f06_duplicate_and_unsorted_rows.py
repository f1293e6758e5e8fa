"""F06: the order of rows does not matter, and a row that is there twice must say the same."""

from __future__ import annotations

import random

import numpy as np
import pytest

from motionpred.errors import SceneError
from motionpred.scene import Role
from motionpred.testing import differences, make_scene, make_tracks


def two_tracks_of_six_steps():
    position = np.zeros((2, 6, 2))
    position[:, :, 0] = np.arange(6)
    position[1, :, 1] = 5.0
    tracks = make_tracks(
        position,
        track_id=["8", "15"],
        roles=[Role.FOCAL | Role.SCORED, Role.SCORED],
        heading=np.zeros((2, 6)),
        velocity=np.ones((2, 6, 2)),
    )
    return make_scene(tracks, now=3)


def shuffled_with_a_copy(shift):
    """The 12 rows in any order, and one of them once more, with x moved by ``shift`` metres."""

    def edit(rows):
        assert len(rows) == 12
        (row,) = [row for row in rows if (row["track_id"], row["timestep"]) == ("15", 2)]
        mixed = [*rows, {**row, "position_x": row["position_x"] + shift}]
        random.Random(0).shuffle(mixed)
        return mixed

    return edit


def test_f06_shuffled_rows_with_an_exact_copy_equal_the_sorted_file(read_argoverse2):
    plain = read_argoverse2(two_tracks_of_six_steps())
    mixed = read_argoverse2(two_tracks_of_six_steps(), rows=shuffled_with_a_copy(0.0))
    assert differences(plain.tracks, mixed.tracks) == []
    assert mixed.info["read_report"] == {"duplicate_rows": 1}


def test_f06_a_copy_that_differs_is_an_error_that_names_track_and_step(read_argoverse2):
    error = read_argoverse2(two_tracks_of_six_steps(), rows=shuffled_with_a_copy(0.5))
    with pytest.raises(SceneError, match=r"track 15, step 2 has two rows that differ") as caught:
        raise error
    assert caught.value.field == "position_x"
