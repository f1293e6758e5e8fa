"""Scene tokens: they know their surroundings and not where in the world they are."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from motionpred.errors import ConfigError
from motionpred.graph import SceneBatch, collate_scenes
from motionpred.models import build_model
from motionpred.models.encoder import SIZES, EncoderConfig, SceneEncoder, SceneTokens
from motionpred.scene import MapKind, TimeSpec
from motionpred.testing import crossing_scene, make_map, make_scene, make_tracks
from motionpred.testing.batch_changes import doubled, moved_batch

TIME = TimeSpec(0.1, 20, 30)


def encoder(config: EncoderConfig | None = None) -> SceneEncoder:
    torch.manual_seed(0)
    return SceneEncoder(SIZES["nano"], TIME, config).double()


def crossing() -> SceneBatch:
    return doubled(collate_scenes([crossing_scene(seed=1)], TIME))


def real(tokens: SceneTokens) -> Tensor:
    return tokens.both[tokens.mask]


@pytest.mark.parametrize(
    "config", [EncoderConfig(), EncoderConfig(edge_layers=1), EncoderConfig(cell=60.0)], ids=str
)
def test_tokens_do_not_depend_on_the_frame_of_the_world(config: EncoderConfig) -> None:
    model, batch = encoder(config), crossing()
    with torch.no_grad():
        before, after = model(batch), model(moved_batch(batch, 2.2, 300.0, -700.0))
    torch.testing.assert_close(real(before), real(after), atol=1e-9, rtol=0)


def test_cells_change_rounding_only() -> None:
    batch = crossing()
    whole, by_cells = encoder()(batch), encoder(EncoderConfig(cell=60.0))(batch)
    torch.testing.assert_close(real(whole), real(by_cells), atol=1e-10, rtol=0)


def test_a_stop_sign_has_no_direction_and_turns_with_the_scene() -> None:
    tracks = make_tracks([[(5.0 + 0.5 * t, 0.2 * t) for t in range(50)]])
    road = make_map([(MapKind.STOP_SIGN, [(9.0, 4.0)] * 2), (MapKind.LANE, [(0, 0), (20.0, 1)])])
    batch = doubled(collate_scenes([make_scene(tracks, 19, map=road)], TIME))
    tokens = encoder()(batch)
    assert tokens.map_directed[0, :2].tolist() == [False, True]
    moved = encoder()(moved_batch(batch, -1.3, 20.0, 5.0))
    torch.testing.assert_close(real(tokens), real(moved), atol=1e-9, rtol=0)


def test_agents_and_map_pieces_know_of_each_other() -> None:
    batch, model = crossing(), encoder()
    tokens = model(batch)
    pose, history = batch.pose.clone(), batch.history.state.clone()
    pose[0, 0, 0] += 3.0
    history[0, 0, :, 0] += 3.0  # one car three metres further: nothing else has moved
    other = model(replace(batch, pose=pose, history=replace(batch.history, state=history)))
    assert not torch.allclose(tokens.agent[0, 1], other.agent[0, 1], atol=1e-6)
    assert not torch.allclose(tokens.map[0, 0], other.map[0, 0], atol=1e-6)


def test_every_field_of_the_map_reaches_its_token() -> None:
    batch, model = crossing(), encoder()
    before = model(batch).map[0, 0]
    for column in range(5):
        category = batch.map_category.clone()
        category[0, 0, column] = 1 - category[0, 0, column].clamp(max=1)
        assert not torch.allclose(model(replace(batch, map_category=category)).map[0, 0], before)
    for column in range(2):
        attributes = batch.map_attributes.clone()
        attributes[0, 0, column] += 3.0
        after = model(replace(batch, map_attributes=attributes)).map[0, 0]
        assert not torch.allclose(after, before)


def test_the_number_of_points_of_a_piece_is_free() -> None:
    few, many = (
        SceneBatch(**{**vars(batch), "map_points": batch.map_points[:, :, ::step]})
        for batch, step in ((crossing(), 3), (crossing(), 1))
    )
    assert encoder()(few).map.shape == encoder()(many).map.shape


@pytest.mark.parametrize("size", ["nano", "small", "base"])
def test_a_head_is_sixteen_wide_in_every_size(size: str) -> None:
    assert SIZES[size].width == 16 * SIZES[size].heads  # type: ignore[index]


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"edge_layers": -1}, "edge_layers"), ({"cell": 0.0}, "cell"), ({"cel": 1}, "'cell'")],
)
def test_a_bad_setting_is_named(settings: dict[str, float], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build_model("regression", {"encoder": settings}, TIME)
