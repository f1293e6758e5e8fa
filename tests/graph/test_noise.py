"""Keyed noise: the same numbers for the same scene, track, draw and element, and good ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from motionpred.graph import keyed_noise, keyed_uniform, stable_keys

SCENES = torch.from_numpy(stable_keys([f"scene-{i}" for i in range(4)]))
TRACKS = torch.from_numpy(np.stack([stable_keys([f"{i}{j}" for j in range(6)]) for i in range(4)]))
BOTH = pytest.mark.parametrize("draw", [keyed_noise, keyed_uniform])


@BOTH
def test_a_scene_sees_the_same_numbers_alone_and_in_any_batch(draw):
    batch = draw(7, SCENES, TRACKS, 3, (5, 2))
    assert batch.shape == (4, 3, 6, 5, 2)
    assert batch.dtype == torch.float32
    for i in range(4):
        alone = draw(7, SCENES[i : i + 1], TRACKS[i : i + 1], 3, (5, 2))
        assert torch.equal(alone[0], batch[i])
    order = torch.tensor([2, 0, 3, 1])
    assert torch.equal(draw(7, SCENES[order], TRACKS[order], 3, (5, 2)), batch[order])


@BOTH
def test_a_track_sees_the_same_numbers_at_any_place_beside_any_padding(draw):
    batch = draw(7, SCENES, TRACKS, 3, (4,))
    order = torch.tensor([5, 1, 0])
    padded = torch.cat([TRACKS[:, order], torch.zeros(4, 8, dtype=torch.int64)], dim=1)
    assert torch.equal(draw(7, SCENES, padded, 3, (4,))[:, :, :3], batch[:, :, order])


@BOTH
@settings(max_examples=20, deadline=None)
@given(draws=st.integers(1, 20), steps=st.integers(1, 9))
def test_fewer_draws_and_elements_are_the_first_of_more(draw, draws, steps):
    many = draw(7, SCENES, TRACKS, 64, (9, 2))
    assert torch.equal(draw(7, SCENES, TRACKS, draws, (steps, 2)), many[:, :draws, :, :steps])


@BOTH
def test_scenes_have_numbers_of_their_own_without_tracks(draw):
    numbers = draw(7, SCENES, None, 5, (3,))
    assert numbers.shape == (4, 5, 3)
    assert numbers.unique().numel() == numbers.numel()
    assert draw(7, SCENES, TRACKS, 5).shape == (4, 5, 6)


@BOTH
def test_seed_stream_scene_track_draw_and_element_all_matter(draw):
    base = draw(7, SCENES, TRACKS, 8, (6,))
    assert base.unique().numel() > 0.999 * base.numel()
    for other in (
        draw(8, SCENES, TRACKS, 8, (6,)),
        draw(-7, SCENES, TRACKS, 8, (6,)),
        draw(7 + 2**40, SCENES, TRACKS, 8, (6,)),
        draw(7, SCENES, TRACKS, 8, (6,), stream=1),
        draw(7, SCENES.flip(0), TRACKS, 8, (6,)),
    ):
        assert (other != base).float().mean() > 0.999


UNIFORM = [0.893364251, 0.059846401, 0.270513117, 0.387076616]
NORMAL = [-0.0332034, -0.473729, 1.5943854, -0.2698227]


def test_numbers_stay_the_same_from_release_to_release():
    key = torch.tensor([1234567890123456789])
    track = torch.tensor([[987654321]])
    uniform = keyed_uniform(42, key, track, 2, (2,))
    normal = keyed_noise(42, key, track, 2, (2,))
    assert uniform.flatten().tolist() == pytest.approx(UNIFORM, abs=1e-7)
    assert normal.flatten().tolist() == pytest.approx(NORMAL, abs=1e-6)


def reference(value: int) -> int:
    """SplitMix64's finaliser on Python integers."""
    mask = (1 << 64) - 1
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & mask
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & mask
    return value ^ (value >> 31)


@given(st.integers(0, 2**64 - 1))
def test_tensor_arithmetic_mixes_as_unsigned_64_bit_integers_do(value):
    from motionpred.graph.noise import _mixed, _signed

    assert int(_mixed(torch.tensor(_signed(value)))) == _signed(reference(value))


def test_normal_numbers_are_standard_normal():
    numbers = keyed_noise(3, SCENES, TRACKS, 64, (60, 2)).double().flatten().numpy()
    count = len(numbers)
    assert abs(numbers.mean()) < 4 / np.sqrt(count)
    assert abs(numbers.var() - 1) < 4 * np.sqrt(2 / count)
    assert abs(stats.skew(numbers)) < 4 * np.sqrt(6 / count)
    assert stats.kstest(numbers, "norm").pvalue > 1e-3
    assert np.abs(numbers).max() < 7


def test_uniform_numbers_are_uniform():
    numbers = keyed_uniform(3, SCENES, TRACKS, 64, (120,)).double().flatten().numpy()
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert stats.kstest(numbers, "uniform").pvalue > 1e-3
    counts = np.bincount((numbers * 64).astype(int), minlength=64)
    assert stats.chisquare(counts).pvalue > 1e-3


@BOTH
@pytest.mark.parametrize("axis", [0, 1, 2, 3, 4])
def test_neighbours_along_every_axis_are_uncorrelated(draw, axis):
    numbers = draw(11, SCENES, TRACKS, 32, (40, 2)).double()
    numbers = numbers - numbers.mean()
    a = numbers.narrow(axis, 0, numbers.shape[axis] - 1)
    b = numbers.narrow(axis, 1, numbers.shape[axis] - 1)
    correlation = float((a * b).mean() / numbers.var())
    assert abs(correlation) < 5 / np.sqrt(a.numel())


def test_keys_and_seeds_that_follow_each_other_give_unrelated_numbers():
    keys = torch.arange(1, 2001)
    numbers = torch.stack(
        [keyed_noise(seed, keys, None, 1).flatten() for seed in range(20)]
    ).double()
    across_seeds = torch.corrcoef(numbers).fill_diagonal_(0).abs().max()
    assert across_seeds < 5 / np.sqrt(2000)
    flat = numbers.flatten()
    assert abs(float((flat[1:] * flat[:-1]).mean())) < 4 / np.sqrt(len(flat))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_numbers_are_the_same_on_a_gpu():
    host = keyed_uniform(5, SCENES, TRACKS, 16, (60, 2))
    assert torch.equal(keyed_uniform(5, SCENES.cuda(), TRACKS.cuda(), 16, (60, 2)).cpu(), host)
    normal = keyed_noise(5, SCENES, TRACKS, 16, (60, 2))
    device = keyed_noise(5, SCENES.cuda(), TRACKS.cuda(), 16, (60, 2)).cpu()
    torch.testing.assert_close(device, normal, atol=1e-6, rtol=0)
