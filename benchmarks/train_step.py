"""What a training step and a forecast of the regression model cost, and where the time goes.

    python benchmarks/train_step.py [--out DIR] [--repeats N]

Scenes of random poses as full as a batch gets: 32 agents × 50 steps, all predicted, 128 map pieces
× 20 points, 320 lane links, 60 steps ahead, batch 8. CPU time of one thread, the least of the
repeats. *parts*: share of the forward pass of a training step by part of the model. *kernels*:
share of a whole step by operation.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from record import write_result
from torch import nn
from torch.profiler import ProfilerActivity, profile

from motionpred.graph import SceneBatch, Steps
from motionpred.models import ForecastModel, build_model
from motionpred.models.denormals import flushed_denormals
from motionpred.models.encoder import SIZES
from motionpred.scene import Role, TimeSpec

SEED = 0
TIME = TimeSpec(0.1, 50, 60)
SCENES, AGENTS, PIECES, POINTS, LINKS = 8, 32, 128, 20, 320
KERNELS = 12  # how many are listed


def full_batch() -> SceneBatch:
    """Cars of constant velocity and straight map pieces of 50 m in 200 m by 200 m."""
    heading = (torch.rand(SCENES, AGENTS) - 0.5) * 2 * torch.pi
    direction = torch.stack([heading.cos(), heading.sin()], dim=-1)
    velocity = direction * 12 * torch.rand(SCENES, AGENTS, 1)
    start = (torch.rand(SCENES, AGENTS, 2) - 0.5) * 200
    second = (torch.arange(TIME.steps) - TIME.history + 1) * TIME.dt
    state = torch.zeros(SCENES, AGENTS, TIME.steps, 8)
    state[..., :2] = start[:, :, None] + velocity[:, :, None] * second[:, None]
    state[..., 2] = heading[..., None]
    state[..., 3:5] = velocity[:, :, None]
    state[..., 5:] = torch.tensor([4.6, 1.9, 1.6])
    flags = torch.ones(SCENES, AGENTS, TIME.steps, 4, dtype=torch.bool)
    course = (torch.rand(SCENES, PIECES) - 0.5) * 2 * torch.pi
    middle = (torch.rand(SCENES, PIECES, 2) - 0.5) * 200
    along = torch.stack([course.cos(), course.sin()], -1)[:, :, None]
    points = middle[:, :, None] + along * torch.linspace(-25, 25, POINTS)[:, None]
    ends = torch.randint(PIECES, (SCENES, LINKS, 2))
    kind = torch.randint(3, (SCENES, LINKS, 1))
    past, future = slice(None, TIME.history), slice(TIME.history, None)
    return SceneBatch(
        origin=torch.zeros(SCENES, 2, dtype=torch.float64),
        time=second[past].expand(SCENES, -1).contiguous(),
        history=Steps(state[:, :, past].contiguous(), flags[:, :, past].contiguous()),
        pose=torch.cat([start, heading[..., None]], dim=-1),
        age=torch.zeros(SCENES, AGENTS),
        type=torch.zeros(SCENES, AGENTS, dtype=torch.int64),
        roles=torch.full((SCENES, AGENTS), int(Role.SCORED)),
        predict=torch.ones(SCENES, AGENTS, dtype=torch.bool),
        map_points=points,
        map_mask=torch.ones(SCENES, PIECES, dtype=torch.bool),
        map_pose=torch.cat([middle, course[..., None]], dim=-1),
        map_category=torch.zeros(SCENES, PIECES, 5, dtype=torch.int64),
        map_attributes=torch.zeros(SCENES, PIECES, 2),
        lane_edges=torch.cat([ends, kind, torch.zeros_like(kind)], dim=-1),
        target=Steps(state[:, :, future].contiguous(), flags[:, :, future].contiguous()),
        scene_key=torch.arange(SCENES),
        track_key=torch.arange(SCENES * AGENTS).view(SCENES, AGENTS),
    )


def train_step(model: ForecastModel, batch: SceneBatch) -> None:
    """Loss and gradient."""
    terms = model.loss(batch, seed=0, epoch=0)
    model.zero_grad()
    torch.stack([term.sum / term.count for term in terms.values()]).sum().backward()


def milliseconds(run: Callable[[], object], repeats: int) -> list[float]:
    """CPU time a scene of every repeat after a rehearsal."""
    result = []
    for turn in range(repeats + 1):
        start = time.process_time()
        run()
        if turn:
            result.append(1e3 * (time.process_time() - start) / SCENES)
    return result


@contextmanager
def timed(model: nn.Module, spent: Counter[str]) -> Iterator[None]:
    """Adds the CPU seconds of every named module's forward pass to ``spent``."""
    started: dict[str, float] = {}
    handles = []

    def before(name: str) -> Callable[..., None]:
        return lambda *_: started.update({name: time.process_time()})

    def after(name: str) -> Callable[..., None]:
        return lambda *_: spent.update({name: time.process_time() - started[name]})

    for name, module in model.named_modules():
        if part_of(name):
            handles += [
                module.register_forward_pre_hook(before(name)),
                module.register_forward_hook(after(name)),
            ]
    yield
    for handle in handles:
        handle.remove()


def part_of(name: str) -> str | None:
    """The part of the model that a module is, by its dotted name; None for parts of parts."""
    words = name.split(".")
    if words[0] == "encoder" and len(words) == 2:
        known = {
            "agent_history": "history",
            "map_piece": "map pieces",
            "lane_graph": "lane graph",
        }
        return known.get(words[1])
    if len(words) >= 3 and words[-3] == "layers":
        return f"{'encoder' if words[0] == 'encoder' else 'decoder'}, {words[-1].replace('_', ' ')}"
    return "heads" if name in ("proposal", "refinement", "score", "end_token") else None


def shares(model: ForecastModel, batch: SceneBatch, repeats: int) -> dict[str, float]:
    """Share of the forward pass by part; the rest is anchors, tables, norms and the loss."""
    spent: Counter[str] = Counter()
    start = time.process_time()
    with timed(model, spent):
        for _ in range(repeats):
            model.loss(batch, seed=0, epoch=0)
    total = time.process_time() - start
    result: Counter[str] = Counter()
    for name, seconds in spent.items():
        result[part_of(name) or name] += seconds / total
    result["rest"] = 1 - sum(result.values())
    return {name: round(share, 3) for name, share in result.most_common()}


def kernels(model: ForecastModel, batch: SceneBatch, repeats: int) -> dict[str, float]:
    """Share of a step by operation, the dearest ones."""
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        for _ in range(repeats):
            train_step(model, batch)
    own = {event.key: event.self_cpu_time_total for event in seen.key_averages()}
    total = sum(own.values())
    return {name: round(t / total, 3) for name, t in Counter(own).most_common(KERNELS)}


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    batch = full_batch()
    raw: dict[str, Any] = {}
    summary: dict[str, Any] = {}
    for size in SIZES:
        model = build_model("regression", {"size": size}, TIME)
        with flushed_denormals():
            own = {
                "train": milliseconds(partial(train_step, model, batch), arguments.repeats),
                "forecast": milliseconds(
                    partial(model.forecast, batch, modes=6, seed=0), arguments.repeats
                ),
            }
            summary[size] = {
                "parameters": sum(p.numel() for p in model.parameters()),
                "train_cpu_ms": round(min(own["train"]), 2),
                "forecast_cpu_ms": round(min(own["forecast"]), 2),
                "parts": shares(model, batch, arguments.repeats),
                "kernels": kernels(model, batch, 3),
            }
        raw[size] = own
    path = write_result("train-step", arguments.out, raw, summary, seed=SEED, packages=("torch",))
    for size, values in summary.items():
        print(size, values)
    print(path)


if __name__ == "__main__":
    main()
