"""Results as data frames, and notes: Gnomon's warnings are kept, other ones pass."""

import warnings

import pytest

from gnomon.errors import DegenerateScoresWarning
from gnomon.results import noted
from gnomon.stats import Estimate, Estimates


def test_results_are_data_frames_whose_columns_have_one_type():
    records = [
        Estimate(name, "mean", None, 0.5, float("nan"), 0.6, 0.95, "t", n_runs, 6)
        for name, n_runs in (("a", 5), ("b", (2, 7)))
    ]
    found = Estimates(tuple(records))
    frames = [pytest.importorskip("pandas") and found.to_pandas()]
    frames.append(pytest.importorskip("polars") and found.to_polars())
    for frame in frames:
        assert [*frame["n_runs_min"]] == [5, 2]
        assert [*frame["n_runs_max"]] == [5, 7]
        assert [*frame["value"]] == [0.5, 0.5]


def test_a_column_that_no_record_has_is_an_error():
    class Misspelt(Estimates):
        columns = ("algorithm", "valeu")

    one = Estimate("a", "mean", None, 0.5, 0.4, 0.6, 0.95, "t", 5, 6)
    with pytest.raises(KeyError, match="Misspelt has no column 'valeu'"):
        str(Misspelt((one,)))


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
