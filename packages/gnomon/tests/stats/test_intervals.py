import numpy as np
import pytest
from scipy import stats

from gnomon.scores import ScoreTable
from gnomon.stats import (
    Resamples,
    Strata,
    bias_corrected_accelerated,
    compare,
    draw_key,
    estimate,
    metric_named,
    percentile,
)
from gnomon.stats.intervals import acceleration, scaled

SAMPLE = np.random.default_rng(0).gamma(1.5, size=20)
STRATA = Strata.from_matrix(SAMPLE)
REPLICATES = Resamples(STRATA, n_resamples=20_000, key=draw_key(np.random.default_rng(1))).of(
    metric_named("mean")
)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_against_scipy(method):
    found = {
        "percentile": lambda: percentile(REPLICATES, 0.9),
        "BCa": lambda: bias_corrected_accelerated(
            REPLICATES, SAMPLE.mean(), 0.9, acceleration(STRATA, SAMPLE)
        ),
    }[method]()
    expected = stats.bootstrap(
        (SAMPLE,), np.mean, n_resamples=20_000, confidence_level=0.9, method=method,
        rng=np.random.default_rng(2),
    ).confidence_interval  # fmt: skip
    slack = 6 * found.mc_error
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=slack)


def test_scaling_for_few_runs():
    found, plain = scaled(REPLICATES, SAMPLE.mean(), STRATA, 0.9), percentile(REPLICATES, 0.9)
    ratio = np.sqrt(20 / 19) * stats.t.ppf(0.95, 19) / stats.norm.ppf(0.95)
    assert found.high - found.low == pytest.approx(ratio * (plain.high - plain.low))


@pytest.mark.full
def test_with_many_scores_the_closed_forms_are_taken_and_end_where_resamples_do():
    rng = np.random.default_rng(0)
    scores = rng.gamma(2.0, size=(1200, 45)) * rng.uniform(0.5, 1.5, size=45)
    rows = [
        {"algorithm": name, "task": f"t{task}", "run": run, "score": scores[run, task] + better}
        for name, better in (("a", 0.0), ("b", 0.02))
        for task in range(45)
        for run in range(1200)
    ]
    table = ScoreTable.from_records(rows)
    for found, drawn in (
        (estimate(table), estimate(table, method="percentile", rng=0)),
        (compare(table, "a", "b"), compare(table, "a", "b", method="percentile", rng=0)),
    ):
        for ours, theirs in zip(found, drawn, strict=True):
            assert (ours.n_resamples, theirs.method) == (0, "percentile")
            near = 0.15 * (theirs.high - theirs.low)
            assert ours.low == pytest.approx(theirs.low, abs=near), ours.metric
            assert ours.high == pytest.approx(theirs.high, abs=near), ours.metric
