"""A few scenes learned by heart: can the model express what happens, and does training find it?

    python benchmarks/overfit.py [--size small] [--scenes 8] [--steps 1500] [--out DIR]

Synthetic scenes, all in one batch, AdamW with warm-up and a linear fall, winners annealed over the
first 60 % of the steps. Figures are of the training scenes: minFDE over scene modes of the SCORED
agents, metres, mean over scenes, at six times during training; and how far a turned and displaced
scene's forecast is from the turned and displaced forecast, with the trained weights.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch
from record import write_result
from torch import Tensor

from motionpred.datasets.synthetic import TIME, generate
from motionpred.graph import SceneBatch, collate_scenes
from motionpred.models import Forecast, ForecastModel, build_model
from motionpred.models.denormals import flushed_denormals
from motionpred.models.diagnostics import health
from motionpred.scene import Role
from motionpred.testing.forecast_runs import runs_of
from motionpred.testing.scene_changes import moved

SEED = 0
TARGET = 0.3  # metres
ANNEALED = 12  # epochs of the model's schedule that the steps are divided into, of 20
MOTION = (2.0, 3000.0, 4000.0)  # radians, metres


def joint_min_fde(forecast: Forecast, batch: SceneBatch) -> Tensor:
    """Least over scene modes of the mean over SCORED agents, ``[B]`` metres."""
    scored = batch.predict & ((batch.roles & int(Role.SCORED)) != 0) & batch.target.valid[..., -1]
    apart = forecast.position[..., -1, :] - batch.target.position[:, None, :, -1]
    error = torch.where(scored[:, None], torch.linalg.vector_norm(apart, dim=-1), 0.0)
    return (error.sum(-1) / scored.sum(-1)[:, None]).amin(-1)


def train(model: ForecastModel, batch: SceneBatch, steps: int, rate: float) -> list[float]:
    """minFDE after each sixth of the steps."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    figures = []
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = rate * min(1, (step + 1) / 50) * (1 - step / steps)
        terms = model.loss(batch, seed=SEED, epoch=20 * step // steps)
        optimiser.zero_grad()
        torch.stack([term.sum / term.count for term in terms.values()]).sum().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 3.0)
        optimiser.step()
        if (step + 1) % (steps // 6) == 0:
            forecast = model.forecast(batch, modes=6, seed=SEED)
            figures.append(round(float(joint_min_fde(forecast, batch).mean()), 4))
            print(step + 1, figures[-1], flush=True)
    return figures


def displacement(model: ForecastModel, count: int) -> tuple[float, float]:
    """Most and mean metres between forecasts before and after a motion, the motion undone."""
    scenes = [generate(SEED, index) for index in range(count)]
    angle, dx, dy = MOTION
    before, after = (
        runs_of(batch, model.eval().forecast(batch, modes=6, seed=SEED))
        for batch in (
            collate_scenes(scenes, TIME),
            collate_scenes([moved(scene, angle, dx, dy) for scene in scenes], TIME),
        )
    )
    turn = torch.tensor(angle, dtype=torch.float64)
    matrix = torch.stack(
        [torch.stack([turn.cos(), -turn.sin()]), torch.stack([turn.sin(), turn.cos()])]
    )
    apart = torch.cat(
        [
            (
                torch.from_numpy(one.position) @ matrix.T
                + torch.tensor([dx, dy], dtype=torch.float64)
                - torch.from_numpy(other.position)
            )
            .norm(dim=-1)
            .flatten()
            for one, other in zip(before, after, strict=True)
        ]
    )
    return float(apart.max()), float(apart.mean())


def main() -> None:
    """Train, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="small")
    parser.add_argument("--scenes", type=int, default=8)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    scenes = [generate(SEED, index) for index in range(arguments.scenes)]
    batch = collate_scenes(scenes, TIME)
    model = build_model("regression", {"size": arguments.size, "anneal_epochs": ANNEALED}, TIME)
    start = time.process_time()
    with flushed_denormals():
        figures = train(model, batch, arguments.steps, arguments.rate)
    seconds = time.process_time() - start
    forecast = model.forecast(batch, modes=6, seed=SEED)
    spread = health(batch, forecast)["spread"]
    most, mean = displacement(model, arguments.scenes)
    summary = {
        "min_fde_m": figures[-1],
        "target_m": TARGET,
        "cpu_seconds": round(seconds, 1),
        "moved_most_mm": round(1e3 * most, 3),
        "moved_mean_mm": round(1e3 * mean, 4),
        "probability_of_best": round(float(forecast.probability[:, 0].mean()), 3),
        "spread_m": round(float(spread.sum / spread.count), 3),
    }
    raw = {"min_fde_m": figures, "scene_min_fde_m": joint_min_fde(forecast, batch).tolist()}
    path = write_result("overfit", arguments.out, raw, summary, seed=SEED, packages=("torch",))
    print(summary)
    print(path)


if __name__ == "__main__":
    main()
