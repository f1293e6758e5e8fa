"""PNG files: complete or not there, and quick to make."""

from __future__ import annotations

import time

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure

from motionpred.scene import Scene
from motionpred.testing import crossing_scene
from motionpred.viz import save_png


def test_the_file_is_a_png_of_the_asked_resolution_with_many_colours(fan, count_colors, tmp_path):
    scene = crossing_scene()
    path = save_png(scene, fan(scene), tmp_path / "deep" / "scene.png", dpi=80)
    fine = save_png(scene, fan(scene), tmp_path / "fine.png", dpi=160)
    image, finer = matplotlib.image.imread(path), matplotlib.image.imread(fine)
    assert finer.shape[1] == pytest.approx(2 * image.shape[1], abs=2)
    assert count_colors(image) > 100


def test_the_forecast_changes_the_picture(fan, tmp_path):
    scene = crossing_scene()
    bare = save_png(scene, None, tmp_path / "a.png", dpi=60, center=(3000, 1500), radius=40)
    full = save_png(scene, fan(scene), tmp_path / "b.png", dpi=60, center=(3000, 1500), radius=40)
    assert bare.read_bytes() != full.read_bytes()


def test_a_failed_write_leaves_the_old_file_and_nothing_half_written(fan, tmp_path, monkeypatch):
    scene = crossing_scene()
    path = tmp_path / "scene.png"
    path.write_bytes(b"before")

    def full_disk(self, file, **options):
        file.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(Figure, "savefig", full_disk)
    with pytest.raises(OSError, match="no space left"):
        save_png(scene, fan(scene), path)
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["scene.png"]


def test_real_scenes_are_drawn_in_well_under_a_second(fan, count_colors, argoverse2_root, tmp_path):
    from motionpred.datasets.adapter import get_adapter

    adapter = get_adapter("argoverse2")
    scenes = [s for source in adapter.find(argoverse2_root) for s in adapter.read(source)]
    assert all(isinstance(scene, Scene) for scene in scenes)
    seconds = []
    for scene in scenes:
        begin = time.process_time()
        path = save_png(scene, fan(scene), tmp_path / f"{scene.scene_id}.png")
        seconds.append(time.process_time() - begin)
        image = matplotlib.image.imread(path)
        assert count_colors(image) > 100
    assert np.median(seconds) < 0.7
