"""A name never stands for half a file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from motionpred.files import replacing, sha256_of, write_atomically


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what is forced to the disk, in order."""
    calls: list[str] = []

    def fsync(descriptor: int) -> None:
        calls.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    monkeypatch.setattr(os, "fsync", fsync)
    return calls


def test_the_file_is_there_when_the_block_ends_and_not_before(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
        assert part.parent == path.parent  # a rename within one folder is one step
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_removes_the_part_and_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(error), replacing(path) as part:
        part.write_text("ha")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_before_the_first_byte_is_the_error_that_comes_out(tmp_path):
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "a.txt"):
        1 / 0  # noqa: B018
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_a_killed_process_left_is_overwritten(tmp_path):
    (tmp_path / "a.txt.part").write_bytes(b"much longer than what comes")
    write_atomically(tmp_path / "a.txt", b"short")
    assert (tmp_path / "a.txt").read_bytes() == b"short"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_of_that_name_stays_and_no_part_is_left(tmp_path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(OSError, match=r"a\.txt"):
        write_atomically(tmp_path / "a.txt", b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_that_is_gone_is_not_made_again(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "gone" / "a.txt", b"x")
    assert not (tmp_path / "gone").exists()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to name descriptors")
def test_the_file_is_forced_to_the_disk_before_its_name_unless_told_otherwise(tmp_path, synced):
    write_atomically(tmp_path / "a", b"x")
    assert synced == ["a.part", tmp_path.name]
    synced.clear()
    write_atomically(tmp_path / "a", b"y", fsync=False)
    assert synced == []
    assert (tmp_path / "a").read_bytes() == b"y"


def test_sha256_is_that_of_all_bytes(tmp_path):
    content = bytes(range(256)) * 5000  # more than one piece
    (tmp_path / "a").write_bytes(content)
    assert sha256_of(tmp_path / "a") == hashlib.sha256(content).hexdigest()
