"""Read Argoverse 2 scenarios and their maps into arrays: this package against ``av2``.

    python benchmarks/read_argoverse2.py --data ROOT [--out DIR] [--copies N] [--repeats N]

Both read the same files in the same process, one thread, in turns. The scenes below ROOT are
copied under new ids, so that no reader meets a file twice in a pass. The map is read by the
classes of ``av2.map`` that need no OpenCV; it gets the lanes, boundaries, crossings and areas as
arrays, without the link checks that this package makes besides.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from av2.datasets.motion_forecasting.scenario_serialization import load_argoverse_scenario_parquet
from av2.map.drivable_area import DrivableArea
from av2.map.lane_segment import LaneSegment
from av2.map.map_primitives import Polyline
from av2.map.pedestrian_crossing import PedestrianCrossing
from record import command_line, hash_of_files, write_result

from motionpred.datasets import Source
from motionpred.datasets.argoverse2 import Argoverse2
from motionpred.datasets.argoverse2.layout import map_file
from motionpred.scene import Scene

SEED = 0


def replicate(sources: list[Source], copies: int, root: Path) -> None:
    """Every scenario ``copies`` times, under new ids, otherwise as it was."""
    for source in sources:
        table = pq.read_table(source.path)
        column = table.schema.get_field_index("scenario_id")
        for copy in range(copies):
            name = f"{source.path.parent.name}-{copy:03}"
            folder = root / name
            folder.mkdir(parents=True)
            ids = pa.repeat(pa.scalar(name), table.num_rows)
            pq.write_table(
                table.set_column(column, "scenario_id", ids), folder / f"scenario_{name}.parquet"
            )
            shutil.copy(map_file(source.path), folder / f"log_map_archive_{name}.json")


def read_ours(source: Source) -> int:
    """A whole scene; returns its number of states."""
    scene = next(Argoverse2().read(source))
    if not isinstance(scene, Scene):
        raise scene
    return int(scene.tracks.valid.sum())


def read_theirs(source: Source) -> int:
    """Dense tracks and map polylines by the publisher's package; returns the number of states."""
    scenario = load_argoverse_scenario_parquet(source.path)
    states = [track.object_states for track in scenario.tracks]
    shape = (len(states), 1 + max(state.timestep for track in states for state in track))
    valid = np.zeros(shape, bool)
    position, velocity = np.zeros((*shape, 2)), np.zeros((*shape, 2), np.float32)
    heading = np.zeros(shape, np.float32)
    for row, track in enumerate(states):
        steps = [state.timestep for state in track]
        valid[row, steps] = True
        position[row, steps] = [state.position for state in track]
        velocity[row, steps] = [state.velocity for state in track]
        heading[row, steps] = [state.heading for state in track]
    document = json.loads(map_file(source.path).read_bytes())
    lines = []
    for item in document["lane_segments"].values():
        lane = LaneSegment.from_dict(item)
        lines.append(Polyline.from_json_data(item["centerline"]).xyz)
        lines += [lane.left_lane_boundary.xyz, lane.right_lane_boundary.xyz]
    for item in document["pedestrian_crossings"].values():
        lines.append(PedestrianCrossing.from_dict(item).polygon)
    for item in document["drivable_areas"].values():
        lines.append(DrivableArea.from_dict(item).xyz)
    np.concatenate(lines)
    return int(valid.sum())


def seconds(read: Callable[[Source], int], sources: list[Source]) -> tuple[float, int]:
    """Wall time of reading every source once, and the states that were read."""
    start = time.perf_counter()
    states = sum(read(source) for source in sources)
    return time.perf_counter() - start, states


def measure(sources: list[Source], repeats: int) -> dict[str, list[float]]:
    """Scenes per second of both readers, one figure per repeat, after one pass to warm up."""
    readers = {"motionpred": read_ours, "av2": read_theirs}
    rates: dict[str, list[float]] = {name: [] for name in readers}
    for repeat in range(repeats + 1):
        found = {name: seconds(read, sources) for name, read in readers.items()}
        if len({states for _, states in found.values()}) > 1:
            raise RuntimeError(f"the readers disagree on the number of states: {found}")
        if repeat:
            for name, (wall, _) in found.items():
                rates[name].append(round(len(sources) / wall, 2))
    return rates


def main() -> None:
    """Run the benchmark and write its result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of Argoverse 2 scenarios")
    parser.add_argument("--out", type=Path, help="default benchmarks/results")
    parser.add_argument("--copies", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    adapter = Argoverse2()
    with tempfile.TemporaryDirectory() as folder:
        replicate(adapter.find(options.data), options.copies, Path(folder))
        sources = adapter.find(Path(folder))
        random.Random(SEED).shuffle(sources)
        rates = measure(sources, options.repeats)
    ratios = [ours / theirs for ours, theirs in zip(*rates.values(), strict=True)]
    summary = {
        "scenes": len(sources),
        "motionpred_scenes_per_s": statistics.median(rates["motionpred"]),
        "av2_scenes_per_s": statistics.median(rates["av2"]),
        "ratio": round(statistics.median(ratios), 2),
        "ratio_least": round(min(ratios), 2),
        "target_ratio": 2.0,
    }
    path = write_result(
        "read-argoverse2",
        options.out,
        {"scenes_per_s": rates},
        summary,
        command_line(),
        hash_of_files(options.data),
        SEED,
        packages=("numpy", "pyarrow", "pandas", "av2"),
    )
    print(json.dumps(summary, indent=2))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
