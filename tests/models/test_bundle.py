"""Bundles come back as they were, or not at all and with a reason."""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from motionpred.errors import BundleError
from motionpred.graph import BatchOptions, collate_scenes
from motionpred.models import Card, ForecastModel, build_model, load_bundle, save_bundle
from motionpred.scene import MapKind, TimeSpec
from motionpred.testing import traffic_scene

TIME = TimeSpec(0.1, 10, 15)
CARD = Card(
    data="crossings, train, 12 scenes",
    terms="made by the project",
    command="motionpred train model=regression",
    seed=7,
    figures={"joint avgMinFDE6": 1.25},
    split="val, 3 scenes",
    limits="crossings only",
)
OPTIONS = BatchOptions(max_agents=32, map_kinds=(MapKind.LANE, MapKind.CROSSWALK))


@pytest.fixture(scope="module")
def model() -> ForecastModel:
    torch.manual_seed(0)
    return build_model("regression", {"size": "nano"}, TIME)


@pytest.fixture
def bundle(tmp_path: Path, model: ForecastModel) -> Path:
    return save_bundle(tmp_path / "bundle", model, OPTIONS, CARD)


def edit_config(bundle: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    file = bundle / "config.yaml"
    values = yaml.safe_load(file.read_text())
    edit(values)
    file.write_text(yaml.safe_dump(values))


def replace_weights(bundle: Path, edit: Callable[[dict[str, torch.Tensor]], None]) -> None:
    """Other weights under a checksum that fits them."""
    file = bundle / "model.safetensors"
    tensors = load_file(file)
    edit(tensors)
    save_file(tensors, file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    edit_config(bundle, lambda values: values.update(weights=digest))


@pytest.mark.parametrize("name", ["bundle", "bundle.zip"])
def test_everything_comes_back(tmp_path: Path, model: ForecastModel, name: str):
    loaded = load_bundle(save_bundle(tmp_path / name, model, OPTIONS, CARD))
    assert (loaded.time, loaded.options, loaded.card) == (TIME, OPTIONS, CARD)
    assert loaded.model.name == "regression"
    assert loaded.model.config == model.config
    assert not loaded.model.training
    batch = collate_scenes([traffic_scene(TIME)], TIME)
    mine, theirs = (m.forecast(batch, modes=6, seed=0) for m in (model, loaded.model))
    assert torch.equal(mine.position, theirs.position)


def test_a_model_without_parameters_can_be_bundled(tmp_path: Path):
    model = build_model("fan", {"turn_rate": 0.2}, TIME)
    assert load_bundle(save_bundle(tmp_path / "fan", model)).model.config.turn_rate == 0.2


def test_a_folder_holds_three_files_that_need_no_python(bundle: Path):
    assert sorted(f.name for f in bundle.iterdir()) == [
        "card.md",
        "config.yaml",
        "model.safetensors",
    ]
    assert yaml.safe_load((bundle / "config.yaml").read_text())["settings"]["size"] == "nano"
    card = (bundle / "card.md").read_text()
    assert "| joint avgMinFDE6 | 1.25 |" in card
    assert "Figures on val, 3 scenes" in card


def test_figures_of_numpy_are_written_as_plain_numbers(tmp_path: Path):
    card = Card(figures={"minFDE": np.float64(0.5)}, seed=np.int64(3))
    loaded = load_bundle(save_bundle(tmp_path / "fan", build_model("fan", {}, TIME), card=card))
    assert loaded.card.figures == {"minFDE": 0.5}


def test_the_same_model_gives_the_same_bytes(tmp_path: Path, model: ForecastModel):
    first = save_bundle(tmp_path / "a.zip", model, OPTIONS, CARD).read_bytes()
    assert save_bundle(tmp_path / "b.zip", model, OPTIONS, CARD).read_bytes() == first


def test_a_bundle_is_replaced_and_nothing_is_left_over(bundle: Path):
    save_bundle(bundle, build_model("fan", {}, TIME))
    assert load_bundle(bundle).model.name == "fan"
    assert [entry.name for entry in bundle.parent.iterdir()] == ["bundle"]


def test_a_folder_with_anything_else_in_it_is_not_replaced(bundle: Path, model: ForecastModel):
    (bundle / "notes.txt").write_text("mine")
    with pytest.raises(BundleError, match="not only a bundle"):
        save_bundle(bundle, model)
    assert (bundle / "notes.txt").read_text() == "mine"


def test_a_write_that_fails_leaves_the_old_bundle(
    bundle: Path, model: ForecastModel, monkeypatch: pytest.MonkeyPatch
):
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        save_bundle(bundle, build_model("fan", {}, TIME))
    assert load_bundle(bundle).model.name == "regression"
    assert [entry.name for entry in bundle.parent.iterdir()] == ["bundle"]


def test_weights_that_are_not_finite_are_not_saved(tmp_path: Path):
    model = build_model("regression", {"size": "nano"}, TIME)
    with torch.no_grad():
        model.prior[0] = torch.nan
    with pytest.raises(BundleError, match=r"not finite.*field=prior"):
        save_bundle(tmp_path / "bundle", model)
    assert list(tmp_path.iterdir()) == []


class TestDamage:
    """Each names the file and the field."""

    def test_a_flipped_bit_in_the_weights(self, bundle: Path):
        file = bundle / "model.safetensors"
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.write_bytes(data)
        with pytest.raises(BundleError, match=r"damaged or exchanged \[file=.*model\.safetensors"):
            load_bundle(bundle)

    def test_weights_cut_short_under_a_checksum_that_fits(self, bundle: Path):
        file = bundle / "model.safetensors"
        file.write_bytes(file.read_bytes()[:-10])
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        edit_config(bundle, lambda values: values.update(weights=digest))
        with pytest.raises(BundleError, match=r"is damaged.*model\.safetensors"):
            load_bundle(bundle)

    def test_a_missing_tensor(self, bundle: Path):
        replace_weights(bundle, lambda tensors: tensors.pop("prior"))
        with pytest.raises(BundleError, match=r"a tensor is missing.*field=prior"):
            load_bundle(bundle)

    def test_an_extra_tensor(self, bundle: Path):
        replace_weights(bundle, lambda tensors: tensors.update(extra=torch.zeros(1)))
        with pytest.raises(BundleError, match=r"no such tensor.*field=extra"):
            load_bundle(bundle)

    def test_a_tensor_of_another_shape(self, bundle: Path):
        replace_weights(bundle, lambda tensors: tensors.update(prior=torch.zeros(5)))
        with pytest.raises(BundleError, match=r"has shape \[5\], it must be \[6\].*field=prior"):
            load_bundle(bundle)

    def test_a_tensor_of_whole_numbers(self, bundle: Path):
        replace_weights(bundle, lambda tensors: tensors.update(prior=torch.zeros(6).long()))
        with pytest.raises(BundleError, match=r"int64.*field=prior"):
            load_bundle(bundle)

    def test_a_tensor_that_is_not_finite(self, bundle: Path):
        replace_weights(bundle, lambda tensors: tensors["prior"].fill_(torch.inf))
        with pytest.raises(BundleError, match=r"not finite.*field=prior"):
            load_bundle(bundle)

    @pytest.mark.parametrize(
        ("edit", "said"),
        [
            (lambda c: c["time"].update(dt=-1.0), "time.dt"),
            (lambda c: c["time"].update(history=10**9), "time.history"),
            (lambda c: c["time"].update(future=-5), "time.future"),
            (lambda v: v.update(model="regresion"), "Did you mean 'regression'"),
            (lambda v: v.update(extra=1), r"unknown setting.*field=extra"),
            (lambda v: v["settings"].update(sise="nano"), r"field=model\.regression\.sise.*'size'"),
            (lambda v: v["settings"].update(size="huge"), r"field=model\.regression\.size"),
            (lambda v: v["time"].pop("dt"), r"missing.*field=time\.dt"),
            (lambda v: v["options"].update(map_kinds=["ROAD"]), r"field=options\.map_kinds\[0\]"),
            (lambda v: v["options"].update(max_agents=0), r"is 0.*field=.*max_agents"),
            (lambda v: v.update(format=2), r"has the format 2.*field=format"),
            (lambda v: v.clear(), r"field=format"),
        ],
    )
    def test_a_config_that_does_not_fit(
        self, bundle: Path, edit: Callable[[dict[str, Any]], None], said: str
    ):
        edit_config(bundle, edit)
        with pytest.raises(BundleError, match=said) as caught:
            load_bundle(bundle)
        assert caught.value.file is not None and caught.value.file.endswith("config.yaml")

    @pytest.mark.parametrize(
        "text",
        [
            "model: [",
            "model: !!python/object/apply:os.system ['true']",
            "a: &a [1, 2]\nb: [*a, *a]",
            "- a list",
            "[" * 5000,
            "model: \xff".encode("latin-1"),
        ],
        ids=["broken", "python object", "aliases", "list", "deep", "bytes"],
    )
    def test_a_config_that_is_not_plain(self, bundle: Path, text: str | bytes):
        (bundle / "config.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(BundleError, match=r"config\.yaml"):
            load_bundle(bundle)

    @pytest.mark.parametrize("name", ["config.yaml", "model.safetensors"])
    def test_a_file_that_is_gone(self, bundle: Path, name: str):
        (bundle / name).unlink()
        with pytest.raises(BundleError, match=f"is not there.*{name}"):
            load_bundle(bundle)

    def test_nothing_there(self, tmp_path: Path):
        with pytest.raises(BundleError, match="does not exist"):
            load_bundle(tmp_path / "nothing")

    def test_a_card_is_not_needed(self, bundle: Path):
        (bundle / "card.md").unlink()
        assert load_bundle(bundle).card == CARD


class TestZip:
    @pytest.mark.parametrize("name", ["../evil.txt", "/evil.txt", "sub/evil.txt", "evil.pkl"])
    def test_a_foreign_entry_is_refused_and_nothing_is_unpacked(
        self, tmp_path: Path, model: ForecastModel, name: str
    ):
        folder = tmp_path / "inner"
        path = save_bundle(folder / "bundle.zip", model)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(name, "evil")
        with pytest.raises(BundleError, match="does not belong in a bundle"):
            load_bundle(path)
        assert [entry.name for entry in tmp_path.rglob("*")] == ["inner", "bundle.zip"]

    def test_an_entry_that_unpacks_to_too_much_is_refused_unread(self, tmp_path: Path):
        path = tmp_path / "bomb.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("config.yaml", b"a" * (2 << 20))
            archive.writestr("model.safetensors", b"")
        with pytest.raises(BundleError, match=r"has 2097152 bytes.*config\.yaml"):
            load_bundle(path)

    def test_an_entry_that_lies_about_its_size_is_refused(self, tmp_path: Path):
        path = tmp_path / "liar.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("config.yaml", b"a" * (2 << 20))
            archive.writestr("model.safetensors", b"")
        small, large = struct.pack("<I", 10), struct.pack("<I", 2 << 20)
        path.write_bytes(path.read_bytes().replace(large, small))
        with pytest.raises(BundleError):
            load_bundle(path)

    def test_a_zip_cut_short_is_refused(self, tmp_path: Path, model: ForecastModel):
        path = save_bundle(tmp_path / "bundle.zip", model)
        path.write_bytes(path.read_bytes()[:-200])
        with pytest.raises(BundleError):
            load_bundle(path)

    def test_a_changed_byte_in_the_middle_is_refused(self, tmp_path: Path, model: ForecastModel):
        path = save_bundle(tmp_path / "bundle.zip", model)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 255
        path.write_bytes(data)
        with pytest.raises(BundleError):
            load_bundle(path)


def test_a_header_of_safetensors_that_lies_is_refused(bundle: Path):
    file = bundle / "model.safetensors"
    header = json.dumps({"prior": {"dtype": "F32", "shape": [6], "data_offsets": [0, 1 << 40]}})
    file.write_bytes(struct.pack("<Q", len(header)) + header.encode())
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    edit_config(bundle, lambda values: values.update(weights=digest))
    with pytest.raises(BundleError, match="is damaged"):
        load_bundle(bundle)
