import numpy as np
import pytest
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import plan, sequential_compare, sequential_levels


def rng():
    return np.random.default_rng(0)


@pytest.mark.full
def test_the_error_of_all_looks_is_that_of_the_whole():
    assert (1 - sequential_levels([3, 5, 10], level=0.9)).sum() == pytest.approx(0.1)
    draws = np.random.default_rng(8)
    false = 0
    for _ in range(200):
        table = ScoreTable.from_arrays(dict(zip("ab", draws.normal(size=(2, 10, 3)), strict=True)))
        result = sequential_compare(table, "a", "b", "mean", looks=[4, 7, 10], rng=draws)
        false += result.decided
    assert stats.binomtest(false, 200, 0.05, "greater").pvalue > 0.01


def test_runs_not_made_yet_are_not_needed():
    x = rng().normal(size=(4, 3))
    table = ScoreTable.from_arrays({"a": x, "b": x[::-1]})
    result = sequential_compare(table, "a", "b", "mean", looks=[4, 8], rng=rng())
    assert (result.decided, result.runs) == (False, 4)
    with pytest.raises(ScoreDataError, match="expected 8 runs per task at the first look, found 4"):
        sequential_compare(table, "a", "b", looks=[8, 16], rng=rng())


def two_humped(draws, n_runs):
    """Return runs of which two fifths fall on the lower hump of the one task that matters."""
    x = 0.1 * draws.normal(size=(2, n_runs, 6))
    x[..., 0] += np.where(draws.random((2, n_runs)) < 0.4, -3.0, 2.0)
    return x


def test_an_early_look_does_not_decide_by_one_task():
    x = 5.0 + 0.1 * rng().normal(size=(2, 8, 6))
    x[0, :, 2] += 9.0
    table = ScoreTable.from_arrays({"a": x[0], "b": x[1]})
    early = sequential_compare(table, "a", "b", "mean", looks=[4, 8], rng=rng())
    assert early.runs == 8  # though the first look is sure:
    first = sequential_compare(table, "a", "b", "mean", looks=[4, 9], rng=rng())
    assert (first.decided, first.comparison.p_value < 1e-4) == (False, True)
    late = sequential_compare(table, "a", "b", "mean", looks=[5, 8], rng=rng())
    assert (late.decided, late.runs) == (True, 5)
    alone = table.select(tasks=["task_2"])
    assert sequential_compare(alone, "a", "b", "mean", looks=[4, 8], rng=rng()).runs == 8


@pytest.mark.full
def test_type_one_error_of_looks_on_two_humps():
    """A binomial test: at most 6 % where one task's runs fall in two clusters."""
    draws, false, n, looks = np.random.default_rng(9), 0, 250, (2, 4, 8)
    for _ in range(n):
        x, y = two_humped(draws, looks[-1])
        table = ScoreTable.from_arrays({"a": x, "b": y})
        false += sequential_compare(table, "a", "b", "mean", looks=looks, rng=draws).decided
    assert stats.binomtest(false, n, 0.06, "greater").pvalue > 0.01, false


def test_looks_ascend():
    with pytest.raises(ValueError, match="expected ascending numbers of runs"):
        sequential_levels([5, 5])


def test_censored_runs_are_looked_at():
    draws = rng().normal(size=(2, 8, 5))
    rows = [
        {"algorithm": name, "task": f"t{t}", "run": r, "score": x[r, t], "censored": False}
        for name, x in zip("ab", draws, strict=True)
        for t in range(5)
        for r in range(8)
    ]
    rows[0] |= {"score": -np.inf, "censored": True}
    table = ScoreTable.from_records(rows)
    result = sequential_compare(table, "a", "b", "iqm", looks=[4, 8], rng=rng())
    assert result.runs == 8
    assert np.isfinite(result.comparison.low)


def test_the_looks_of_a_sequential_plan_say_over_what_they_are_corrected():
    scores = {"a": rng().normal(0.0, 1.0, (8, 3)), "b": rng().normal(9.0, 1.0, (8, 3))}
    found = plan(ScoreTable.from_arrays(scores), "a", "b", "mean", way="sequential", runs=[4, 8])
    assert found.notes == (
        "p_value: of the look, whose level is its share of the error of all looks; not corrected "
        "over metrics",
    )
    assert "< 0.0001" in str(found)
