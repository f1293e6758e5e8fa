"""The adapter: a small file says which scenes there are, and reading makes them.

``synthetic-v1.json`` holds ``{"version", "seed", "count", "split"}``. Its sources are ranges of
scenes, so that shards are built side by side and nothing is stored twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, NoReturn

from motionpred.datasets.adapter import SPLITS as SPLIT_NAMES
from motionpred.datasets.adapter import Adapter, Source, split_of
from motionpred.datasets.synthetic.generate import TIME, VERSION, generate, scene_id
from motionpred.errors import SceneError
from motionpred.scene import Scene, TimeSpec

SPEC_FILE = f"{VERSION}.json"
SPLITS = {"train": (0, 5000), "val": (1, 500), "test": (2, 1000)}  # seed and number of scenes

_RANGE = 50  # scenes in a source
_KEY = re.compile(r"@(?P<start>\d+)-(?P<stop>\d+)$")


@dataclass(frozen=True)
class Spec:
    """Which scenes a file stands for."""

    version: str
    seed: int
    count: int
    split: str


def write_spec(root: Path, split: str, seed: int | None = None, count: int | None = None) -> Path:
    """Write ``<root>/<split>/synthetic-v1.json``; seed and count default to the data set's own."""
    own_seed, own_count = SPLITS.get(split, (0, 0))
    spec = Spec(
        VERSION,
        own_seed if seed is None else seed,
        own_count if count is None else count,
        split,
    )
    path = Path(root) / split / SPEC_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(spec), indent=2) + "\n", encoding="utf-8")
    return path


class Synthetic(Adapter):
    """Makes the scenes that ``synthetic-v1.json`` files ask for."""

    name: ClassVar[str] = "synthetic"
    time: ClassVar[TimeSpec] = TIME
    protocols: ClassVar[tuple[str, ...]] = ("argoverse2-multi", "argoverse2-single", "joint")
    scenes_per_source: ClassVar[int] = _RANGE

    def find(self, root: Path, split: str | None = None) -> list[Source]:
        """Ranges of scenes of every spec file below ``root`` (or of that file itself).

        Spec files are read: they are the index.
        """
        root = Path(root)
        files = [root] if _is_spec(root) else sorted(root.rglob(SPEC_FILE)) if root.is_dir() else []
        if not files:
            raise SceneError(
                f"holds no {SPEC_FILE}", file=root, remedy="Run motionpred synthesize first"
            )
        base = root.parent if root.is_file() else root
        sources = []
        for path in files:
            spec = read_spec(path)
            name = path.relative_to(base).as_posix()
            for start in range(0, spec.count, _RANGE):
                stop = min(start + _RANGE, spec.count)
                sources.append(Source(path, f"{name}@{start:07d}-{stop:07d}", spec.split))
        kept = [source for source in sources if split is None or source.split == split]
        return sorted(kept, key=lambda source: source.key)

    def sniff(self, path: Path) -> bool:
        """Whether a spec file is at ``path``, in it or in a folder of a split below it."""
        try:
            if _is_spec(path):
                return True
            folders = [path, *(path / name for name in SPLIT_NAMES)]
            return any(_is_spec(folder / SPEC_FILE) for folder in folders)
        except OSError:
            return False

    def read(self, source: Source) -> Iterator[Scene | SceneError]:
        """The scenes of a range, made one at a time."""
        spec, start, stop = _range(source)
        for index in range(start, stop):
            yield generate(spec.seed, index, split=spec.split)

    def read_one(self, source: Source, scene_id_: str) -> Scene:
        """The scene called ``scene_id_``, without making those before it."""
        spec, start, stop = _range(source)
        for index in range(start, stop):
            if scene_id(spec.seed, index) == scene_id_:
                return generate(spec.seed, index, split=spec.split)
        raise SceneError("is not in this source", file=source.path, scene=scene_id_)


def read_spec(path: Path) -> Spec:
    """The spec in a file.

    Raises:
        SceneError: it is no spec, or one of another version.
    """

    def fail(message: str, field: str | None = None) -> NoReturn:
        raise SceneError(
            message, file=path, field=field, remedy="Run motionpred synthesize to write it anew"
        )

    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        fail(f"cannot be read: {error}")
    if not isinstance(values, dict):
        fail("is no JSON object")
    if values.get("version") != VERSION:
        fail(f"is {values.get('version')!r}, this release makes {VERSION}", "version")
    for name, least in (("seed", 0), ("count", 1)):
        if not isinstance(values.get(name), int) or values[name] < least:
            fail(f"is {values.get(name)!r}, it must be a whole number from {least}", name)
    split = values.get("split", split_of(path.absolute().parent))
    if split not in ("", *SPLIT_NAMES):
        fail(f"is {split!r}, it must be one of {', '.join(SPLIT_NAMES)} or empty", "split")
    return Spec(VERSION, values["seed"], values["count"], split)


def _is_spec(path: Path) -> bool:
    return path.name == SPEC_FILE and path.is_file()


def _range(source: Source) -> tuple[Spec, int, int]:
    match = _KEY.search(source.key)
    if match is None:
        raise SceneError(f"is no range of scenes: {source.key}", file=source.path)
    return read_spec(source.path), int(match["start"]), int(match["stop"])


ADAPTERS = {"synthetic": Synthetic()}
