import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import subsample_table, subsampled


def rng():
    return np.random.default_rng(0)


def test_subsamples_of_all_runs_are_the_data():
    x = rng().normal(size=(6, 5))
    assert set(subsampled(x, "median", n_runs=6, n_draws=5, rng=rng()).round(12)) == {
        np.median(x.mean(axis=0)).round(12)
    }
    few = subsampled(x, "median", n_runs=2, rng=rng())
    many = subsampled(x, "median", n_runs=5, rng=rng())
    assert few.std() > many.std()
    with pytest.raises(ValueError, match="expected 1 to 6 runs, found 7"):
        subsampled(x, n_runs=7, rng=rng())


def test_subsamples_of_a_table():
    x = np.random.default_rng(0).normal(size=(10, 4))
    table = ScoreTable.from_arrays({"a": x, "b": np.where(np.arange(10)[:, None] < 3, x, np.nan)})
    found = subsample_table(table, "mean", n_draws=50, rng=np.random.default_rng(1))
    assert [(one.algorithm, one.runs) for one in found] == [("a", 2), ("a", 3), ("a", 5), ("b", 2)]
    assert found[0].draws.std() > found[2].draws.std()
    # All of the runs, when asked for, say what they say.
    found = subsample_table(table, "mean", runs=[3], n_draws=5, rng=np.random.default_rng(1))
    assert found[1].draws.tolist() == pytest.approx([found[1].value] * 5)
    with pytest.raises(ScoreDataError, match="expected an algorithm with more than 2 runs"):
        subsample_table(table, "mean", runs=[20], rng=np.random.default_rng(1))


def test_draws_that_say_nothing_are_named():
    table = ScoreTable.from_arrays({"a": np.full((4, 3), 0.1)})
    with pytest.warns(DegenerateScoresWarning, match="mean of a, draws of 2 runs: they do not dif"):
        subsample_table(table, "mean", runs=[2], n_draws=5, rng=rng())
    rows = [
        {"algorithm": "a", "task": "t", "run": r, "score": r or np.inf, "censored": not r}
        for r in range(4)
    ]
    table = ScoreTable.from_records(rows, higher_is_better=False)
    with pytest.warns(DegenerateScoresWarning, match=r"draws of 2 runs: \d+ of 40 not estimable"):
        (two,) = subsample_table(table, "mean", runs=[2], n_draws=40, rng=rng())
    assert two.as_record()["mean"] is None
    assert two.as_record()["low"] is not None
