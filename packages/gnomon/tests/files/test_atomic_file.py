"""A file appears complete or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gnomon.text_files import write_atomically, write_together


def test_it_replaces_what_was_there(tmp_path):
    path = tmp_path / "x"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x"
    write_atomically(path, b"old")

    def no_space(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


FULL = Path("/dev/full")


def test_an_error_names_the_path_that_was_asked_for(tmp_path):
    path = tmp_path / "no" / "x"
    with pytest.raises(FileNotFoundError) as error:
        write_atomically(path, b"new")
    assert error.value.filename == str(path)


def test_files_come_together(tmp_path):
    folder = tmp_path / "new" / "folder"
    write_together(folder, {"a.txt": b"a", "below/b.txt": b"b"})
    write_together(folder, {"a.txt": b"A"})
    found = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.txt")}
    assert found == {"a.txt": b"A", "below/b.txt": b"b"}
    assert sorted(p.name for p in folder.iterdir()) == ["a.txt", "below"]


def test_on_a_full_disk_none_of_them_comes(tmp_path, monkeypatch):
    folder = tmp_path / "new" / "folder"
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        return FULL.write_text("x") if path.name == "b.txt" else write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left") as error:
        write_together(folder, {"a.txt": b"a", "below/b.txt": b"b"})
    assert error.value.filename == str(folder)
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_stays_if_something_goes_wrong(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"old")
    (tmp_path / "below").write_bytes(b"a file, and no folder")
    with pytest.raises(OSError, match="exists") as error:
        write_together(tmp_path, {"a.txt": b"new", "below/b.txt": b"b"})
    assert error.value.filename == str(tmp_path)
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "below"]
