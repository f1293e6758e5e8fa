"""Synthetic traffic against recorded traffic: is every figure within a factor of 1.5 of real ones?

    python benchmarks/synthetic_statistics.py [--out DIR] [--seed 0] [--scenes 400]

Recorded figures: 5 Argoverse 2 scenes and 30 Waymo scenes of 9 s (``now`` at 3 s), 6 s ahead. A
row passes between the smaller of its recorded figures divided by 1.5 and the larger times 1.5.
Accelerations and pedestrians have Waymo figures only: the others rest on too few tracks. Also
measured: scenes made in a second of one core, and how far the ends of scored agents lie apart
when the same past goes on differently.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from record import write_result
from traffic_measures import measure

from motionpred.datasets.synthetic import VERSION, content_hash, generate, scenes
from motionpred.scene import Role

FACTOR = 1.5
SHARE, MEAN = "share", "mean"


@dataclass(frozen=True)
class Row:
    """One figure: a statistic of samples, and what recorded traffic has (None: not used)."""

    label: str
    samples: str
    statistic: str | int  # SHARE, MEAN or a percentile
    argoverse2: float | None
    waymo: float | None

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which the figure must lie."""
        real = [value for value in (self.argoverse2, self.waymo) if value is not None]
        return min(real) / FACTOR, max(real) * FACTOR

    def value(self, samples: np.ndarray) -> float:
        """The figure of some samples."""
        if isinstance(self.statistic, int):
            return float(np.percentile(samples, self.statistic))
        return float(np.mean(samples))


V, P = "vehicle", "pedestrian"
ROWS = (
    Row("agents per scene at now, 50 %", "scene.count", 50, 26.0, 26.0),
    Row("agents per scene at now, 90 %", "scene.count", 90, 44.4, 71.5),
    Row("agents: full 1 s history", "scene.history", SHARE, 0.873, 0.842),
    Row("agents: appear after now", "scene.appears", SHARE, 0.266, 0.243),
    Row("agents: leave before the end", "scene.leaves", SHARE, 0.761, 0.441),
    Row("agents at now: leave before the end", "scene.leaves_now", SHARE, 0.631, 0.338),
    Row("agents: gap inside", "scene.gaps", SHARE, 0.0, 0.268),
    Row("vehicles per scene at now, 50 %", f"{V}.count", 50, 24.0, 20.0),
    Row("vehicles per scene at now, 90 %", f"{V}.count", 90, 35.2, 66.3),
    Row("vehicles at now: complete future", f"{V}.complete", SHARE, 0.409, 0.633),
    Row("vehicles: appear after now", f"{V}.appears", SHARE, 0.253, 0.217),
    Row("vehicles: leave before the end", f"{V}.leaves", SHARE, 0.762, 0.410),
    Row("vehicles: gap inside", f"{V}.gaps", SHARE, 0.0, 0.237),
    Row("vehicles: static share", f"{V}.static", SHARE, 0.577, 0.678),
    Row("vehicles: speed at now m/s, 10 %", f"{V}.speed", 10, 0.055, 0.218),
    Row("vehicles: speed at now m/s, 50 %", f"{V}.speed", 50, 2.68, 3.81),
    Row("vehicles: speed at now m/s, 90 %", f"{V}.speed", 90, 9.92, 12.6),
    Row("vehicles: slower than 0.5 m/s at now", f"{V}.starting", SHARE, 0.227, 0.152),
    Row("vehicles: slower than 0.5 m/s at the end", f"{V}.stopping", SHARE, 0.182, 0.174),
    Row("vehicles: acceleration m/s2, 50 %", f"{V}.acceleration", 50, None, 0.515),
    Row("vehicles: acceleration m/s2, 90 %", f"{V}.acceleration", 90, None, 1.59),
    Row("vehicles: yaw rate rad/s, 50 %", f"{V}.yaw_rate", 50, 0.011, 0.008),
    Row("vehicles: yaw rate rad/s, 90 %", f"{V}.yaw_rate", 90, 0.137, 0.168),
    Row("vehicles: turning, by heading", f"{V}.turning", SHARE, 0.091, 0.157),
    Row("vehicles: turning, by course", f"{V}.turning_course", SHARE, 0.067, 0.185),
    Row("vehicles: path length m, 10 %", f"{V}.path", 10, 2.09, 2.40),
    Row("vehicles: path length m, 50 %", f"{V}.path", 50, 27.1, 23.6),
    Row("vehicles: path length m, 90 %", f"{V}.path", 90, 57.0, 81.1),
    Row("vehicles: constant velocity ADE m, mean", f"{V}.cv_ade", MEAN, 3.99, 4.65),
    Row("vehicles: constant velocity ADE m, 50 %", f"{V}.cv_ade", 50, 2.40, 3.70),
    Row("vehicles: constant velocity FDE m, mean", f"{V}.cv_fde", MEAN, 9.65, 11.7),
    Row("vehicles: constant velocity FDE m, 50 %", f"{V}.cv_fde", 50, 6.21, 9.70),
    Row("vehicles: constant velocity FDE m, 90 %", f"{V}.cv_fde", 90, 22.8, 26.2),
    Row("vehicles: constant velocity FDE over 2 m", f"{V}.cv_miss", SHARE, 0.810, 0.843),
    Row("all vehicles: constant velocity FDE over 2 m", f"{V}.cv_miss_all", SHARE, 0.353, 0.287),
    Row("vehicles: nearest at now m, 10 %", f"{V}.near_now", 10, 3.69, 3.64),
    Row("vehicles: nearest at now m, 50 %", f"{V}.near_now", 50, 6.69, 7.34),
    Row("vehicles: nearest at now m, 90 %", f"{V}.near_now", 90, 17.9, 16.6),
    Row("vehicles: nearest over the future m, 10 %", f"{V}.near_future", 10, 1.84, 3.09),
    Row("vehicles: nearest over the future m, 50 %", f"{V}.near_future", 50, 3.31, 4.06),
    Row("all vehicles: nearest at now m, 10 %", f"{V}.near_now_all", 10, 3.74, 2.78),
    Row("all vehicles: nearest at now m, 50 %", f"{V}.near_now_all", 50, 6.11, 5.50),
    Row("all vehicles: nearest at now m, 90 %", f"{V}.near_now_all", 90, 13.5, 14.2),
    Row("pairs: conflict under constant velocity", f"{V}.pair_conflict", SHARE, 0.012, 0.013),
    Row("pairs within 30 m: conflict", f"{V}.pair_conflict_near", SHARE, 0.019, 0.025),
    Row("vehicles: in such a conflict", f"{V}.track_conflict", SHARE, 0.190, 0.253),
    Row("pedestrians: speed at now m/s, 10 %", f"{P}.speed", 10, None, 0.662),
    Row("pedestrians: speed at now m/s, 50 %", f"{P}.speed", 50, None, 1.10),
    Row("pedestrians: speed at now m/s, 90 %", f"{P}.speed", 90, None, 1.57),
    Row("pedestrians: constant velocity FDE m, mean", f"{P}.cv_fde", MEAN, None, 2.12),
    Row("pedestrians: constant velocity FDE m, 50 %", f"{P}.cv_fde", 50, None, 1.39),
    Row("pedestrians: constant velocity FDE m, 90 %", f"{P}.cv_fde", 90, None, 5.36),
)


def spread_of_futures(seed: int, count: int, futures: int = 8) -> dict[str, float]:
    """How far the ends of moving scored agents lie from their mean over futures of one past."""
    spread, turns = [], []
    for index in range(count):
        variants = [generate(seed, index, future=future) for future in range(futures)]
        first = variants[0].tracks
        for row in np.flatnonzero((first.roles & Role.SCORED) != 0):
            here, angle = first.position[row, variants[0].now, :2], first.heading[row, -61]
            ends = []
            for scene in variants:
                tracks = scene.tracks
                same = np.flatnonzero(tracks.track_id == first.track_id[row])
                if len(same) and tracks.valid[same[0], -1]:
                    ends.append(tracks.position[same[0], -1, :2] - here)
            moved = np.hypot(*np.array(ends).T)
            if moved.max() < 1.0:
                continue
            offset = np.array(ends) - np.mean(ends, axis=0)
            spread.append(float(np.hypot(*offset.T).mean()))
            turns.append(bool(np.ptp(np.array(ends) @ [-np.sin(angle), np.cos(angle)]) > 5.0))
    return {
        "agents": len(spread),
        "mean distance m": float(np.mean(spread)),
        "90 % distance m": float(np.percentile(spread, 90)),
        "ends more than 5 m apart sideways": float(np.mean(turns)),
    }


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenes", type=int, default=400)
    options = parser.parse_args()
    started = time.process_time()
    made = list(scenes(options.seed, options.scenes))
    rate = options.scenes / (time.process_time() - started)
    samples = measure(made)
    raw, lines = {}, ["| | AV2 | Waymo | from | to | synthetic | n | |", "| --- " * 8 + "|"]
    for row in ROWS:
        low, high = row.bounds
        value = row.value(samples[row.samples])
        raw[row.label] = {**asdict(row), "value": value, "n": len(samples[row.samples])}
        inside = low <= value <= high
        cells = [row.argoverse2, row.waymo, low, high, value]
        texts = ["-" if cell is None else f"{cell:.3g}" for cell in cells]
        count = len(samples[row.samples])
        lines.append(f"| {row.label} | {' | '.join(texts)} | {count} | {'' if inside else 'OUT'} |")
    outside = [line for line in lines if line.endswith("OUT |")]
    futures = spread_of_futures(options.seed, min(100, options.scenes))
    path = write_result(
        "synthetic-statistics",
        options.out,
        raw={"rows": raw, "futures": futures},
        summary={
            "version": VERSION,
            "scenes": options.scenes,
            "scenes per CPU second, one core": rate,
            "rows": len(ROWS),
            "rows out of bounds": len(outside),
        },
        data_hash=content_hash(made),
        seed=options.seed,
        packages=("numpy",),
    )
    (path.parent / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    print(f"{rate:.1f} scenes per CPU second; {len(outside)} of {len(ROWS)} rows out of bounds")
    print("same past, other futures:", futures)
    print("wrote", path)


if __name__ == "__main__":
    main()
