"""Raw files: which sources a selection needs, and their scenes, each checked."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from motionpred.datasets import Adapter, Source
from motionpred.errors import ConfigError, MotionpredError, SceneError
from motionpred.scene import Scene
from motionpred.store.selection import Selection


def find_sources(adapter: Adapter, root: Path, selection: Selection) -> list[Source]:
    """The sources below ``root`` that can hold selected scenes.

    Where no folder is of the wanted split, those whose path says nothing are taken: then each
    scene tells (``test`` is what has no future).

    Raises:
        SceneError: ``root`` does not exist or holds nothing of this layout.
        ConfigError: nothing is of the wanted split; ids that have no source.
    """
    found = adapter.find(root, selection.split)
    if not found and selection.split is not None:
        everything = adapter.find(root)
        found = [source for source in everything if not source.split]
        if not found:
            splits = sorted({source.split for source in everything})
            raise ConfigError(
                f"there is nothing of split {selection.split!r}",
                file=root,
                field="split",
                remedy=f"There is {', '.join(splits)}",
            )
    return selection.narrow(found)


def checked_scenes(
    adapter: Adapter, source: Source
) -> Generator[tuple[int, Scene | SceneError], None, None]:
    """(ordinal, valid scene or error) of a source, in the adapter's order.

    An exception that the adapter did not mean (a fault in it, an unreadable file) ends this source
    only: it comes as a SceneError that names its type. Running out of memory is passed on.
    """
    ordinal = 0
    try:
        items = adapter.read(source)
        for item in items:
            yield ordinal, _checked(item, source)
            ordinal += 1
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - one bad source must not end the others
        yield ordinal, _as_scene_error(error, source)


def _checked(item: object, source: Source) -> Scene | SceneError:
    if isinstance(item, SceneError):
        return _located(item, source)
    if not isinstance(item, Scene):
        return SceneError(
            f"the adapter gave a {type(item).__name__}, not a Scene", file=source.path
        )
    try:
        return item.validate()
    except SceneError as error:
        return _located(error, source)


def _located(error: SceneError, source: Source) -> SceneError:
    if error.file is None:
        error.file = str(source.path)
    return error


def _as_scene_error(error: Exception, source: Source) -> SceneError:
    if isinstance(error, SceneError):
        return _located(error, source)
    if isinstance(error, MotionpredError):
        text = f"{type(error).__name__}: {error.message}"
        return SceneError(
            text,
            file=error.file or source.path,
            scene=error.scene,
            field=error.field,
            remedy=error.remedy,
        )
    found = SceneError(
        f"{type(error).__name__}: {error}" if str(error) else type(error).__name__,
        file=source.path,
        remedy="The file cannot be read, or the adapter does not expect what is in it",
    )
    found.__cause__ = error
    return found
