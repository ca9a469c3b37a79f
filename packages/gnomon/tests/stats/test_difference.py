import numpy as np
import pytest
from scipy import stats

from gnomon.scores import ScoreTable
from gnomon.stats import compare, estimate

TRUE = np.exp(np.random.default_rng(1).normal(0, 1, 15))


def drawn(rng, n_runs, share):
    """Two algorithms whose noise has a share in common."""
    common, own_x, own_y = rng.normal(size=(3, n_runs, TRUE.size))
    mixed = [np.sqrt(share) * common + np.sqrt(1 - share) * own for own in (own_x, own_y)]
    return TRUE + 0.4 * mixed[0], 1.2 * TRUE + 0.4 * mixed[1]


def difference(x, y, **options):
    """Return the difference of medians of two matrices of runs."""
    return compare(ScoreTable.from_arrays({"a": x, "b": y}), "a", "b", "median", **options)[0]


def test_ends_are_those_of_both_medians_combined():
    x, y = drawn(np.random.default_rng(0), 5, 0.0)
    found = difference(x, y, level=0.9)
    (low_x, high_x), (low_y, high_y) = (
        (one.low, one.high)
        for s in (x, y)
        for one in estimate(ScoreTable.from_arrays({"a": s}), "median", level=0.9)
    )
    middle = np.median(x.mean(axis=0)), np.median(y.mean(axis=0))
    assert found.low == pytest.approx(
        middle[0] - middle[1] - np.hypot(middle[0] - low_x, high_y - middle[1])
    )
    assert found.high == pytest.approx(
        middle[0] - middle[1] + np.hypot(high_x - middle[0], middle[1] - low_y)
    )


def test_the_p_value_is_where_the_interval_meets_zero():
    x, y = drawn(np.random.default_rng(0), 5, 0.0)
    for beyond, low, high in ((-0.4, 0.5, 1.0), (-0.7, 0.05, 0.5), (0.2, 1e-9, 0.05)):
        p_value = difference(x, y + beyond).p_value
        assert low < p_value < high, beyond
        for level, excludes in ((-1e-4, False), (1e-4, True)):
            found = difference(x, y + beyond, level=1.0 - p_value * (1.0 + level))
            assert (found.low > 0.0 or found.high < 0.0) is excludes, (beyond, p_value)
    assert difference(x, y + 1e6).p_value < 1e-12


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("share", [0.0, 0.9])
def test_pairs_are_narrower_and_hold_their_coverage(share):
    rng = np.random.default_rng(5)
    true = np.median(TRUE) - np.median(1.2 * TRUE)
    held, widths = 0, []
    for i in range(100):
        x, y = drawn(rng, 4, share)
        pairs = difference(x, y, paired=True, n_resamples=200, rng=i)
        apart = difference(x, y)
        held += pairs.low <= true <= pairs.high
        widths.append([one.high - one.low for one in (pairs, apart)])
    assert stats.binomtest(held, 100, 0.95, "less").pvalue > 0.01
    paired, apart = np.mean(widths, axis=0)
    assert paired <= apart * (0.8 if share else 1.0)


def test_pairs_of_a_table():
    x, y = drawn(np.random.default_rng(2), 5, 0.9)
    table = ScoreTable.from_arrays({"a": x, "b": y})
    found = [
        compare(table, "a", "b", ["median"], paired=p, rng=np.random.default_rng(0))[0]
        for p in (True, False)
    ]
    assert [one.method for one in found] == ["profile"] * 2
    assert found[0].value == found[1].value == np.median(x.mean(0)) - np.median(y.mean(0))
    assert found[1].low < found[0].low < found[0].value < found[0].high < found[1].high


def test_medians_that_differ_beyond_all_doubt_have_the_least_p_value_that_there_is():
    x = np.random.default_rng(0).normal(size=(5, 9))
    (found,) = compare(ScoreTable.from_arrays({"a": x + 1e6, "b": x}), "a", "b", "median")
    assert 0.0 < found.p_value < 1e-6
