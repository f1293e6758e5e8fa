"""F40: one call draws everything, from a scene and a forecast file, and nothing piles up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from motionpred.prediction import Prediction, save_predictions
from motionpred.testing import crossing_scene
from motionpred.viz import save_png

# Two ways that people draw: keep nothing of a plot, or write files. RSS is that of the process.
_DRAW = """
import sys
from pathlib import Path
from motionpred.testing import crossing_scene
from motionpred.viz import plot, save_png

out = Path(sys.argv[1])

def resident():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024

def draw(i):
    scene = crossing_scene(f"scene-{i}", seed=i)
    if i % 2:
        save_png(scene, out / "forecasts.parquet", out / "scene.png", dpi=60)
    else:
        plot(scene, out / "forecasts.parquet")._repr_png_()

for i in range(10):  # fonts, caches and libraries are loaded once
    draw(i)
before = resident()
for i in range(100):
    draw(i)
import matplotlib.pyplot as plt
print(resident() - before, len(plt.get_fignums()))
"""


def forecast(scene, tracks=("101", "102", "103", "104")):
    rows = [scene.tracks.track_id.tolist().index(track) for track in tracks]
    time = 0.1 * np.arange(1, 61)
    start = scene.tracks.position[rows, scene.now, :2]
    velocity = scene.tracks.velocity[rows, scene.now].astype(np.float64)
    factor = np.array([1.0, 0.5, 1.5])[:, None, None, None]
    position = start[None, :, None] + factor * velocity[None, :, None] * time[:, None]
    return Prediction(
        scene_id=scene.scene_id,
        track_id=scene.tracks.track_id[rows],
        time=time,
        position=position,
        probability=np.array([0.6, 0.3, 0.1]),
        joint=True,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads resident memory from /proc")
def test_f40_a_hundred_scenes_in_one_process_grow_by_less_than_50_mb(tmp_path):
    scenes = [crossing_scene(f"scene-{i}", seed=i) for i in range(100)]
    save_predictions(tmp_path / "forecasts.parquet", map(forecast, scenes))
    done = subprocess.run(
        [sys.executable, "-c", _DRAW, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    growth, figures = done.stdout.split()
    assert float(growth) < 50
    assert int(figures) == 0


def test_f40_one_call_draws_map_truth_and_all_modes_from_a_scene_and_a_forecast_file(tmp_path):
    scene = crossing_scene("scene", seed=0)
    save_predictions(tmp_path / "f.parquet", [forecast(scene)])
    window = {"center": (3000.0, 1500.0), "radius": 60.0, "dpi": 60}
    full = save_png(scene, tmp_path / "f.parquet", tmp_path / "full.png", **window)
    image = colors(full)
    without_forecast = colors(save_png(scene, None, tmp_path / "none.png", **window))
    bare = save_png(scene, None, tmp_path / "bare.png", truth=False, history=False, **window)
    assert image > without_forecast > colors(bare) > 100


def colors(path: Path) -> int:
    channels = np.round(matplotlib.image.imread(path)[..., :3] * 255).astype(np.int64)
    return len(np.unique(channels @ [1, 256, 65536]))
