"""Scenes as pictures: what is drawn where."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from motionpred.graph import CHANNELS, raster, raster_picture
from motionpred.scene import AgentType, MapKind, Role, Scene
from motionpred.testing import crossing_scene, make_map, make_scene, make_tracks


def channel(image: torch.Tensor, name: str) -> np.ndarray:
    return image[CHANNELS.index(name)].numpy()


def driving_east(**columns) -> Scene:
    """A car of 4 by 2 metres at 10 m/s along +x, at (50, 20) at step 4, and 6 steps after it."""
    position = np.full((1, 11, 2), 20.0)
    position[0, :, 0] = 46.0 + np.arange(11)
    columns = {"heading": np.zeros((1, 11)), "size": [[4.0, 2.0]], **columns}
    return make_scene(make_tracks(position, **columns), now=4, map=columns.pop("map", None))


def rows_and_columns(mask: np.ndarray) -> tuple[list[int], list[int]]:
    rows, columns = np.nonzero(mask)
    return [rows.min(), rows.max()], [columns.min(), columns.max()]


def test_channels_have_names_and_the_size_asked_for():
    image = raster(crossing_scene(), size=(60, 80))
    assert image.shape == (len(CHANNELS), 60, 80)
    assert image.dtype == torch.float32
    assert len(set(CHANNELS)) == len(CHANNELS)


def test_the_heading_of_the_view_points_up_and_its_left_is_left():
    scene = driving_east()
    view = {"size": (40, 40), "resolution": 0.5, "center": (50.0, 20.0)}
    upright = channel(raster(scene, heading=0.0, **view), "vehicle")
    assert rows_and_columns(upright) == ([16, 24], [18, 22])
    lying = channel(raster(scene, heading=np.pi / 2, **view), "vehicle")
    assert rows_and_columns(lying) == ([18, 22], [16, 24])
    ahead = channel(raster(scene, heading=0.0, **{**view, "center": (45.0, 18.0)}), "vehicle")
    rows, columns = rows_and_columns(ahead)
    assert rows == [6, 14]
    assert columns == [14, 18]


def test_velocity_is_in_the_frame_of_the_view_and_inside_the_box_only():
    scene = driving_east()
    image = raster(scene, size=(40, 40), center=(50.0, 20.0), heading=np.pi / 2)
    box = channel(image, "vehicle") > 0
    assert channel(image, "velocity_left")[box] == pytest.approx(-10.0, abs=1e-4)
    assert np.abs(channel(image, "velocity_forward")).max() < 1e-4
    assert not channel(image, "velocity_left")[~box].any()


def test_past_boxes_fade_with_age_and_the_present_is_not_among_them():
    image = raster(driving_east(), size=(80, 80), center=(50.0, 20.0), heading=0.0, history=3)
    trail = channel(image, "history")[:, 40]
    shades = trail[trail > 0]
    assert set(np.unique(shades)) == set(np.float32([0.25, 0.5, 0.75]))
    assert (np.diff(shades) <= 0).all()  # from the newest, ahead, to the oldest


def test_nothing_after_now_is_drawn():
    scene = crossing_scene()
    assert torch.equal(raster(scene), raster(scene.observed()))
    late = np.zeros((1, 11), bool)
    late[0, 5:] = True
    assert not raster(driving_east(valid=late)).any()


def test_who_is_scored_and_of_which_type_is_in_channels_of_its_own():
    walker = driving_east(type=[AgentType.PEDESTRIAN], roles=[Role.NONE])
    image = raster(walker)
    assert channel(image, "pedestrian").any()
    assert not channel(image, "vehicle").any()
    assert not channel(image, "scored").any()
    assert channel(raster(driving_east()), "scored").any()


def test_a_hole_is_cut_out_of_the_area_around_it():
    outer = [(-20.0, -20), (20, -20), (20, 20), (-20, 20)]
    inner = [(-5.0, -5), (5, -5), (5, 5), (-5, 5)]
    kinds = [(MapKind.DRIVABLE_AREA, inner), (MapKind.DRIVABLE_AREA, outer)]
    road = make_map(kinds, attributes={"hole_of": [1, -1]})
    scene = replace(driving_east(), map=road)
    area = channel(raster(scene, size=(100, 100), center=(0.0, 0.0), heading=0.0), "drivable_area")
    assert area[50, 50] == 0
    assert area[50, 30] == 1
    assert area[5, 5] == 0


def test_sizes_that_are_absent_are_assumed_by_type():
    image = raster(driving_east(size=None), size=(40, 40), center=(50.0, 20.0), heading=0.0)
    rows, _ = rows_and_columns(channel(image, "vehicle"))
    assert rows[1] - rows[0] == pytest.approx(4.6 / 0.5, abs=1)


def test_an_agent_without_a_heading_is_a_disc_however_the_view_is_turned():
    scene = driving_east()
    unknown = np.zeros((1, 11), bool)
    tracks = replace(scene.tracks, heading_valid=unknown, heading=np.zeros((1, 11), np.float32))
    scene = replace(scene, tracks=tracks).validate()
    for heading in (0.0, 0.7):
        image = raster(scene, size=(40, 40), center=(50.0, 20.0), heading=heading)
        rows, columns = rows_and_columns(channel(image, "vehicle"))
        assert rows == columns
        assert rows[1] - rows[0] == pytest.approx(8, abs=1)  # 4 m, the length, either way


def test_the_view_follows_the_focal_agent_then_the_ego_then_all():
    for roles in ([Role.FOCAL | Role.SCORED], [Role.EGO], [Role.NONE]):
        vehicle = channel(raster(driving_east(roles=roles), size=(40, 40)), "vehicle")
        assert rows_and_columns(vehicle) == ([16, 24], [18, 22])
    nobody = make_scene(make_tracks(np.zeros((0, 5, 2))), now=4)
    assert not raster(nobody).any()


def test_the_picture_is_written_as_png(tmp_path):
    picture = raster_picture(raster(crossing_scene(), size=(50, 70)))
    picture.save(tmp_path / "scene.png")
    assert picture.size == (70, 50)
    assert (tmp_path / "scene.png").read_bytes().startswith(b"\x89PNG")
    assert len(np.unique(np.asarray(picture).reshape(-1, 3), axis=0)) > 4
