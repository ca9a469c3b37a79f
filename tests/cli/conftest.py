"""The command line, called in this process."""

from __future__ import annotations

import sys
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
