"""The command line, called in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from gnomon.cli import main


class Said(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def gnomon(monkeypatch, capsys, tmp_path):
    """Call the command line in an empty folder: what it says, where, and its exit status."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["gnomon", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        said = capsys.readouterr()
        return Said(int(exit_.value.code or 0), said.out, said.err)

    return call


SHARED = Path(__file__).parents[2] / ".." / "shared" / "data"


@pytest.fixture
def atari_folder(monkeypatch) -> Path:
    """Point GNOMON_DATA at the folder beside the repository."""
    if not (SHARED / "atari5" / "dataset.csv").is_file():
        pytest.skip("the Atari-5 data set is not beside the repository")
    monkeypatch.setenv("GNOMON_DATA", str(SHARED))
    return SHARED / "atari5"
