"""Plans: the power of the t test, the promise to 80 % of pilots, sentences."""

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import compare, plan


def rng():
    return np.random.default_rng(0)


def theory(runs, shift):
    df, center = 2 * runs - 2, shift * np.sqrt(runs / 2)
    critical = stats.t.ppf(0.975, df)
    return stats.nct.sf(critical, df, center) + stats.nct.cdf(-critical, df, center)


def test_power_is_that_of_the_t_test():
    """A large normal pilot: the power of Welch's test is that of theory."""
    x = rng().normal(size=(4000, 1))
    table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + 1.0})
    found = plan(table, metrics="mean", runs=[5, 15, 20])
    for point in found:
        assert point.low < theory(point.runs, 1.0) < point.high
        assert point.high - point.low < 0.1
        assert point.power == pytest.approx(theory(point.runs, 1.0), abs=0.03)
    # Between the numbers tried: 17 have it in theory; the limit of the pilot is a little lower.
    assert theory(16, 1.0) < 0.8 < theory(17, 1.0)
    assert found.notes == (
        "a and b (mean): 18 runs per task give power 0.8 (95 % interval: 16 to 19).",
        "power: the probability of detecting the difference if the true one is the lower limit of "
        "its one-sided 80 % interval; low, high: if it is an end of its 95 % interval.",
    )
    assert {(p.needed, p.needed_low, p.needed_high) for p in found} == {(18, 16, 19)}
    assert found.as_records()[0]["needed"] == 18
    assert "needed" not in str(found).splitlines()[0]
    ends = {p.runs: p.power for p in plan(table, metrics="mean", runs=[17, 18])}
    assert ends[17] < 0.8 <= ends[18]


@pytest.mark.parametrize("metric", ["mean", "iqm", "median", "probability_of_improvement"])
def test_power_has_an_interval_and_grows(metric):
    x = rng().normal(size=(8, 6))
    for sign in (1.0, -1.0):
        table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + 0.7 * sign})
        found = plan(table, metrics=metric, runs=[3, 8, 30])
        for point in found:
            assert 0.0 <= point.low <= point.power <= point.high <= 1.0
            assert point.low < point.high
        assert found[0].power < found[1].power < found[2].power
        (pilot,) = compare(table, "a", "b", metric)
        assert (found[1].high > 0.5) == (pilot.p_value < 0.9)


def test_no_difference_has_no_power():
    x = rng().normal(size=(100, 3))
    found = plan(ScoreTable.from_arrays({"a": x, "b": x[::-1]}), metrics="mean", runs=[5])
    assert found[0].power == pytest.approx(0.05, abs=0.02)
    why = "since the lower limit of the difference is 0: this pilot does not show which of the two"
    assert f"no number of runs gives power 0.8, {why}" in found.notes[0]


@pytest.mark.full
def test_four_of_five_pilots_reach_the_power():
    """Of pilots whose plan says 0.8, at least about 80 % have that power in truth."""
    draws, held, planned, shift, pilot, tasks = np.random.default_rng(4), 0, 0, 0.8, 5, 4
    sizes = [*range(2, 12), *range(12, 24, 2), *range(24, 80, 5)]
    for _ in range(60):
        x, y = draws.normal(size=(2, pilot, tasks))
        found = plan(ScoreTable.from_arrays({"a": x + shift, "b": y}), metrics="mean", runs=sizes)
        enough = [p.runs for p in found if p.power >= 0.8]
        if enough:
            planned += 1
            n = enough[0]
            center, df = shift * np.sqrt(n * tasks / 2), 2 * (n - 1) * tasks
            critical = stats.t.ppf(0.975, df)
            held += stats.nct.sf(critical, df, center) >= 0.8
        else:
            held, planned = held + 1, planned + 1
    assert stats.binomtest(held, planned, 0.8, "less").pvalue > 0.01, (held, planned)


def test_sentences_name_the_smallest_and_the_largest_tried():
    x = rng().normal(size=(6, 5))
    table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + 9.0})
    note, _ = plan(table, metrics="mean", runs=[20, 40]).notes
    assert note == (
        "a and b (mean): at most 20 runs per task, the smallest tried, give power 0.8 "
        "(95 % interval: at most 20)."
    )
    close = ScoreTable.from_arrays({"a": x, "b": x[::-1] + 0.5})
    found = plan(close, metrics="mean", runs=[3, 5])
    assert found.notes[0].startswith("a and b (mean): more than 5 runs per task are needed for")
    assert {p.needed for p in found} == {None}


def test_misuse():
    table = ScoreTable.from_arrays({"a": [[1.0], [2.0]], "b": [[1.0], [3.0]]})
    with pytest.raises(ScoreDataError, match="at least 2 runs of each task to try, found 1"):
        plan(table, runs=[1])
    single = ScoreTable.from_arrays({"a": [[1.0]], "b": [[1.0]]})
    with pytest.raises(ScoreDataError, match="expected at least two finite pilot runs on every"):
        plan(single)
    same = ScoreTable.from_arrays({"a": [[1.0], [1.0]], "b": [[2.0], [2.0]]})
    with pytest.raises(ScoreDataError, match="expected pilot runs that vary"):
        plan(same)


@pytest.mark.parametrize("share", [0, 1, float("nan")])
@pytest.mark.parametrize("name", ["power", "level"])
def test_a_power_and_a_level_are_between_0_and_1(name, share):
    scores = ScoreTable.from_arrays({"a": [[0.0], [1.0], [2.0]], "b": [[3.0], [4.0], [5.0]]})
    with pytest.raises(ValueError, match=f"expected a {name} between 0 and 1, found {share:g}"):
        plan(scores, "a", "b", "mean", **{name: share})


def shared_and_own():
    """Return runs that share an effect over 20 tasks, and the same with labels of their own."""
    draws = np.random.default_rng(2)
    shape, effect = (5, 20), np.sqrt(0.8)
    arrays = {
        name: 0.6 * draws.normal(size=shape) + effect * draws.normal(size=(5, 1)) + shift
        for name, shift in (("a", 0.4), ("b", 0.0))
    }
    table = ScoreTable.from_arrays(arrays)
    rows = [row | {"run": f"{row['task']} {row['run']}"} for row in table.to_records()]
    return table, ScoreTable(rows)


@pytest.mark.filterwarnings("ignore:.*vary together")
@pytest.mark.parametrize("metric", ["mean", "probability_of_improvement"])
def test_plans_and_pairs_allow_for_effects_that_runs_share(metric):
    shared, own = shared_and_own()
    for table, low, high in ((shared, 0.0, 0.6), (own, 0.8, 1.0)):
        (one,) = plan(table, "a", "b", metric, runs=[5])
        assert low <= one.power <= high
    widths = [
        one.high - one.low
        for table in (shared, own)
        for one in compare(table, "a", "b", metric, paired=True)
    ]
    assert widths[0] > 2 * widths[1]
