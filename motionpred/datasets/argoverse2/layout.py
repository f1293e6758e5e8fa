"""Names and words of the Argoverse 2 layout, for reader and writer.

``<anywhere>/<split>/<id>/scenario_<id>.parquet`` with ``log_map_archive_<id>.json`` beside it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from motionpred.datasets.adapter import SPLITS
from motionpred.scene import AgentType, LaneType, Marking, Role

AGENT_TYPES = {
    "vehicle": AgentType.VEHICLE,
    "bus": AgentType.BUS,
    "motorcyclist": AgentType.MOTORCYCLIST,
    "cyclist": AgentType.CYCLIST,
    "pedestrian": AgentType.PEDESTRIAN,
    "riderless_bicycle": AgentType.RIDERLESS_BICYCLE,
    "static": AgentType.STATIC,
    "background": AgentType.STATIC,
    "construction": AgentType.STATIC,
    "unknown": AgentType.UNKNOWN,
    "": AgentType.UNKNOWN,
}
# Index: the value of the column object_category.
CATEGORIES = (Role.FRAGMENT, Role.UNSCORED, Role.SCORED, Role.FOCAL | Role.SCORED)
EGO_TRACK = "AV"

LANE_TYPES = {"VEHICLE": LaneType.VEHICLE, "BIKE": LaneType.BIKE, "BUS": LaneType.BUS}
MARKINGS = {marking.name: marking for marking in Marking}

# Metres, radians, metres per second: what is larger is damage (and would not fit float32).
LARGEST = 1e8

LANES, CROSSINGS, AREAS = "lane_segments", "pedestrian_crossings", "drivable_areas"

_SCENARIO = re.compile(r"scenario_(?P<id>.+)\.parquet", re.IGNORECASE)


def agent_type(word: str) -> AgentType:
    """The type of a publisher's word; a word that the publisher does not list is OTHER."""
    return AGENT_TYPES.get(word, AgentType.OTHER)


def scenario_id(file_name: str) -> str | None:
    """The id in the name of a scenario file; None for any other file."""
    match = _SCENARIO.fullmatch(file_name)
    return match["id"] if match else None


def map_file(scenario: Path) -> Path:
    """The map beside a scenario file (letter case ignored); its usual name where there is none."""
    usual = scenario.with_name(f"log_map_archive_{scenario_id(scenario.name)}.json")
    if usual.exists():
        return usual
    wanted = usual.name.lower()
    found = sorted(path for path in scenario.parent.iterdir() if path.name.lower() == wanted)
    return found[0] if found else usual


def scenario_files(folder: Path) -> Iterator[Path]:
    """Scenario files in ``folder`` and anywhere below it; none is opened."""
    files, folders = _listing(folder)
    yield from files
    for path in folders:
        yield from scenario_files(path)


def holds_scenario(folder: Path, depth: int = 3, breadth: int = 8) -> bool:
    """Whether a quick look finds a scenario file: ``breadth`` folders a level, ``depth`` levels."""
    files, folders = _listing(folder)
    if files:
        return True
    likely = sorted(folders, key=lambda path: (path.name not in SPLITS, path.name))[:breadth]
    return depth > 0 and any(holds_scenario(path, depth - 1, breadth) for path in likely)


def _listing(folder: Path) -> tuple[list[Path], list[Path]]:
    """Scenario files and folders in ``folder``, each sorted.

    Folders whose name starts with a dot are passed over: an interrupted writer leaves such.
    Links to folders are followed, except one that leads back to a folder above itself.
    """
    files: list[Path] = []
    folders: list[Path] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if scenario_id(entry.name) is not None and entry.is_file():
                files.append(Path(entry.path))
            elif entry.is_dir() and not entry.name.startswith(".") and not _leads_back(entry):
                folders.append(Path(entry.path))
    return sorted(files), sorted(folders)


def _leads_back(entry: os.DirEntry[str]) -> bool:
    if not entry.is_symlink():
        return False
    parent = Path(entry.path).parent.resolve()
    return Path(entry.path).resolve() in (parent, *parent.parents)
