"""F31: weights that were trained on a GPU load on a machine without one, and forecast one scene."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from motionpred.graph import BatchOptions
from motionpred.inference import load
from motionpred.models import build_model, read_checkpoint, save_bundle
from motionpred.scene import TimeSpec
from motionpred.testing import crossing_scene


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    model = build_model("regression", {"size": "nano"}, TimeSpec(0.1, 50, 60))
    folder = tmp_path / "bundle"
    save_bundle(folder, model, options=BatchOptions())
    return folder


def test_f31_weights_carry_no_device(bundle: Path) -> None:
    data = (bundle / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])

    assert "cuda" not in json.dumps(header)
    assert load(bundle).device == torch.device("cpu")


def test_f31_a_checkpoint_of_another_gpu_loads_on_the_cpu(tmp_path: Path) -> None:
    written, tagged = tmp_path / "written.ckpt", tmp_path / "tagged.ckpt"
    torch.save({"weight": torch.arange(3.0)}, written)
    with zipfile.ZipFile(written) as source, zipfile.ZipFile(tagged, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith(".pkl"):  # length and text of the storage's location
                here, there = (struct.pack("<I", len(t)) + t for t in (b"cpu", b"cuda:1"))
                assert here in data
                data = data.replace(here, there)
            target.writestr(name, data)

    weight = read_checkpoint(tagged)["weight"]

    assert weight.device == torch.device("cpu")
    assert weight.tolist() == [0.0, 1.0, 2.0]


def test_f31_one_scene_without_future_or_dataset_gives_sorted_modes(bundle: Path) -> None:
    scene = crossing_scene().observed()

    prediction = load(bundle).predict(scene)

    assert prediction.position.shape == (6, 4, 60, 2)
    assert (np.diff(prediction.probability) <= 0).all()
    assert prediction.probability.sum() == pytest.approx(1)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_f31_gpu_and_cpu_agree(bundle: Path) -> None:
    scene = crossing_scene()
    on_cpu = load(bundle).predict(scene)
    on_gpu = load(bundle, device="cuda").predict(scene)

    np.testing.assert_allclose(on_gpu.position, on_cpu.position, atol=1e-3, rtol=0)
