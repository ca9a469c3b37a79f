"""Notes: what Gnomon warned of is kept, and what others warned of goes on its way."""

import warnings

import pytest

from gnomon.errors import DegenerateScoresWarning
from gnomon.results import noted


def notes_of(*given):
    with noted() as notes:
        for text, category in given:
            warnings.warn(text, category, stacklevel=1)
    return notes


def test_each_note_is_kept_once():
    ours = DegenerateScoresWarning
    found = notes_of(("one run", ours), ("no task", ours), ("one run", ours))
    assert found == ["one run", "no task"]


def test_other_warnings_go_on():
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert notes_of(("divide by zero", RuntimeWarning)) == []
