"""What every dataset adapter must do, checked on real files: adapters and plug-ins run this."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import TypeVar

import numpy as np

from motionpred.datasets import SPLITS, Adapter, Source, of_split
from motionpred.errors import SceneError
from motionpred.metrics.protocol import protocol_names
from motionpred.scene import EdgeKind, MapKind, RoadMap, Role, Scene, TimeSpec

T = TypeVar("T")

# The kinds of polyline that an edge may lead from and to.
_ENDS = {
    EdgeKind.SUCCESSOR: ({MapKind.LANE}, {MapKind.LANE}),
    EdgeKind.LEFT: ({MapKind.LANE}, {MapKind.LANE}),
    EdgeKind.RIGHT: ({MapKind.LANE}, {MapKind.LANE}),
    EdgeKind.BOUNDARY_OF: (
        {MapKind.LANE_BOUNDARY, MapKind.ROAD_EDGE, MapKind.ROAD_LINE},
        {MapKind.LANE},
    ),
    EdgeKind.CONTROLS: ({MapKind.STOP_SIGN, MapKind.STOP_LINE}, {MapKind.LANE}),
}


def check_adapter(adapter: Adapter, root: Path, *, limit: int | None = None) -> None:
    """Check that ``adapter`` keeps its contract on the sound files below ``root``.

    Every source is read twice; ``limit`` checks only that many of them.

    Raises:
        AssertionError: says what does not hold, and of which source or scene.
    """
    root = Path(root)
    before = _listing(root)
    _check_description(adapter)
    sources = _check_find(adapter, root)
    _check_sniff(adapter, root)
    _check_missing_root(adapter)
    seen: dict[str, str] = {}
    for source in sources[:limit]:
        _check_source(adapter, source, seen)
    _require(
        _listing(root) == before, f"{root}: reading changed the raw files or wrote beside them"
    )


def differences(a: object, b: object, path: str = "") -> list[str]:
    """The fields, by name, in which two scenes (or parts of scenes) differ; arrays bit for bit."""
    if type(a) is not type(b):
        return [f"{path}: {type(a).__name__} and {type(b).__name__}"]
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        words = a.dtype.kind == b.dtype.kind == "U"  # as wide as their longest word
        same = (words or a.dtype == b.dtype) and np.array_equal(a, b)
        return [] if same else [path]
    if is_dataclass(a):
        names = [field.name for field in fields(a)]
        pairs = [(name, getattr(a, name), getattr(b, name)) for name in names]
    elif isinstance(a, Mapping) and isinstance(b, Mapping):
        names = sorted({*a, *b})
        pairs = [(name, a.get(name), b.get(name)) for name in names]
    else:
        return [] if a == b else [f"{path}: {a!r} and {b!r}"]
    return [
        text for name, x, y in pairs for text in differences(x, y, f"{path}.{name}".lstrip("."))
    ]


def _require(condition: object, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _listing(root: Path) -> list[tuple[str, int, int]]:
    facts = [(path, path.stat()) for path in sorted(root.rglob("*"))]
    return [(str(path), stat.st_size, stat.st_mtime_ns) for path, stat in facts if path.is_file()]


def _check_description(adapter: Adapter) -> None:
    _require(isinstance(adapter, Adapter), f"{adapter!r} is no Adapter")
    _require(isinstance(adapter.name, str) and adapter.name, "the adapter has no name")
    spec = adapter.time
    sound = isinstance(spec, TimeSpec) and spec.dt > 0 and spec.history > 0 and spec.future > 0
    _require(sound, f"{adapter.name}: time is {spec}, all of it must be positive")
    named = adapter.protocols and all(isinstance(name, str) and name for name in adapter.protocols)
    _require(named, f"{adapter.name}: protocols are {adapter.protocols}, name at least one")
    _require(adapter.scenes_per_source >= 1, f"{adapter.name}: scenes_per_source is below 1")
    unknown = sorted({*adapter.protocols} - {*protocol_names()})
    _require(not unknown, f"{adapter.name}: there is no protocol {', '.join(unknown)}")


def _check_find(adapter: Adapter, root: Path) -> list[Source]:
    sources = adapter.find(root)
    keys = [source.key for source in sources]
    _require(sources, f"find({root}) returns no source")
    _require(keys == sorted(keys), f"find: keys are not sorted: {keys[:5]}")
    _require(len(set(keys)) == len(keys), "find: two sources have the same key")
    for source in sources:
        parts = PurePosixPath(source.key)
        relative = not parts.is_absolute() and ".." not in parts.parts and "\\" not in source.key
        _require(relative, f"find: key {source.key!r} is not relative with forward slashes")
        _require(source.path.exists(), f"find: {source.path} does not exist")
        _require(source.split in ("", *SPLITS), f"find: {source.key} has split {source.split!r}")
    _require(adapter.find(root) == sources, "find: a second call returns something else")
    copy = _sent(adapter, f"{adapter.name}: the adapter")
    _require(
        copy.find(root) == sources, "find: a pickled copy of the adapter returns something else"
    )
    for split in SPLITS:
        wanted = of_split(sources, split)
        _require(
            adapter.find(root, split) == wanted, f"find: split {split!r} is not what it marks so"
        )
    return sources


def _check_sniff(adapter: Adapter, root: Path) -> None:
    _require(adapter.sniff(root) is True, f"sniff({root}) is not True")
    with tempfile.TemporaryDirectory() as empty:
        _require(adapter.sniff(Path(empty)) is False, "sniff of an empty folder is not False")
        nowhere = Path(empty) / "nowhere"
        _require(adapter.sniff(nowhere) is False, "sniff of a missing path is not False")


def _check_missing_root(adapter: Adapter) -> None:
    with tempfile.TemporaryDirectory() as empty:
        for path, what in (
            (Path(empty) / "nowhere", "a missing root"),
            (Path(empty), "an empty one"),
        ):
            _refused(lambda path=path: adapter.find(path), f"find of {what}")  # type: ignore[misc]


def _refused(call: Callable[[], object], what: str) -> None:
    try:
        call()
    except SceneError:
        return
    except Exception as error:
        raise AssertionError(f"{what} raises {type(error).__name__}, not a SceneError") from error
    raise AssertionError(f"{what} raises no SceneError")


def _check_source(adapter: Adapter, source: Source, seen: dict[str, str]) -> None:
    scenes = 0
    last: Scene | None = None
    # Both passes stream side by side: a source may be larger than the memory.
    for item, again in zip_longest(adapter.read(source), adapter.read(source)):
        if isinstance(item, SceneError):
            raise AssertionError(f"{source.key}: {item}") from item
        _require(isinstance(item, Scene), f"{source.key}: read yields {type(item).__name__}")
        other = seen.get(item.scene_id)
        _require(other is None, f"scene {item.scene_id} is in {other} and again in {source.key}")
        seen[item.scene_id] = source.key
        _check_scene(adapter, source, item)
        _same(item, again, f"{source.key}: a second read")
        if last is None:
            _same(item, adapter.read_one(source, item.scene_id), f"{source.key}: read_one")
        last = item
        scenes += 1
    _require(last, f"{source.key}: holds no scene")
    single = adapter.scenes_per_source == 1
    _require(
        scenes == 1 or not single, f"{source.key}: holds {scenes} scenes, scenes_per_source is 1"
    )
    if last is not None and scenes > 1:
        _same(last, adapter.read_one(source, last.scene_id), f"{source.key}: read_one")
    _refused(
        lambda: adapter.read_one(source, "no such scene"), f"{source.key}: an unknown scene id"
    )


def _check_scene(adapter: Adapter, source: Source, scene: Scene) -> None:
    name = f"scene {scene.scene_id}"
    try:
        scene.validate()
    except SceneError as error:
        raise AssertionError(f"{source.key}: {error}") from error
    _require(scene.dataset == adapter.name, f"{name}: dataset is {scene.dataset!r}")
    _require(scene.split in ("", *SPLITS), f"{name}: split is {scene.split!r}")
    kept = scene.split == source.split or not source.split
    _require(kept, f"{name}: split is {scene.split!r}, its source says {source.split!r}")
    spec = adapter.time
    _require(spec.same_clock(scene.dt), f"{name}: dt is {scene.dt}, not {spec.dt}")
    scored = (scene.tracks.roles & Role.SCORED) != 0
    _require(scored.any(), f"{name}: no track is SCORED")
    _same(scene, _sent(scene, name), f"{name}: a pickled copy")
    _check_observed(scene, name)
    _check_map(scene.map, name)


def _check_observed(scene: Scene, name: str) -> None:
    seen = scene.observed().validate()
    _require(len(seen.time) == scene.now + 1, f"{name}: observed() does not end at now")
    _require(not seen.has_future, f"{name}: observed() has a future")
    _same(seen, seen.observed(), f"{name}: observed() of observed()")


def _check_map(road: RoadMap, name: str) -> None:
    for place in range(len(road)):
        kind = MapKind(road.kind[place])
        points = road.polyline(place)[:, :2]
        where = f"{name}: {kind.name} {road.polyline_id[place]}"
        _require((points[1:] != points[:-1]).any(axis=1).all(), f"{where} has a repeated point")
        if kind in (MapKind.CROSSWALK, MapKind.DRIVABLE_AREA, MapKind.SPEED_BUMP):
            _require(len(points) >= 3, f"{where} has {len(points)} corners")
            _require((points[0] != points[-1]).any(), f"{where} repeats its first corner")
    links = np.vstack([road.edges, road.edge_kind])
    _require(np.unique(links, axis=1).shape == links.shape, f"{name}: the map has an edge twice")
    for value, (sources, destinations) in _ENDS.items():
        edges = road.edges[:, road.edge_kind == value]
        for ends, allowed in zip(edges, (sources, destinations), strict=True):
            wrong = ~np.isin(road.kind[ends], list(allowed))
            _require(not wrong.any(), f"{name}: a {value.name} edge ends at no {_names(allowed)}")


def _sent(item: T, what: str) -> T:
    """A copy as a worker process gets it."""
    try:
        copy: T = pickle.loads(pickle.dumps(item))  # noqa: S301 - our own bytes
    except Exception as error:
        raise AssertionError(f"{what} cannot be pickled: {error}") from error
    return copy


def _names(kinds: set[MapKind]) -> str:
    return " or ".join(sorted(kind.name for kind in kinds))


def _same(a: object, b: object, what: str) -> None:
    found = differences(a, b)
    _require(not found, f"{what} differs in {', '.join(found[:5])}")
