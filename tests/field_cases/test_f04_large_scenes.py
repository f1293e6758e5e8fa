"""F04: scenes with more than 200 agents."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from motionpred.datasets.argoverse2 import Argoverse2, write_scene
from motionpred.graph import BatchOptions, collate_scenes
from motionpred.scene import Role, Scene, TimeSpec
from motionpred.store import prepare
from motionpred.testing import make_scene, make_tracks
from motionpred.training import ModelChoice, TrainConfig, TrainerConfig, train
from motionpred.training.parts import bounded_batches, tokens

CLOCK = TimeSpec(0.1, 50, 60)
SCORED = range(0, 260, 33)  # 8 of them, from the first agent to almost the last


def crowd(name: str, agents: int, scored: range) -> Scene:
    """Agents in a row, 0 to 400 m away, that drive 1 m/s to the left."""
    x = np.linspace(0.0, 400.0, agents)
    time = np.arange(110) * 0.1
    position = np.stack(np.broadcast_arrays(x[:, None], time), axis=-1)
    roles = [Role.SCORED if i in scored else Role.UNSCORED for i in range(agents)]
    roles[0] |= Role.FOCAL
    ids = [f"{name}{i}" for i in range(agents)]
    tracks = make_tracks(position, roles=roles, track_id=ids, heading=np.full((agents, 110), 1.57))
    info = {"city": "austin", "focal_track_id": ids[0]}
    return make_scene(tracks, now=49, scene_id=name, dataset="argoverse2", split="train", info=info)


def shuffled(scene: Scene, seed: int) -> Scene:
    """The same scene with its tracks in another order, as another file would have them."""
    from dataclasses import fields, replace

    order = np.random.default_rng(seed).permutation(len(scene.tracks.track_id))
    rows = {
        field.name: getattr(scene.tracks, field.name)[order]
        for field in fields(scene.tracks)
        if isinstance(getattr(scene.tracks, field.name), np.ndarray)
    }
    return replace(scene, tracks=replace(scene.tracks, **rows))


LARGE = crowd("large", 260, SCORED)
SMALL = [crowd(f"small{i}", 5, range(1)) for i in range(9)]


def test_f04_all_scored_agents_stay_and_what_is_cut_is_reported() -> None:
    batch = collate_scenes([LARGE, *SMALL], CLOCK, BatchOptions(max_agents=128))

    kept = set(batch.track_id[0])
    assert len(kept) == 128
    assert {f"large{i}" for i in SCORED} <= kept
    assert batch.dropped["agents"] == 132


@pytest.mark.parametrize("seed", [1, 2])
def test_f04_the_order_of_the_file_decides_nothing(seed: int) -> None:
    options = BatchOptions(max_agents=128)
    one = collate_scenes([LARGE], CLOCK, options)
    other = collate_scenes([shuffled(LARGE, seed)], CLOCK, options)

    assert set(one.track_id[0]) == set(other.track_id[0])


def test_f04_a_batch_is_bounded_by_agents_and_map_points_not_only_by_scenes() -> None:
    parts = bounded_batches([*SMALL, LARGE], CLOCK, BatchOptions(max_agents=128), 200)

    assert sorted(name for part in parts for name in part.scene_id) == sorted(
        scene.scene_id for scene in [LARGE, *SMALL]
    )
    assert [len(part) for part in parts] == [1, 5, 4]
    assert max(map(tokens, parts)) == 200


def test_f04_training_tells_the_largest_batch_and_what_was_left_out(tmp_path: Path) -> None:
    for scene in [LARGE, *SMALL]:
        write_scene(scene, tmp_path / "raw")
    prepare(Argoverse2(), tmp_path / "raw", tmp_path / "store")

    result = train(
        TrainConfig(
            store=str(tmp_path / "store"),
            model=ModelChoice("regression", {"size": "nano"}),
            batch=BatchOptions(max_agents=128),
            trainer=TrainerConfig(
                max_steps=1, batch_size=10, part_tokens=300, accelerator="cpu", warmup_steps=0
            ),
            out=str(tmp_path / "runs"),
        )
    )

    summary = json.loads((result.run / "run.json").read_text())
    # Two scenes as wide as the widest are more than 300: one at a time.
    assert summary["largest_batch"] == {"scenes": 1, "agents": 128, "map_pieces": 32}
    assert result.dropped["agents"] == 132
