"""F16: repeated points have no direction, and a lane of one point is counted."""

from __future__ import annotations

import numpy as np

from motionpred.geometry.polylines import directions


def test_f16_a_lane_with_repeated_points_and_a_lane_of_one_point(read_argoverse2, av2_lane):
    lanes = {
        "1": av2_lane(1, [(5.0, 5.0)]),
        "2": av2_lane(2, [(0.0, 0.0), (0.0, 0.0), (10.0, 0.0)]),
    }
    road = read_argoverse2(map={"lane_segments": lanes}).validate().map
    p, q = (int(np.flatnonzero(road.polyline_id == name)[0]) for name in "12")
    assert road.polyline(q)[:, :2].tolist() == [[0.0, 0.0], [10.0, 0.0]]
    assert directions(road.polyline(q)).tolist() == [0.0]
    assert road.polyline(p)[:, :2].tolist() == [[5.0, 5.0]]
    assert directions(road.polyline(p)).size == 0
    assert road.report["degenerate"] == 1
    assert road.report["repeated_points"] == 1
