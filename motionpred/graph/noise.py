"""Keyed noise: numbers that depend on what they are for, not on when or where they are drawn.

Each number is a stateless hash of (seed, stream, scene, track, draw, element) in int64 tensor
arithmetic, so a scene sees the same noise alone or in any batch, at any place in it, with 16 or 64
draws. Mixing is the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom
number generators", OOPSLA 2014). Uniform numbers are the same bits on every device; normal ones
go through float64 ``log`` and ``cos``, whose last bit a device may round differently.

Shapes: B scenes, D draws, A agents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def _signed(value: int) -> int:
    """The 64-bit pattern of ``value`` as int64 (torch shifts no unsigned integers)."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


_GAMMA = _signed(0x9E3779B97F4A7C15)
_MIX_1 = _signed(0xBF58476D1CE4E5B9)
_MIX_2 = _signed(0x94D049BB133111EB)
_LOW_32 = (1 << 32) - 1


def keyed_noise(
    seed: int,
    scene_key: Tensor,
    track_key: Tensor | None,
    draws: int,
    elements: Sequence[int] = (),
    *,
    stream: int = 0,
) -> Tensor:
    """Standard normal numbers ``[B, D, A, *elements]``, or ``[B, D, *elements]`` without tracks.

    float32. ``scene_key`` ``[B]`` and ``track_key`` ``[B, A]`` int64 are those of the batch and say
    on which device; ``stream`` separates uses of one seed (a sampler's steps, say). The number at a
    draw and flat element does not depend on how many of either are asked for. Box-Muller makes two
    numbers of one hash (so the largest is 6.8).
    """
    count = math.prod(elements)
    pairs = -(-count // 2)
    bits = _hashes(_keys(seed, stream, scene_key, track_key, draws), pairs)
    # Halves of the hash as uniform numbers inside (0, 1), never 0: its logarithm is taken.
    first = (_shifted(bits, 32).double() + 0.5) * 2.0**-32
    second = ((bits & _LOW_32).double() + 0.5) * 2.0**-32
    radius = torch.sqrt(-2.0 * torch.log(first))
    angle = second * (2.0 * math.pi)
    both = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=-1)
    flat = both.float().flatten(-2)[..., :count]
    return flat.reshape(*flat.shape[:-1], *elements)


def keyed_uniform(
    seed: int,
    scene_key: Tensor,
    track_key: Tensor | None,
    draws: int,
    elements: Sequence[int] = (),
    *,
    stream: int = 0,
) -> Tensor:
    """Uniform numbers in [0, 1) with 24 bits; arguments and shape as :func:`keyed_noise`."""
    count = math.prod(elements)
    bits = _hashes(_keys(seed, stream, scene_key, track_key, draws), count)
    flat = _shifted(bits, 40).float() * 2.0**-24
    return flat.reshape(*flat.shape[:-1], *elements)


def _keys(
    seed: int, stream: int, scene_key: Tensor, track_key: Tensor | None, draws: int
) -> Tensor:
    """A key for every (scene, draw, track): ``[B, D, A]``, or ``[B, D]`` without tracks."""
    device = scene_key.device
    start = _combine(
        torch.tensor(_signed(seed), device=device), torch.tensor(stream, device=device)
    )
    key = _combine(start, scene_key)
    draw = torch.arange(draws, device=device)
    if track_key is None:
        return _combine(key[:, None], draw)
    return _combine(_combine(key[:, None], track_key)[:, None], draw[:, None])


def _hashes(key: Tensor, count: int) -> Tensor:
    """``count`` hashes of each key, along a new last axis."""
    counter = torch.arange(1, count + 1, device=key.device) * _GAMMA
    return _mixed(key[..., None] + counter)


def _combine(key: Tensor, value: Tensor) -> Tensor:
    return _mixed(key ^ _mixed(value + _GAMMA))


def _mixed(x: Tensor) -> Tensor:
    x = (x ^ _shifted(x, 30)) * _MIX_1
    x = (x ^ _shifted(x, 27)) * _MIX_2
    return x ^ _shifted(x, 31)


def _shifted(x: Tensor, by: int) -> Tensor:
    """Logical shift to the right: the mask drops the copies of the sign bit."""
    return (x >> by) & ((1 << (64 - by)) - 1)
