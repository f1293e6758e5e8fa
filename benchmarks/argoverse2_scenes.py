"""The whole chain on a few real Argoverse 2 scenes: constant velocity, and learning by heart.

    python benchmarks/argoverse2_scenes.py --data ROOT [--out DIR] [--seeds 0 1 2]

Prepares the scenes, scores constant velocity by every protocol, trains the experiment
``argoverse2-overfit`` on the scenes and scores it on the same ones: that shows that the chain can
learn and says nothing about new scenes.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median

from record import hash_of_files, write_result

from motionpred import load
from motionpred.datasets import get_adapter
from motionpred.metrics import evaluate, get_protocol, report_to_json
from motionpred.store import Store, prepare
from motionpred.training import compose, train

PROTOCOLS = ("argoverse2-single", "argoverse2-multi", "joint")


def reports(store: Store, model: str) -> dict[str, dict]:
    """A model on every scene with a future, by every protocol."""
    scenes = [scene for scene in store if scene.has_future]
    pairs = list(zip(scenes, load(model).predict_many(scenes), strict=True))
    return {name: report_to_json(evaluate(get_protocol(name)(), pairs)) for name in PROTOCOLS}


def value(report: dict, metric: str, k: int) -> float:
    """One figure of a report."""
    return next(f["value"] for f in report["figures"] if f["metric"] == metric and f["k"] == k)


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        prepare(get_adapter("argoverse2"), options.data, work / "store")
        store = Store(work / "store")
        raw: dict[str, dict] = {"constant-velocity": reports(store, "constant-velocity")}
        for seed in options.seeds:
            started = os.times()
            overrides = [
                "experiment=argoverse2-overfit",
                f"store={work / 'store'}",
                f"out={work / 'runs'}",
                f"trainer.seed={seed}",
            ]
            result = train(compose(overrides))
            spent = os.times()
            raw[f"overfit, seed {seed}"] = {
                "cpu_minutes": (spent.user - started.user + spent.system - started.system) / 120,
                "reports": reports(store, str(result.bundle)),
            }
    simple = raw["constant-velocity"]
    learned = [
        value(raw[f"overfit, seed {seed}"]["reports"]["argoverse2-multi"], "avgMinFDE", 6)
        for seed in options.seeds
    ]
    limit = value(simple["argoverse2-multi"], "avgMinFDE", 6)
    summary = {
        "constant velocity, argoverse2-single minADE / minFDE, K=1": [
            value(simple["argoverse2-single"], name, 1) for name in ("minADE", "minFDE")
        ],
        "constant velocity, argoverse2-multi avgMinADE / avgMinFDE, K=1": [
            value(simple["argoverse2-multi"], name, 1) for name in ("avgMinADE", "avgMinFDE")
        ],
        "learned by heart, argoverse2-multi avgMinFDE, K=6, per seed": learned,
        "learned by heart / constant velocity, median": median(learned) / limit,
    }
    for name, figures in summary.items():
        print(f"{name}: {figures}")
    path = write_result(
        "argoverse2-scenes",
        options.out,
        raw=raw,
        summary=summary,
        data_hash=hash_of_files(options.data),
        seed=options.seeds[0],
        packages=("numpy", "torch", "pytorch-lightning"),
    )
    print("wrote", path)


if __name__ == "__main__":
    main()
