"""Summary scores."""

import numpy as np
import pytest
from scipy.stats import trim_mean

from gnomon.distill.preparation import half_summaries, summarize
from gnomon.distill.transforms import transform_of

LOG = transform_of("log")
RNG = np.random.default_rng(0)
Z = RNG.exponential(100, size=(6, 21))
Z[0, :4] = np.nan


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("median", np.median),
        ("mean", np.mean),
        ("iqm", lambda z: trim_mean(z, 0.25)),
        ("mean_log", lambda z: 10 ** np.log10(1 + z).mean() - 1),
        ("above_human", lambda z: 100 * (z > 100).mean()),
    ],
)
def test_each_summary_is_that_of_the_tasks_at_hand(name, expected):
    rows = [expected(row[~np.isnan(row)]) for row in Z]
    assert summarize(Z, name, LOG) == pytest.approx(rows)


def test_a_function_of_ones_own():
    assert summarize(Z, lambda z: z.max(axis=-1), LOG) == pytest.approx(np.nanmax(Z, axis=1))


def test_an_algorithm_without_scores_has_no_summary():
    assert np.isnan(summarize(np.full((1, 3), np.nan), "median", LOG)).all()


def test_halves_of_equal_scores_are_the_summary():
    z = np.full((2, 10), 99.0)
    rng = np.random.default_rng(0)
    assert half_summaries(z, "median", LOG, rng=rng) == pytest.approx([2.0, 2.0])


def test_halves_do_not_look_at_other_rows():
    def smooth(z):
        return half_summaries(z, "median", LOG, rng=np.random.default_rng(1))

    changed = Z.copy()
    changed[1:] *= 7
    assert smooth(changed)[0] == smooth(Z)[0]
