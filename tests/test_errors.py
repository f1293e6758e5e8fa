"""Errors say where and what to do, and come back whole from worker processes."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest

from motionpred import errors
from motionpred.errors import ConfigError, MotionpredError, SceneError, StoreError

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type)]
KINDS = [kind for kind in KINDS if issubclass(kind, MotionpredError)]


def broken() -> SceneError:
    return SceneError("is nan", file=Path("a/b.parquet"), scene="s-1", field="x", remedy="Read it")


def fail() -> NoReturn:
    raise broken()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (SceneError("is nan"), "is nan"),
        (SceneError("is nan."), "is nan"),
        (SceneError("is nan", scene="s"), "is nan [scene=s]"),
        (broken(), "is nan [file=a/b.parquet, scene=s-1, field=x]. Read it"),
        (ConfigError("is 3", remedy="Use 2"), "is 3. Use 2"),
        (StoreError("no scene", scene=""), "no scene [scene=]"),
    ],
)
def test_the_text_names_the_places_and_ends_with_the_remedy(error, text):
    assert str(error) == text


def test_to_dict_gives_every_place_as_plain_text_or_none():
    assert broken().to_dict() == {
        "file": "a/b.parquet",
        "scene": "s-1",
        "field": "x",
        "remedy": "Read it",
    }
    assert set(ConfigError("is 3").to_dict().values()) == {None}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_error_survives_pickle(kind):
    error = kind("is nan", file="f", scene="s", field="x", remedy="Read it")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    assert type(again) is kind
    assert (str(again), again.message, again.to_dict()) == (str(error), "is nan", error.to_dict())


def test_an_error_of_a_worker_process_comes_back_with_its_places():
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=context) as pool, pytest.raises(SceneError) as caught:
        pool.submit(fail).result()
    assert caught.value.to_dict() == broken().to_dict()


def test_all_are_caught_as_one_kind():
    assert len(KINDS) > 5
    with pytest.raises(MotionpredError):
        fail()
