"""Scenes from wherever they are: a store or raw files, one stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, overload

from motionpred.datasets import Adapter, detect, get_adapter
from motionpred.errors import ConfigError, SceneError, StoreError
from motionpred.scene import Scene
from motionpred.store.raw import checked_scenes, find_sources
from motionpred.store.reader import Store
from motionpred.store.selection import Seen, Selection, missing_ids


@overload
def read_scenes(
    path: str | Path,
    *,
    dataset: str | None = ...,
    split: str | None = ...,
    ids: Iterable[str] | None = ...,
    limit: int | None = ...,
    filter: Mapping[str, Any] | None = ...,
    on_error: Literal["raise"] = ...,
) -> Iterator[Scene]: ...


@overload
def read_scenes(
    path: str | Path,
    *,
    dataset: str | None = ...,
    split: str | None = ...,
    ids: Iterable[str] | None = ...,
    limit: int | None = ...,
    filter: Mapping[str, Any] | None = ...,
    on_error: Literal["yield"],
) -> Iterator[Scene | SceneError | StoreError]: ...


def read_scenes(
    path: str | Path,
    *,
    dataset: str | None = None,
    split: str | None = None,
    ids: Iterable[str] | None = None,
    limit: int | None = None,
    filter: Mapping[str, Any] | None = None,
    on_error: Literal["raise", "yield"] = "raise",
) -> Iterator[Scene] | Iterator[Scene | SceneError | StoreError]:
    """Scenes of a store or of raw files, one at a time.

    ``dataset`` names the adapter of raw files; without it they have to look like one known layout.
    ``filter`` maps keys of ``Scene.info`` to wanted values, ``limit`` counts scenes. A broken
    scene ends the stream, or with ``on_error="yield"`` comes as its error and the others go on.

    Raises:
        ConfigError: a setting does not fit; ids that are not there (after the last scene where
            only reading everything can tell); nothing is selected.
        SceneError: nothing is found at ``path``, or a broken scene.
        StoreError: the store is unfinished or damaged.
    """
    if on_error not in ("raise", "yield"):
        raise ConfigError(f"is {on_error!r}", field="on_error", remedy="Use raise or yield")
    path = Path(path)
    selection = Selection.of(split, ids, limit, filter)
    if Store.is_store(path):
        items = _from_store(Store(path), selection, dataset)
    else:
        adapter = detect(path) if dataset is None else get_adapter(dataset)
        items = _from_raw(adapter, path, selection)
    return items if on_error == "yield" else _raising(items)


def _raising(items: Iterator[Scene | SceneError | StoreError]) -> Iterator[Scene]:
    for item in items:
        if not isinstance(item, Scene):
            raise item
        yield item


def _from_store(
    store: Store, selection: Selection, dataset: str | None
) -> Iterator[Scene | SceneError | StoreError]:
    adapter = store.manifest.adapter
    if dataset is not None and dataset != adapter:
        raise ConfigError(
            f"the store holds {adapter} scenes, not {dataset}", file=store.path, field="dataset"
        )
    ids = store.scene_ids
    if selection.ids is not None:
        known = set(ids)
        missing = [scene_id for scene_id in selection.ids if scene_id not in known]
        if missing:
            raise missing_ids(missing, store.path)
    return _stream_store(store, selection, ids)


def _stream_store(
    store: Store, selection: Selection, ids: list[str]
) -> Iterator[Scene | SceneError | StoreError]:
    seen = Seen(selection)
    for place, (scene_id, split) in enumerate(zip(ids, store.splits, strict=True)):
        if seen.full:
            break
        if selection.ids is not None and not selection.wants_id(scene_id):
            continue
        if selection.split not in (None, split):
            seen.skipped += 1
            continue
        try:
            scene = store[place]
        except StoreError as error:
            seen.note_id(scene_id)
            yield error
            continue
        if seen.take(scene):
            yield scene
    seen.check(store.path)


def _from_raw(
    adapter: Adapter, path: Path, selection: Selection
) -> Iterator[Scene | SceneError | StoreError]:
    sources = find_sources(adapter, path, selection)

    def stream() -> Iterator[Scene | SceneError | StoreError]:
        seen = Seen(selection)
        for source in sources:
            if seen.full or seen.all_ids_met:
                break
            for _, item in checked_scenes(adapter, source):
                if isinstance(item, SceneError):
                    if (
                        selection.ids is None
                        or item.scene is None
                        or selection.wants_id(item.scene)
                    ):
                        seen.note_id(item.scene)
                        yield item
                elif seen.take(item, source.split):
                    yield item
                    if seen.full or seen.all_ids_met:
                        break
        seen.check(path)

    return stream()
