"""F32: a file whose pickle would run code is refused by name, and nothing runs."""

from __future__ import annotations

import os
import pickle
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from motionpred.cli import app
from motionpred.datasets.argoverse2 import write_scene
from motionpred.errors import BundleError
from motionpred.models import build_model, load_bundle, read_checkpoint, save_bundle
from motionpred.scene import TimeSpec
from motionpred.testing import crossing_scene


class Creates:
    """Its pickle creates a folder when it is loaded."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def plain_pickle(path: Path, content: Any, protocol: int = 4) -> None:
    path.write_bytes(pickle.dumps(content, protocol=protocol))


def old_torch(path: Path, content: Any) -> None:
    torch.save(content, path, _use_new_zipfile_serialization=False)


def new_torch(path: Path, content: Any) -> None:
    torch.save(content, path)


WRITERS = [plain_pickle, old_torch, new_torch]
READERS = [load_bundle, read_checkpoint]


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "marker"


def test_f32_the_pickle_would_really_create_the_marker(tmp_path: Path, marker: Path) -> None:
    plain_pickle(tmp_path / "evil", Creates(marker))
    pickle.loads((tmp_path / "evil").read_bytes())  # noqa: S301 (our own, to see that it works)
    assert marker.exists()


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("suffix", [".pt", ".ckpt", ".zip", ""])
def test_f32_a_pickle_is_refused_by_the_name_of_what_it_calls(
    tmp_path: Path,
    marker: Path,
    read: Callable[[Path], Any],
    write: Callable[[Path, Any], None],
    suffix: str,
) -> None:
    path = tmp_path / f"evil{suffix}"
    write(path, {"state_dict": {"weight": torch.zeros(2)}, "config": Creates(marker)})
    with pytest.raises(BundleError, match=r"holds a pickled \w+\.mkdir") as caught:
        read(path)
    assert caught.value.file == str(path)
    assert not marker.exists()


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("write", WRITERS)
def test_f32_a_pickled_config_object_is_refused_by_name(
    tmp_path: Path, read: Callable[[Path], Any], write: Callable[[Path, Any], None]
) -> None:
    path = tmp_path / "model.pt"
    write(path, {"weight": torch.zeros(2), "config": types.SimpleNamespace(lr=1e-3)})
    with pytest.raises(BundleError, match=r"types\.SimpleNamespace"):
        read(path)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("read", READERS)
def test_f32_every_pickle_protocol_is_refused(
    tmp_path: Path, marker: Path, read: Callable[[Path], Any], protocol: int
) -> None:
    plain_pickle(tmp_path / "evil", Creates(marker), protocol)
    with pytest.raises(BundleError):
        read(tmp_path / "evil")
    assert not marker.exists()


@pytest.mark.parametrize("name", ["model.safetensors", "config.yaml"])
def test_f32_a_pickle_in_place_of_a_file_of_a_bundle_is_refused(
    tmp_path: Path, marker: Path, name: str
) -> None:
    bundle = save_bundle(tmp_path / "bundle", build_model("fan", {}, TimeSpec(0.1, 10, 10)))
    plain_pickle(bundle / name, Creates(marker))
    with pytest.raises(BundleError, match=name):
        load_bundle(bundle)
    assert not marker.exists()


def test_f32_a_pickle_hidden_in_a_zipped_bundle_is_refused(tmp_path: Path, marker: Path) -> None:
    path = save_bundle(tmp_path / "bundle.zip", build_model("fan", {}, TimeSpec(0.1, 10, 10)))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("data.pkl", pickle.dumps(Creates(marker)))
    with pytest.raises(BundleError, match=r"data\.pkl"):
        load_bundle(path)
    assert not marker.exists()


@pytest.mark.parametrize("write", [old_torch, new_torch])
def test_f32_a_checkpoint_of_tensors_and_plain_values_loads(
    tmp_path: Path, write: Callable[[Path, Any], None]
) -> None:
    path = tmp_path / "good.ckpt"
    write(path, {"state_dict": {"weight": torch.arange(2.0)}, "epoch": 3, "config": {"lr": 1e-3}})
    assert read_checkpoint(path)["config"] == {"lr": 1e-3}
    with pytest.raises(BundleError, match="is a checkpoint or pickle, not a bundle"):
        load_bundle(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04 cut short", b"\x80"])
@pytest.mark.parametrize("read", READERS)
def test_f32_a_file_that_is_nothing_is_an_error_of_ours(
    tmp_path: Path, read: Callable[[Path], Any], content: bytes
) -> None:
    path = tmp_path / "junk"
    path.write_bytes(content)
    with pytest.raises(BundleError):
        read(path)


@pytest.mark.parametrize("write", WRITERS)
def test_f32_evaluate_refuses_it_with_exit_code_1(
    tmp_path: Path, marker: Path, write: Callable[[Path, Any], None]
) -> None:
    scene = write_scene(crossing_scene(), tmp_path / "raw")
    write(tmp_path / "evil.pt", {"config": Creates(marker)})
    result = CliRunner().invoke(app, ["evaluate", str(scene), str(tmp_path / "evil.pt")])
    assert result.exit_code == 1, result.output
    assert "mkdir" in result.output
    assert "evil.pt" in result.output
    assert not marker.exists()
