"""Messages between lanes: who hears whom, and what padding and the frame of the world do not do."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from motionpred.graph import SceneBatch, collate_scenes
from motionpred.models.encoder.lane_graph import LaneGraph, links_of
from motionpred.models.encoder.map_piece import directed
from motionpred.scene import EdgeKind, MapKind, TimeSpec
from motionpred.testing import make_map, make_scene, make_tracks
from motionpred.testing.batch_changes import doubled, moved_batch, padded

TIME = TimeSpec(0.1, 5, 5)
A, B, C, D = range(4)


def chain(*links: tuple[int, int, EdgeKind]) -> SceneBatch:
    """Four lanes of 10 m one behind the other along x, linked as asked for, one car."""
    lanes = [(MapKind.LANE, [(10.0 * i, 0.0), (10.0 * i + 10, 0.5 * i)]) for i in range(4)]
    tracks = make_tracks([[(5.0 + 0.1 * t, 0.0) for t in range(10)]])
    return collate_scenes([make_scene(tracks, 4, map=make_map(lanes, edges=links))], TIME)


def graph(rounds: int = 1) -> LaneGraph:
    torch.manual_seed(0)
    return LaneGraph(8, rounds=rounds).double()


def told(layer: LaneGraph, batch: SceneBatch, x: Tensor) -> Tensor:
    batch = doubled(batch)
    return layer(x, links_of(batch, directed(batch.map_points)))


def reached_from(layer: LaneGraph, batch: SceneBatch, piece: int) -> list[int]:
    """Pieces whose token depends on that of ``piece``, the piece itself left out."""
    x = torch.randn(1, batch.map_mask.shape[1], 8).double()
    other = x.clone()
    other[0, piece] = torch.randn(8)
    changed = (told(layer, batch, x) != told(layer, batch, other)).any(-1)[0]
    return [i for i in torch.nonzero(changed).flatten().tolist() if i != piece]


def test_a_message_goes_along_a_link_and_back() -> None:
    batch = chain((A, B, EdgeKind.SUCCESSOR), (C, D, EdgeKind.LEFT))
    assert reached_from(graph(), batch, A) == [B]
    assert reached_from(graph(), batch, B) == [A]
    assert reached_from(graph(), batch, C) == [D]


def test_two_rounds_reach_the_next_but_one() -> None:
    batch = chain((A, B, EdgeKind.SUCCESSOR), (B, C, EdgeKind.SUCCESSOR))
    assert reached_from(graph(rounds=1), batch, A) == [B]
    assert reached_from(graph(rounds=2), batch, A) == [B, C]


def test_the_kind_and_the_way_of_a_link_matter() -> None:
    layer, x = graph(), torch.randn(1, 32, 8).double()
    results = [
        told(layer, chain(link), x)
        for link in (
            (A, B, EdgeKind.SUCCESSOR),
            (B, A, EdgeKind.SUCCESSOR),
            (A, B, EdgeKind.LEFT),
            (A, B, EdgeKind.RIGHT),
        )
    ]
    for i, one in enumerate(results):
        assert all(not torch.allclose(one, other) for other in results[i + 1 :])


def test_the_flag_of_oncoming_lanes_matters() -> None:
    layer, x, batch = graph(), torch.randn(1, 32, 8).double(), chain((A, B, EdgeKind.LEFT))
    oncoming = batch.lane_edges.clone()
    oncoming[0, 0, 3] = 1
    other = told(layer, replace(batch, lane_edges=oncoming), x)
    assert not torch.allclose(told(layer, batch, x), other)


def test_messages_are_averaged() -> None:
    """Twice the same link says what one says."""
    layer, x, link = graph(), torch.randn(1, 32, 8).double(), (A, B, EdgeKind.SUCCESSOR)
    torch.testing.assert_close(told(layer, chain(link), x), told(layer, chain(link, link), x))


def test_padding_of_links_and_pieces_changes_nothing() -> None:
    layer, batch = graph(rounds=2), chain((A, B, EdgeKind.SUCCESSOR), (B, D, EdgeKind.LEFT))
    x = torch.randn(1, batch.map_mask.shape[1], 8).double()
    more = torch.cat([x, torch.full((1, 32, 8), 1e3).double()], dim=1)
    few, many = told(layer, batch, x), told(layer, padded(batch, 0, 32), more)
    torch.testing.assert_close(few[0, :4], many[0, :4])


def test_scenes_of_a_batch_do_not_hear_each_other() -> None:
    layer, link = graph(), (A, B, EdgeKind.SUCCESSOR)
    one = chain(link)
    two = replace(
        one,
        map_points=one.map_points.repeat(2, 1, 1, 1),
        map_mask=one.map_mask.repeat(2, 1),
        map_pose=one.map_pose.repeat(2, 1, 1),
        lane_edges=one.lane_edges.repeat(2, 1, 1),
        origin=one.origin.repeat(2, 1),
    )
    x = torch.randn(2, 32, 8).double()
    together = told(layer, two, x)
    for row in range(2):
        torch.testing.assert_close(together[row], told(layer, one, x[row : row + 1])[0])


def test_a_moved_map_says_the_same() -> None:
    """A stop sign has no direction: it hears how far the lane is that it controls, not where."""
    lane, sign = [(0.0, 0.0), (10.0, 0.0)], [(3.0, 4.0)] * 2
    road = make_map(
        [(MapKind.LANE, lane), (MapKind.STOP_SIGN, sign)], edges=[(1, 0, EdgeKind.CONTROLS)]
    )
    scene = make_scene(make_tracks([[(5.0 + t, 0.0) for t in range(10)]]), 4, map=road)
    batch = doubled(collate_scenes([scene], TIME))
    layer, x = graph(rounds=2), torch.randn(1, 32, 8).double()
    moved = moved_batch(batch, 2.0, 300.0, -50.0)
    # The sign keeps the axes of the scene: its pose has no heading to turn with it.
    torch.testing.assert_close(told(layer, batch, x), told(layer, moved, x), atol=1e-9, rtol=0)


def test_without_a_link_every_parameter_still_takes_part() -> None:
    layer, batch = graph(), chain()
    batch = replace(batch, lane_edges=batch.lane_edges[:, :0])
    out = told(layer, batch, torch.randn(1, 32, 8).double())
    found = torch.autograd.grad(out.sum(), list(layer.parameters()), allow_unused=True)
    assert all(gradient is not None for gradient in found)


def test_work_grows_with_links_and_not_with_their_square() -> None:
    links = [(i % 3, i % 3 + 1, EdgeKind.SUCCESSOR) for i in range(64)]
    batch = chain(*links)
    messages = links_of(batch, directed(batch.map_points))
    assert messages.features.shape[0] == 2 * batch.lane_edges.shape[1]
