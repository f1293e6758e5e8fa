"""Augmentations: what each changes, what it leaves alone, and that the scene's key decides."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from motionpred.errors import ConfigError
from motionpred.graph import SceneBatch, collate_scenes
from motionpred.graph.augmentation import (
    AgentDrop,
    AugmentationOptions,
    Draws,
    HistoryDrop,
    Mirror,
    PositionNoise,
    augment,
)
from motionpred.scene import EdgeKind, MapKind, Role, Scene, TimeSpec
from motionpred.testing import crossing_scene, make_map, make_scene, make_tracks

CLOCK = TimeSpec(0.1, 50, 60)
SHORT = TimeSpec(0.1, 6, 2)
DRAWS = Draws(seed=0, epoch=0)
EVERYTHING = AugmentationOptions(mirror=0.5, agent_drop=0.3, history_drop=0.5, position_noise=0.1)


def batch(count: int = 8) -> SceneBatch:
    return collate_scenes([crossing_scene(f"s{i}", seed=i) for i in range(count)], CLOCK)


def equal(a: SceneBatch, b: SceneBatch) -> bool:
    pairs = zip(a.tensors(), b.tensors(), strict=True)
    return all(torch.equal(x, y) for (_, x), (_, y) in pairs)


def left_turn() -> Scene:
    """One car that turns left around the origin, on a lane with a left and a right neighbour."""
    angle = np.linspace(0, 1.4, 8)
    path = np.stack([10 * np.sin(angle), 10 - 10 * np.cos(angle)], -1)[None]
    lanes = [(MapKind.LANE, [(0.0, y), (10.0, y)]) for y in (0.0, 3.0, -3.0)]
    edges = [(0, 1, EdgeKind.LEFT), (0, 2, EdgeKind.RIGHT), (1, 2, EdgeKind.SUCCESSOR)]
    road = make_map(lanes, edges=edges)
    return make_scene(make_tracks(path, heading=angle[None]), now=5, map=road)


def test_a_left_turn_becomes_a_right_turn() -> None:
    before = collate_scenes([left_turn()], SHORT)

    after = Mirror(1.0)(before, DRAWS)

    flip = torch.tensor([1.0, -1.0])
    for steps, old in ((after.history, before.history), (after.target, before.target)):
        torch.testing.assert_close(steps.position, old.position * flip)
        torch.testing.assert_close(steps.velocity, old.velocity * flip)
        torch.testing.assert_close(steps.heading, -old.heading)
        assert torch.equal(steps.size, old.size)
        assert torch.equal(steps.flags, old.flags)
    torch.testing.assert_close(after.pose, before.pose * torch.tensor([1.0, -1.0, -1.0]))
    torch.testing.assert_close(after.map_points, before.map_points * flip)
    torch.testing.assert_close(after.map_pose[..., 2], -before.map_pose[..., 2])


def test_left_and_right_links_are_exchanged_and_markings_left_alone() -> None:
    before = collate_scenes([left_turn()], SHORT)

    after = Mirror(1.0)(before, DRAWS)

    def kinds(edges: torch.Tensor) -> dict[tuple[int, int], int]:
        return {(int(a), int(b)): int(kind) for a, b, kind, _ in edges[0] if a >= 0}

    assert kinds(before.lane_edges)[0, 1] == EdgeKind.LEFT
    assert kinds(after.lane_edges) == {
        (0, 1): EdgeKind.RIGHT,
        (0, 2): EdgeKind.LEFT,
        (1, 2): EdgeKind.SUCCESSOR,
    }
    assert torch.equal(after.map_category, before.map_category)
    assert torch.equal(after.lane_edges[0, 3:], before.lane_edges[0, 3:])  # padding


def test_a_mirrored_heading_of_pi_stays_in_range() -> None:
    one = collate_scenes([left_turn()], SHORT)
    one.pose[0, 0, 2] = one.history.state[0, 0, -1, 2] = torch.tensor(math.pi)

    after = Mirror(1.0)(one, DRAWS)

    assert after.pose[0, 0, 2] == one.pose[0, 0, 2]
    assert after.history.heading[0, 0, -1] == one.history.heading[0, 0, -1]


def test_twice_mirrored_is_the_same_and_padding_is_untouched() -> None:
    before = batch(3)

    after = Mirror(1.0)(before, DRAWS)

    assert not equal(after, before)
    assert equal(Mirror(1.0)(after, DRAWS), before)
    padding = ~before.agent_mask
    assert not torch.signbit(after.history.state[padding]).any()


def test_about_the_wanted_share_of_scenes_is_mirrored() -> None:
    before = batch(1)
    flipped = [
        not torch.equal(Mirror(0.25)(before, Draws(0, epoch)).pose, before.pose)
        for epoch in range(400)
    ]

    assert 70 <= sum(flipped) <= 130


def test_dropped_agents_are_padding_and_scored_ones_and_the_ego_stay() -> None:
    before = batch(2)

    after = AgentDrop(1.0)(before, DRAWS)
    without_ego = AgentDrop(1.0, drop_ego=True)(before, DRAWS)

    scored = (before.roles & int(Role.SCORED)) != 0
    ego = (before.roles & int(Role.EGO)) != 0
    assert torch.equal(after.agent_mask, before.agent_mask & (scored | ego))
    assert torch.equal(without_ego.agent_mask, before.agent_mask & scored)
    gone = before.agent_mask & ~after.agent_mask
    assert gone.any()
    nobody = ~before.agent_mask
    for (name, values), (_, padded) in zip(after.tensors(), before.tensors(), strict=True):
        if values.shape[:2] == gone.shape:
            assert torch.equal(values[gone].unique(), padded[nobody].unique()), name
    assert torch.equal(after.history.state[scored], before.history.state[scored])
    assert torch.equal(after.target.state[scored], before.target.state[scored])


def test_the_oldest_steps_of_some_agents_become_invalid_and_the_pose_stays() -> None:
    before = batch(4)

    after = HistoryDrop(1.0, keep=10)(before, DRAWS)

    lost = before.history.valid & ~after.history.valid
    assert lost.any()
    assert not (after.history.valid & ~before.history.valid).any()
    # What is lost comes before what is kept, and the last ten steps are kept.
    assert not (lost[..., 1:] & after.history.valid[..., :-1]).any()
    assert torch.equal(after.history.valid[..., -10:], before.history.valid[..., -10:])
    assert (after.history.state[lost] == 0).all()
    assert not after.history.flags[lost].any()
    assert torch.equal(after.pose, before.pose)
    assert torch.equal(after.target.state, before.target.state)


def test_an_agent_seen_for_a_few_steps_keeps_them() -> None:
    valid = np.array([[False, False, True, True, False, False, True, True]])
    scene = make_scene(make_tracks(np.ones((1, 8, 2)), valid=valid), now=5)
    before = collate_scenes([scene], SHORT)

    for epoch in range(20):
        after = HistoryDrop(1.0, keep=2)(before, Draws(0, epoch))
        assert torch.equal(after.history.valid, before.history.valid)


def test_noise_moves_past_positions_but_neither_the_pose_nor_anything_else() -> None:
    before = batch(4)

    after = PositionNoise(0.2)(before, DRAWS)

    moved = (after.history.position - before.history.position)[before.history.valid]
    assert 0.15 < moved[moved != 0].std() < 0.25
    assert torch.equal(after.history.state[..., 2:], before.history.state[..., 2:])
    assert torch.equal(after.history.state[:, :, -1], before.history.state[:, :, -1])
    assert (after.history.state[~before.history.valid] == 0).all()
    assert torch.equal(after.target.state, before.target.state)


def test_the_seed_the_epoch_and_the_scene_decide_and_nothing_else() -> None:
    scenes = [crossing_scene(f"s{i}", seed=i) for i in range(4)]
    together = augment(collate_scenes(scenes, CLOCK), EVERYTHING, seed=3, epoch=5)
    backwards = augment(collate_scenes(scenes[::-1], CLOCK), EVERYTHING, seed=3, epoch=5)
    alone = augment(collate_scenes(scenes[2:3], CLOCK), EVERYTHING, seed=3, epoch=5)

    for name, values in alone.tensors():
        assert torch.equal(dict(together.tensors())[name][2], values[0]), name
        assert torch.equal(dict(backwards.tensors())[name][1], values[0]), name
    other_epoch = augment(collate_scenes(scenes, CLOCK), EVERYTHING, seed=3, epoch=6)
    other_seed = augment(collate_scenes(scenes, CLOCK), EVERYTHING, seed=4, epoch=5)
    assert not equal(together, other_epoch)
    assert not equal(together, other_seed)


def test_the_batch_that_is_given_stays_as_it_is() -> None:
    given = batch(3)
    kept = given.map(torch.clone)

    augment(given, replace(EVERYTHING, mirror=1.0), seed=0, epoch=0)

    assert equal(given, kept)


def test_nothing_is_on_by_default() -> None:
    given = batch(1)

    assert augment(given, AugmentationOptions(), seed=0, epoch=0) is given


@pytest.mark.parametrize(
    ("field", "value"),
    [("mirror", 1.5), ("agent_drop", -0.1), ("history_keep", 0), ("position_noise", math.nan)],
)
def test_a_share_outside_its_range_is_refused(field: str, value: float) -> None:
    with pytest.raises(ConfigError, match=rf"augmentation\.{field}"):
        AugmentationOptions(**{field: value})
