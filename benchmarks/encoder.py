"""One attention layer of the scene encoder against explicit relative-pose edges, and its memory.

    python benchmarks/encoder.py [--out DIR] [--repeats N]

Forward and backward of one layer (128 wide, 8 heads, one scene of random poses in 200 m), CPU time
of one thread, the least of the repeats, in turns in one process. What has no weights (tables of
places, relative poses, neighbours) is made beforehand for both. Peers (``pairwise_attention.py``):
dense edges in k and v at 512 tokens, the 32 nearest at 512 and 2048; plain attention without any
place as the floor. Denormals are flushed for all, as training does; ``denormals`` says what they
cost. Peak memory: bytes of live tensors in such a step, from 512 to 4096 tokens.
"""

from __future__ import annotations

import argparse
import itertools
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from pairwise_attention import EdgeAttention
from record import write_result
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from motionpred.models.denormals import flushed_denormals
from motionpred.models.encoder import SIZES
from motionpred.models.layers.places import centre_of, locate
from motionpred.models.layers.point_rotary import PointRotaryAttention
from motionpred.models.layers.set_attention import SetAttention

SEED = 0
SIZE = SIZES["base"]
TARGET = {"dense_512": 20.0, "nearest_512": 3.0, "nearest_2048": 1.2, "memory_doubling": 2.2}
Step = Callable[[], None]


class PeakMemory(TorchDispatchMode):
    """The most bytes that tensors made while it is active held at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.held = self.peak = 0
        self._seen: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for value in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(value, Tensor):
                self._note(value.untyped_storage())
        return result

    def _note(self, storage: Any) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key not in self._seen:
            self._seen.add(key)
            self.held += size
            self.peak = max(self.peak, self.held)
            weakref.finalize(storage, self._forget, key, size)

    def _forget(self, key: int, size: int) -> None:
        self._seen.discard(key)
        self.held -= size


def poses(tokens: int) -> Tensor:
    """``[1, N, 3]``: uniform in 200 m by 200 m, any heading."""
    return (torch.rand(1, tokens, 3) - 0.5) * torch.tensor([200.0, 200.0, 2 * torch.pi])


def step_of(layer: nn.Module, tokens: int, *given: Any) -> Step:
    """Forward and backward of one layer."""
    x = torch.randn(1, tokens, SIZE.width, requires_grad=True)

    def run() -> None:
        layer(x, *given).sum().backward()

    return run


def point_rotary(tokens: int) -> Step:
    """The layer of the encoder."""
    layer, pose = PointRotaryAttention(SIZE.width, SIZE.heads, SIZE.points), poses(tokens)
    mask = torch.ones(1, tokens, dtype=torch.bool)
    return step_of(layer, tokens, locate(pose, centre_of(pose, mask), layer.shape, mask=mask))


def edges(tokens: int, neighbours: int | None) -> Step:
    """A peer."""
    layer, pose = EdgeAttention(SIZE.width, SIZE.heads, neighbours), poses(tokens)
    index = layer.index(pose)
    return step_of(layer, tokens, layer.features(pose, index), index)


def plain(tokens: int) -> Step:
    """Attention that knows no place."""
    return step_of(SetAttention(SIZE.width, SIZE.heads), tokens)


def times(steps: dict[str, Step], repeats: int) -> dict[str, list[float]]:
    """CPU milliseconds of every repeat, in turns."""
    result: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(repeats + 1):
        for name, step in steps.items():
            start = time.process_time()
            step()
            if turn:  # the first is a rehearsal
                result[name].append(1e3 * (time.process_time() - start))
    return result


def peak(step: Step) -> float:
    """MB."""
    step()
    with PeakMemory() as used:
        step()
    return used.peak / 1e6


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    raw: dict[str, Any] = {}
    for tokens in (512, 2048):
        steps = {
            "point_rotary": point_rotary(tokens),
            "nearest_32": edges(tokens, 32),
            "plain": plain(tokens),
        }
        if tokens == 512:
            steps["dense"] = edges(tokens, None)
        with flushed_denormals():
            raw[f"cpu_ms_{tokens}"] = times(steps, arguments.repeats)
            raw[f"peak_mb_{tokens}"] = {name: peak(step) for name, step in steps.items()}
    raw["cpu_ms_512_with_denormals"] = times({"point_rotary": point_rotary(512)}, arguments.repeats)
    with flushed_denormals():
        raw["peak_mb"] = {str(n): peak(point_rotary(n)) for n in (512, 1024, 2048, 4096)}
    summary = summarise(raw)
    path = write_result("encoder", arguments.out, raw, summary, seed=SEED, packages=("torch",))
    for name, value in summary.items():
        print(f"{name}: {value}")
    print(path)


def summarise(raw: dict[str, Any]) -> dict[str, Any]:
    """Ratios of least times, and of peaks."""
    least = {
        n: {name: min(values) for name, values in raw[f"cpu_ms_{n}"].items()} for n in (512, 2048)
    }
    own = {n: least[n]["point_rotary"] for n in least}
    peaks = list(raw["peak_mb"].values())
    memory = raw["peak_mb_512"]
    return {
        "point_rotary_cpu_ms": {n: round(value, 2) for n, value in own.items()},
        "dense_512": round(least[512]["dense"] / own[512], 1),
        "nearest_512": round(least[512]["nearest_32"] / own[512], 2),
        "nearest_2048": round(least[2048]["nearest_32"] / own[2048], 2),
        "to_plain": {n: round(own[n] / least[n]["plain"], 2) for n in least},
        "denormals": round(min(raw["cpu_ms_512_with_denormals"]["point_rotary"]) / own[512], 2),
        "memory_doubling": round(max(b / a for a, b in itertools.pairwise(peaks)), 2),
        "memory_dense_512": round(memory["dense"] / memory["point_rotary"], 1),
        "memory_nearest_512": round(memory["nearest_32"] / memory["point_rotary"], 1),
        "target": TARGET,
    }


if __name__ == "__main__":
    main()
