"""Point-rotary attention against its definition, pair by pair, and what it promises."""

from __future__ import annotations

import itertools
import math
import weakref
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from motionpred.models.layers.places import HeadShape, Places, centre_of, locate
from motionpred.models.layers.point_rotary import PointRotaryAttention

LENGTH, SHARPEST = 20.0, 4.0  # metres


def stirred_layer(width: int = 32, heads: int = 2, points: int = 2) -> PointRotaryAttention:
    """Weights as large as trained ones, in float64."""
    torch.manual_seed(0)
    layer = PointRotaryAttention(width, heads, points).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return layer


def poses(*shape: int) -> Tensor:
    return torch.randn(*shape, 3, dtype=torch.float64) * torch.tensor([30.0, 30.0, 2.0])


def everybody(pose: Tensor) -> Tensor:
    return torch.ones(pose.shape[:-1], dtype=torch.bool)


def here(shape: HeadShape, pose: Tensor, mask: Tensor, directed: Tensor | None = None) -> Places:
    return locate(pose, centre_of(pose, mask), shape, mask=mask, directed=directed)


def turned(pose: Tensor, angle: float, dx: float, dy: float) -> Tensor:
    x, y, heading = pose.unbind(-1)
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.stack([cos * x - sin * y + dx, sin * x + cos * y + dy, heading + angle], dim=-1)


class Blocks:
    """What a projection gives one token and head: plain channels, and pairs as complex numbers."""

    def __init__(self, shape: HeadShape, projected: Tensor, groups: int, head: int) -> None:
        half, pairs = shape.width // 2, shape.pairs
        plain, x, y = projected[: groups * (half + 2 * pairs)].split(
            [groups * half, groups * pairs, groups * pairs]
        )
        own = slice(head * pairs, (head + 1) * pairs)
        pair = torch.complex(x[own], y[own])
        self.plain = plain[head * half : (head + 1) * half]
        self.features, self.points = pair[: shape.feature_pairs], pair[shape.feature_pairs :]


def dense(
    layer: PointRotaryAttention,
    x: Tensor,
    pose: Tensor,
    keys: Tensor,
    key_pose: Tensor,
    mask: Tensor,
    directed: Tensor,
) -> Tensor:
    """One scene: ``-λ |X - Y|²`` and rotated products for every pair, one after another.

    ``x`` ``[N, D]`` with headings all known, ``keys`` ``[M, D]`` normed, ``mask`` and ``directed``
    ``[M]``.
    """
    shape = layer.shape
    harmonic = torch.tensor([1.0 + n % 2 for n in range(shape.feature_pairs)]).double()
    limit = math.log((LENGTH / SHARPEST) ** 2 / 2)
    rows = []
    for query, (qx, qy, turn) in zip(layer.query(layer.norm(x)), pose, strict=True):
        change = query[-shape.heads * shape.points :] + layer.log_width
        width = change.clamp(max=limit).exp().view(shape.heads, -1)
        at, own = torch.complex(qx, qy) / LENGTH, torch.polar(torch.ones_like(turn), turn)
        for head in range(shape.heads):
            q = Blocks(shape, query, shape.heads, head)
            scores, values = [], []
            for key, (kx, ky, key_turn), known in zip(
                layer.key_value(keys)[mask], key_pose[mask], directed[mask], strict=True
            ):
                k = Blocks(shape, key, 2 * shape.heads, head)
                v = Blocks(shape, key, 2 * shape.heads, shape.heads + head)
                there = torch.complex(kx, ky) / LENGTH
                theirs = torch.polar(known.double(), key_turn)  # 0 without a heading
                step = torch.polar(known.double().expand_as(harmonic), key_turn * harmonic)
                step = step * torch.polar(torch.ones_like(harmonic), -turn * harmonic)
                like = q.plain @ k.plain + (q.features.conj() * k.features * step).real.sum()
                gap = (own * q.points + at - theirs * k.points - there).abs().square()
                scores.append(like / shape.width**0.5 - (width[head] * gap).sum())
                seen = (theirs * v.points + there - at) * own.conj()
                values.append(torch.cat([v.plain.to(seen.dtype), v.features * step, seen]))
            read = (torch.stack(scores).softmax(0)[:, None] * torch.stack(values)).sum(0)
            half = shape.width // 2
            features, point = read[half:].split([shape.feature_pairs, shape.points])
            distance = torch.sqrt(point.abs().square() + 1e-6)
            short = torch.log1p(distance)
            point = point * short / distance
            rows.append(
                torch.cat(
                    [read[:half].real, features.real, point.real, features.imag, point.imag, short]
                )
            )
    return x + layer.out(torch.stack(rows).view(len(x), -1))


def gradients(layer: PointRotaryAttention, out: Tensor, *inputs: Tensor) -> list[Tensor]:
    wanted = [*inputs, *layer.parameters()]
    found = torch.autograd.grad(out.square().sum(), wanted, allow_unused=True)
    return [g for g in found if g is not None]


@pytest.mark.parametrize("points", [1, 2, 4])
def test_self_attention_equals_the_pair_by_pair_form_with_its_gradients(points: int) -> None:
    layer = stirred_layer(points=points)
    x, pose = torch.randn(6, 32).double().requires_grad_(), poses(6).requires_grad_()
    mask, directed = (
        torch.tensor([1, 1, 1, 1, 0, 1]).bool(),
        torch.tensor([1, 1, 1, 1, 1, 0]).bool(),
    )
    places = here(layer.shape, pose[None], mask[None], directed[None])
    got = layer(x[None], places)[0, :4]  # the queries that are tokens and have a heading
    want = dense(layer, x[:4], pose[:4], layer.norm(x), pose, mask, directed)
    torch.testing.assert_close(got, want, atol=1e-10, rtol=1e-10)
    for a, b in zip(gradients(layer, got, x, pose), gradients(layer, want, x, pose), strict=True):
        assert (a - b).abs().max() <= 1e-10 * b.abs().max()


def test_modes_at_places_of_their_own_equal_the_pair_by_pair_form() -> None:
    layer = stirred_layer()
    x, pose = torch.randn(2, 3, 4, 32).double(), poses(2, 3, 4)  # [B, K, N, ...]
    keys, key_pose = torch.randn(2, 5, 32).double(), poses(2, 5)
    mask, directed = torch.rand(2, 5) < 0.7, torch.rand(2, 5) < 0.7
    mask[:, 0] = True
    centre = centre_of(key_pose, mask)
    places = locate(pose, centre[:, None], layer.shape, mask=everybody(pose))
    around = locate(key_pose, centre, layer.shape, mask=mask, directed=directed)
    got = layer(x, places, keys, around)
    for b in range(2):
        for k in range(3):
            scene = (keys[b], key_pose[b], mask[b], directed[b])
            want = dense(layer, x[b, k], pose[b, k], *scene)
            torch.testing.assert_close(got[b, k], want, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("pose", [(0.0, 0.0, 0.0), (40.0, -25.0, 2.1), (-7.0, 90.0, -3.0)])
def test_a_query_that_looks_ten_metres_ahead_finds_the_key_there(
    pose: tuple[float, float, float],
) -> None:
    """Two keys, ten metres ahead and ten metres to the left; only their places differ."""
    layer = PointRotaryAttention(32, 2, 2)
    shape = layer.shape
    block = shape.heads * shape.width // 2
    with torch.no_grad():
        for linear in (layer.query, layer.key_value):
            linear.weight.zero_(), linear.bias.zero_()
        x_of_points = layer.query.bias[block : block + shape.heads * shape.pairs]
        x_of_points.view(shape.heads, -1)[:, shape.feature_pairs :] = 10.0 / LENGTH
        layer.log_width.fill_(10.0)  # as sharp as it may be
        layer.out.weight.zero_(), layer.out.bias.zero_()
    query = torch.tensor(pose)
    ahead, left = turned(torch.tensor([[10.0, 0, 0], [0, 10.0, 0]]), pose[2], *pose[:2])
    both = torch.stack([query, ahead, left])[None]
    mask = torch.tensor([[False, True, True]])
    places = locate(both, centre_of(both, mask), shape, mask=mask | True)
    around = locate(both, centre_of(both, mask), shape, mask=mask)
    read: list[Tensor] = []
    layer.out.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    layer(torch.zeros(1, 3, 32), places, torch.zeros(1, 3, 32), around)
    # Channels of a head: plain, x of features and points, y alike, distances; here of head 0.
    own = read[0][0, 0].view(shape.heads, -1)[0, shape.width // 2 :]
    seen_x = own[shape.feature_pairs : shape.pairs]
    seen_y = own[shape.pairs + shape.feature_pairs : 2 * shape.pairs]
    torch.testing.assert_close(seen_x, torch.full((2,), math.log1p(0.5)), atol=1e-3, rtol=0)
    torch.testing.assert_close(seen_y, torch.zeros(2), atol=1e-3, rtol=0)


@pytest.mark.parametrize("motion", [(0.7, 0.0, 0.0), (-2.5, 3000.0, 4000.0)])
def test_a_moved_scene_gives_the_same_tokens(motion: tuple[float, float, float]) -> None:
    layer, pose = stirred_layer(), poses(2, 9)
    mask, directed = torch.rand(2, 9) < 0.8, torch.rand(2, 9) < 0.6
    x = torch.randn(2, 9, 32).double()
    before = layer(x, here(layer.shape, pose, mask, directed))
    # Tokens without a heading stay where the scene's axes put theirs: nobody may look at it.
    after = layer(x, here(layer.shape, turned(pose, *motion), mask, directed))
    torch.testing.assert_close(before[mask], after[mask], atol=1e-10, rtol=0)


def test_two_kilometres_from_the_origin_float32_is_as_good_as_at_it() -> None:
    layer, pose = stirred_layer(), poses(1, 40) * torch.tensor([3.0, 3.0, 1.0])
    x, mask = torch.randn(1, 40, 32).double(), everybody(pose)
    exact = layer(x, here(layer.shape, pose, mask))
    rough, away = layer.float(), turned(pose, 0.0, 2000.0, -500.0).float()
    error = rough(x.float(), here(layer.shape, away, mask)) - exact
    assert error.square().mean().sqrt() < 1e-4 * exact.square().mean().sqrt()


def test_a_full_turn_changes_nothing() -> None:
    layer, pose = stirred_layer().float(), poses(1, 8).float()
    x, mask = torch.randn(1, 8, 32), everybody(pose)
    again = pose + torch.tensor([0.0, 0.0, 2 * math.pi])
    before, after = (layer(x, here(layer.shape, at, mask)) for at in (pose, again))
    torch.testing.assert_close(before, after, atol=1e-5, rtol=0)


def test_padding_and_what_stands_in_it_changes_nothing() -> None:
    layer, pose, x = stirred_layer(), poses(1, 6), torch.randn(1, 6, 32).double()
    mask = torch.tensor([[True] * 4 + [False] * 2])
    few = layer(x[:, :4], here(layer.shape, pose[:, :4], mask[:, :4]))
    many = layer(x, here(layer.shape, pose, mask))[:, :4]
    torch.testing.assert_close(few, many, atol=1e-12, rtol=0)
    pose[:, 4:], x[:, 4:] = 1e6, 1e3
    torch.testing.assert_close(many, layer(x, here(layer.shape, pose, mask))[:, :4])


def test_a_query_without_any_key_stays_finite_with_its_gradient() -> None:
    layer, pose = PointRotaryAttention(32, 2, 2), poses(1, 5).float()
    x = torch.randn(1, 5, 32, requires_grad=True)
    out = layer(x, here(layer.shape, pose, torch.zeros(1, 5, dtype=torch.bool)))
    (gradient,) = torch.autograd.grad(out.square().sum(), x)
    assert torch.isfinite(out).all() and torch.isfinite(gradient).all()


def test_the_sharpest_focus_is_four_metres() -> None:
    layer = PointRotaryAttention(32, 2, 2)
    pose, mask = torch.tensor([[[0.0, 0, 0], [4.0, 0, 0]]]), torch.ones(1, 2, dtype=torch.bool)
    x = torch.randn(1, 2, 32)
    with torch.no_grad():
        layer.log_width.fill_(6.0)
        sharp = layer(x, here(layer.shape, pose, mask))
        layer.log_width.fill_(9.0)
        torch.testing.assert_close(sharp, layer(x, here(layer.shape, pose, mask)))
        layer.log_width.fill_(0.0)
        assert not torch.allclose(sharp, layer(x, here(layer.shape, pose, mask)), atol=1e-4)


def test_autocast_leaves_the_layer_in_float32() -> None:
    layer, pose, x = PointRotaryAttention(32, 2, 2), poses(1, 5).float(), torch.randn(1, 5, 32)
    places = here(layer.shape, pose, everybody(pose))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under = layer(x, places)
    assert torch.equal(under, layer(x, places))


def test_weight_decay_leaves_the_widths_alone() -> None:
    assert PointRotaryAttention(32, 2, 2).log_width.ndim == 1


class PeakMemory(TorchDispatchMode):
    """The most bytes that tensors held at a time, and the largest tensor, while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.held = self.peak = self.largest = 0
        self._seen: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for value in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(value, Tensor):
                self._note(value.untyped_storage())
        return result

    def _note(self, storage: Any) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key in self._seen:
            return
        self._seen.add(key)
        self.held += size
        self.peak, self.largest = max(self.peak, self.held), max(self.largest, size)
        weakref.finalize(storage, self._forget, key, size)

    def _forget(self, key: int, size: int) -> None:
        self._seen.discard(key)
        self.held -= size


def memory(tokens: int) -> tuple[int, int]:
    """Peak and largest tensor of one step, bytes."""
    layer, pose = PointRotaryAttention(32, 2, 2), poses(1, tokens).float()
    x = torch.randn(1, tokens, 32, requires_grad=True)
    places = here(layer.shape, pose, everybody(pose))
    with PeakMemory() as used:
        layer(x, places).sum().backward()
    return used.peak, used.largest


def test_memory_is_linear_in_tokens() -> None:
    sizes = [512, 1024, 2048, 4096]
    peaks, largest = zip(*map(memory, sizes), strict=True)
    for before, after in itertools.pairwise(peaks):
        assert after <= 2.2 * before
    assert largest[-1] < 4096 * 4096  # bytes: a quarter of one head's pairs


def test_the_fused_kernel_is_used() -> None:
    layer, pose = PointRotaryAttention(32, 2, 2), poses(1, 64).float()
    places = here(layer.shape, pose, everybody(pose))
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        layer(torch.randn(1, 64, 32, requires_grad=True), places).sum().backward()
    names = {event.key for event in seen.key_averages()}
    assert any("flash_attention" in name and "backward" in name for name in names)
    assert not any(name == "aten::_softmax" for name in names)


@pytest.mark.parametrize("modes", [(), (3,)])
def test_cells_give_the_same_attention(modes: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    layer, pose = stirred_layer(), poses(2, *modes, 20) * torch.tensor([4.0, 4.0, 1.0])
    x, mask = torch.randn(2, *modes, 20, 32).double(), torch.rand(2, *modes, 20) < 0.8
    keys, key_pose = torch.randn(2, 7, 32).double(), poses(2, 7)
    centre = centre_of(key_pose, everybody(key_pose))
    of_scene = centre[(slice(None), *[None] * len(modes))]
    places = locate(pose, of_scene, layer.shape, mask=mask)
    around = locate(key_pose, centre, layer.shape, mask=everybody(key_pose))
    whole = layer(x, places), layer(x, places, keys, around)
    layer.cell = 60.0
    for want, got in zip(whole, (layer(x, places), layer(x, places, keys, around)), strict=True):
        torch.testing.assert_close(got[mask], want[mask], atol=1e-11, rtol=0)


def test_cells_round_less_in_large_scenes() -> None:
    layer, pose = stirred_layer(), poses(1, 200) * torch.tensor([10.0, 10.0, 1.0])
    x, mask = torch.randn(1, 200, 32).double(), everybody(pose)
    exact, rough = layer(x, here(layer.shape, pose, mask)), layer.float()
    places = here(layer.shape, pose.float(), mask)
    whole = rough(x.float(), places)
    layer.cell = 60.0
    by_cells = rough(x.float(), places)
    assert (by_cells - exact).abs().mean() < 0.7 * (whole - exact).abs().mean()
