"""Adapters keep their contract, and the suite that says so notices when one does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motionpred.datasets import detect, get_adapter
from motionpred.datasets.argoverse2 import Argoverse2, write_scene
from motionpred.errors import SceneError
from motionpred.scene import EdgeKind, MapKind, Role, TimeSpec
from motionpred.testing import check_adapter, crossing_scene, differences, make_map


@pytest.fixture
def root(tmp_path):
    for seed, split in enumerate(("train", "train", "val")):
        write_scene(crossing_scene(f"made-{seed}", seed=seed, split=split), tmp_path)
    write_scene(crossing_scene("made-3", split="test").observed(), tmp_path)
    return tmp_path


def test_argoverse2_keeps_the_contract_on_made_scenes(root):
    check_adapter(Argoverse2(), root)


def test_argoverse2_keeps_the_contract_on_real_scenes(argoverse2_root):
    check_adapter(get_adapter("argoverse2"), argoverse2_root)


def test_a_folder_of_argoverse2_scenes_is_recognised_without_naming_it(root):
    assert detect(root).name == "argoverse2"


class Changed(Argoverse2):
    """The Argoverse 2 adapter with one fault in the scenes that it reads."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def read(self, source):
        for item in super().read(source):
            yield self.change(item)


def changed_tracks(**fields):
    def change(scene):
        values = {name: change(getattr(scene.tracks, name)) for name, change in fields.items()}
        return replace(scene, tracks=replace(scene.tracks, **values))

    return change


# Faults are functions of this module, so that the adapters can be pickled.
def no_scored_track(scene):
    return changed_tracks(roles=lambda roles: roles & ~np.int16(Role.SCORED | Role.FOCAL))(scene)


def nan_position(scene):
    return changed_tracks(position=lambda position: np.full_like(position, np.nan))(scene)


def another_clock(scene):
    return replace(scene, dt=0.5)


def one_id_for_all(scene):
    return replace(scene, scene_id="same")


def another_split(scene):
    return replace(scene, split="train")


def info_with_an_array(scene):
    return replace(scene, info={"city": np.zeros(2)})


def an_edge_from_a_crosswalk(scene):
    ring = [(0, 0), (1, 0), (1, 1)]
    pieces = [(MapKind.LANE, [(0, 0), (9, 0)]), (MapKind.CROSSWALK, ring)]
    return replace(scene, map=make_map(pieces, edges=[(1, 0, EdgeKind.SUCCESSOR)]))


def a_ring_that_is_closed_twice(scene):
    ring = [(0, 0), (1, 0), (1, 1), (0, 0)]
    return replace(scene, map=make_map([(MapKind.CROSSWALK, ring)]))


def random_velocity(scene):
    noise = np.random.default_rng().normal
    return changed_tracks(velocity=lambda v: (v + (v != 0) * noise()).astype(np.float32))(scene)


def an_error(scene):
    return SceneError("is broken", scene=scene.scene_id)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (no_scored_track, "no track is SCORED"),
        (nan_position, r"not finite \[scene=made-3, field=tracks.position"),
        (another_clock, r"dt is 0\.5, not 0\.1"),
        (one_id_for_all, "scene same is in test/made-3/.* and again in train/made-0"),
        (another_split, "split is 'train', its source says 'test'"),
        (info_with_an_array, r"is no JSON: .*field=info"),
        (an_edge_from_a_crosswalk, "a SUCCESSOR edge ends at no LANE"),
        (a_ring_that_is_closed_twice, "CROSSWALK 0 repeats its first corner"),
        (random_velocity, "a second read differs in tracks.velocity"),
        (an_error, "is broken"),
    ],
)
def test_a_fault_in_the_scenes_is_named(root, fault, message):
    with pytest.raises(AssertionError, match=message):
        check_adapter(Changed(fault), root)


class Unsorted(Argoverse2):
    def find(self, root, split=None):
        return super().find(root, split)[::-1]


class SplitBlind(Argoverse2):
    def find(self, root, split=None):
        return super().find(root)


class Credulous(Argoverse2):
    def sniff(self, path):
        return True


class Silent(Argoverse2):
    def find(self, root, split=None):
        return super().find(root, split) if root.exists() else []


class Clockless(Argoverse2):
    time = TimeSpec(0.1, 50, 0)


class Unmeasured(Argoverse2):
    protocols = ("argoverse2-multi", "argoverse3")


class Diarist(Argoverse2):
    def read(self, source):
        (source.path.parent / "cache.bin").write_bytes(b"seen")
        return super().read(source)


class Twofold(Argoverse2):
    def read(self, source):
        for scene in super().read(source):
            yield scene
            yield replace(scene, scene_id=f"{scene.scene_id}-again")


class Forgetful(Argoverse2):
    def read_one(self, source, scene_id):
        return next(self.read(source))


@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        (Unsorted(), "keys are not sorted"),
        (SplitBlind(), "split 'train' is not what it marks so"),
        (Credulous(), "sniff of an empty folder is not False"),
        (Silent(), "find of a missing root raises no SceneError"),
        (Clockless(), "all of it must be positive"),
        (Unmeasured(), "there is no protocol argoverse3"),
        (Diarist(), "changed the raw files or wrote beside them"),
        (Twofold(), "holds 2 scenes, scenes_per_source is 1"),
        (Forgetful(), "an unknown scene id raises no SceneError"),
    ],
)
def test_a_fault_of_the_adapter_itself_is_named(root, adapter, message):
    with pytest.raises(AssertionError, match=message):
        check_adapter(adapter, root)


def test_an_adapter_that_cannot_be_sent_to_a_worker_is_noticed(root):
    with pytest.raises(AssertionError, match="cannot be pickled"):
        check_adapter(Changed(lambda scene: scene), root)


def test_differences_names_the_fields_that_differ():
    a = crossing_scene()
    b = replace(changed_tracks(heading=lambda heading: heading + 1)(a), split="val")
    assert differences(a, a) == []
    assert differences(a, b) == ["split: 'train' and 'val'", "tracks.heading"]
