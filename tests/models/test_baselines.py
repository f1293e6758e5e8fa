"""Motion that goes on as it was, against paths worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from motionpred.errors import ConfigError, TrainingError
from motionpred.graph import collate_scenes
from motionpred.models import Forecast, build_model
from motionpred.scene import Scene, TimeSpec
from motionpred.testing import make_scene, make_tracks
from motionpred.testing.traffic import arc

TIME = TimeSpec(dt=0.1, history=20, future=30)
SECOND = (np.arange(TIME.steps) - TIME.history + 1) * TIME.dt
NOW = TIME.history - 1


def scene_of(*paths: Any, valid: Any = None, time: Any = None) -> Scene:
    """Agents from poses ``[T, 3]``, far from the origin of the world."""
    poses = np.stack(paths)
    position = poses[..., :2] + (5000.0, -2000.0)
    tracks = make_tracks(position, heading=poses[..., 2], valid=valid)
    return make_scene(tracks, NOW, time=time)


def forecast(
    name: str, scene: Scene, modes: int = 6, spec: TimeSpec = TIME, **settings: Any
) -> Forecast:
    batch = collate_scenes([scene], spec)
    result = build_model(name, settings, spec).forecast(batch, modes=modes, seed=0)
    return Forecast(
        position=result.position[0].double() + batch.origin[0] - torch.tensor([5000.0, -2000.0]),
        probability=result.probability[0],
        heading=None if result.heading is None else result.heading[0],
        scale=None if result.scale is None else result.scale[0],
    )


def path_of(name: str, scene: Scene, **settings: Any) -> np.ndarray:
    """``[T, 2]``: the most probable path of the first agent."""
    return forecast(name, scene, **settings).position[0, 0].numpy()


def accelerating(speed: float, acceleration: float, turn: float) -> np.ndarray:
    """Poses ``[T, 3]`` by fine numeric integration from the origin at ``now``."""
    poses = []
    for end in SECOND:
        s = np.linspace(0.0, end, 2001)
        rate = (
            np.stack([np.cos(turn * s), np.sin(turn * s)], -1) * (speed + acceleration * s)[:, None]
        )
        moved = ((rate[1:] + rate[:-1]) / 2).sum(0) * (end / 2000)
        poses.append([*moved, turn * end])
    return np.array(poses)


class TestConstantVelocity:
    def test_goes_on_with_the_mean_step_of_the_last_ten(self):
        # 1 m a step, but 3 m in the last one: (9 * 1 + 3) / 10 = 1.2 m.
        x = np.arange(TIME.steps, dtype=float)
        x[NOW:] += 2.0
        path = path_of("constant-velocity", scene_of(np.stack([x, x * 0, x * 0], -1)))
        assert path[:, 0] == pytest.approx(x[NOW] + 1.2 * np.arange(1, 31), abs=1e-4)
        assert path[:, 1] == pytest.approx(0.0, abs=1e-4)

    def test_uses_fewer_steps_where_fewer_exist(self):
        valid = np.ones((1, TIME.steps), bool)
        valid[0, : NOW - 2] = False
        path = path_of(
            "constant-velocity", scene_of(arc([0, 0], 0.0, 7.0, 0.0, SECOND), valid=valid)
        )
        assert path[-1] == pytest.approx([21.0, 0.0], abs=1e-3)

    def test_an_agent_with_one_step_stays(self):
        valid = np.ones((1, TIME.steps), bool)
        valid[0, :NOW] = False
        path = path_of(
            "constant-velocity", scene_of(arc([3, 4], 0.0, 7.0, 0.0, SECOND), valid=valid)
        )
        assert path == pytest.approx(np.tile([3.0, 4.0], (30, 1)), abs=1e-4)

    def test_a_gap_counts_as_the_steps_it_lasts(self):
        valid = np.ones((1, TIME.steps), bool)
        valid[0, NOW - 4 : NOW] = False
        path = path_of(
            "constant-velocity", scene_of(arc([0, 0], 0.0, 7.0, 0.0, SECOND), valid=valid)
        )
        assert path[-1] == pytest.approx([21.0, 0.0], abs=1e-3)

    def test_the_clock_may_be_the_recorded_time(self):
        # The recorder was slow: steps of 0.2 s, so 1 m a step is 5 m/s and 0.5 m in 0.1 s.
        x = np.arange(TIME.steps, dtype=float)
        scene = scene_of(np.stack([x, x * 0, x * 0], -1), time=x * 0.2)
        for clock, step in (("steps", 1.0), ("time", 0.5)):
            path = path_of("constant-velocity", scene, clock=clock)
            assert path[0, 0] - x[NOW] == pytest.approx(step, abs=1e-4)


class TestConstantTurn:
    @pytest.mark.parametrize("turn", [0.4, -0.2, 1e-6, 0.0])
    @pytest.mark.parametrize("name", ["ctrv", "ctra"])
    def test_an_arc_goes_on_as_the_same_arc(self, name: str, turn: float):
        truth = arc(np.array([10.0, -5.0]), 2.0, 8.0, turn, SECOND)
        result = forecast(name, scene_of(truth))
        assert result.position[0, 0].numpy() == pytest.approx(truth[NOW + 1 :, :2], abs=2e-3)
        assert result.heading is not None
        assert result.heading[0, 0].numpy() == pytest.approx(truth[NOW + 1 :, 2], abs=1e-3)

    def test_a_jump_of_the_heading_is_no_turn(self):
        truth = arc(np.zeros(2), 0.0, 8.0, 0.0, SECOND)
        truth[: NOW - 3, 2] = np.pi / 2
        assert path_of("ctrv", scene_of(truth))[-1] == pytest.approx([24.0, 0.0], abs=1e-3)

    def test_a_car_in_reverse_keeps_going_backwards(self):
        truth = arc(np.zeros(2), 0.0, -3.0, 0.0, SECOND)
        assert path_of("ctrv", scene_of(truth))[-1] == pytest.approx([-9.0, 0.0], abs=1e-3)

    @pytest.mark.parametrize("turn", [0.3, 0.0, 1e-7])
    def test_ctra_goes_on_with_its_acceleration(self, turn: float):
        truth = accelerating(6.0, 1.5, turn)
        path = path_of("ctra", scene_of(truth))
        # The direction at now is that of an arc of constant speed: within 1 % of the distance.
        assert path == pytest.approx(truth[NOW + 1 :, :2], abs=0.01 * 25)

    def test_ctra_brakes_to_a_standstill_and_not_beyond(self):
        # 4 m/s at now, braking with 2 m/s²: stands after 2 s and 4 m.
        path = path_of("ctra", scene_of(accelerating(4.0, -2.0, 0.0)))
        assert path[19:, 0] == pytest.approx(4.0, abs=0.01)


class TestKalman:
    def test_an_exact_straight_line_goes_on(self):
        path = path_of("kalman", scene_of(arc(np.zeros(2), 0.7, 9.0, 0.0, SECOND)))
        assert path[-1] == pytest.approx([27 * np.cos(0.7), 27 * np.sin(0.7)], abs=0.05)

    def test_missing_steps_are_bridged(self):
        valid = np.ones((1, TIME.steps), bool)
        valid[0, [3, 4, 5, 11, NOW - 1]] = False
        path = path_of("kalman", scene_of(arc(np.zeros(2), 0.0, 9.0, 0.0, SECOND), valid=valid))
        assert path[-1] == pytest.approx([27.0, 0.0], abs=0.1)

    def test_noise_disturbs_it_less_than_one_difference(self):
        rng = np.random.default_rng(0)
        paths = []
        for _ in range(50):
            path = arc(np.zeros(2), 0.0, 9.0, 0.0, SECOND)
            path[:, :2] += rng.normal(0, 0.15, path[:, :2].shape)
            paths.append(path)
        scene = scene_of(*paths)
        off = {
            name: (
                forecast(name, scene, **settings).position[0, :50, -1].numpy() - [27.0, 0.0]
            ).std()
            for name, settings in (("kalman", {}), ("constant-velocity", {"steps": 1}))
        }
        assert off["kalman"] < off["constant-velocity"] / 2

    def test_the_scale_grows_with_time_and_is_larger_for_what_was_hardly_seen(self):
        valid = np.ones((2, TIME.steps), bool)
        valid[1, : NOW - 1] = False
        path = arc(np.zeros(2), 0.0, 9.0, 0.0, SECOND)
        result = forecast("kalman", scene_of(path, path, valid=valid))
        assert result.scale is not None
        scale = result.scale[0, :2, :, 0]
        assert (scale.diff(dim=-1) > 0).all()
        assert (scale[1] > scale[0]).all()


class TestFan:
    def test_has_six_motions_of_the_whole_scene(self):
        straight = arc(np.zeros(2), 0.0, 10.0, 0.0, SECOND)
        result = forecast("fan", scene_of(straight, straight + np.array([0, 5, 0])))
        end = result.position[:, 0, -1].numpy()
        left = arc(np.zeros(2), 0.0, 10.0, 0.15, SECOND)[-1, :2]
        wanted = [[30, 0], [15, 0], [0, 0], left, left * [1, -1], [45, 0]]
        assert end == pytest.approx(np.array(wanted), abs=1e-3)
        assert result.position[:, 1, -1].numpy() == pytest.approx(end + np.array([0, 5]), abs=1e-3)
        assert result.probability.tolist() == pytest.approx([0.30, 0.20, 0.15, 0.13, 0.12, 0.10])

    def test_fewer_modes_are_the_most_probable_ones_renormalised(self):
        result = forecast("fan", scene_of(arc(np.zeros(2), 0.0, 10.0, 0.0, SECOND)), modes=2)
        assert result.probability.tolist() == pytest.approx([0.6, 0.4])
        assert result.position[:, 0, -1, 0].tolist() == pytest.approx([30.0, 15.0], abs=1e-3)

    def test_the_turn_rate_is_a_setting(self):
        scene = scene_of(arc(np.zeros(2), 0.0, 10.0, 0.0, SECOND))
        left = forecast("fan", scene, turn_rate=0.3).position[3, 0, -1].numpy()
        assert left == pytest.approx(arc(np.zeros(2), 0.0, 10.0, 0.3, SECOND)[-1, :2], abs=1e-3)


def test_no_mode_at_all_cannot_be_asked_for():
    with pytest.raises(ConfigError, match="at least one mode"):
        forecast("fan", scene_of(arc(np.zeros(2), 0.0, 10.0, 0.0, SECOND)), modes=0)


def test_there_is_nothing_to_train():
    batch = collate_scenes([scene_of(arc(np.zeros(2), 0.0, 10.0, 0.0, SECOND))], TIME)
    with pytest.raises(TrainingError, match="'fan' has no parameters"):
        build_model("fan", {}, TIME).loss(batch, seed=0, epoch=0)
