"""A batch of tables is judged as its tables are, one by one."""

import numpy as np
import pytest

from gnomon.stats import Metric, Strata, delta_error, median_profile_interval, metric_named
from gnomon.stats.comparisons.difference import DifferenceOptions, difference
from gnomon.stats.intervals import closed_interval

NAMES = (
    *("mean", "median", "iqm", "optimality_gap", "task_iqm", "trimmed_mean:0.1", "share_above:1"),
    *("difficulty_progress:0.25", "of_my_own", "in_pieces"),
)
OPTIONS = DifferenceOptions(True, False, 0.95, "small_sample", 1, (np.uint64(1), np.uint64(2)))


def batch(n_tables, n_tasks, n_runs, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(1.0, 0.7, size=(n_tables, n_tasks * n_runs)).round(1)
    values[0, :n_runs] = 1.0  # runs that do not vary
    return Strata(values, np.arange(n_tasks + 1) * n_runs)


def named(name):
    if name == "of_my_own":
        return Metric(name, lambda s: float(s.values.sum()), lambda s: s.values * s.starts[-1])
    if name == "in_pieces":
        return Metric.cutting(
            name, lambda s: float(np.abs(s.values).mean()), lambda s: np.abs, additive=True
        )
    return metric_named(name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_tasks", [1, 2, 7, 12])
def test_a_batch_is_its_tables(name, n_tasks):
    metric = named(name)
    x, y = batch(5, n_tasks, 4), batch(5, n_tasks, 6, seed=1)

    def judged(a, b):
        found = difference(a, b, metric, OPTIONS)
        interval = found.interval(0.9)
        p_value = np.nan if name == "median" and n_tasks > 2 else found.p_value
        numbers = found.value, interval.low, interval.high, p_value
        return np.stack(np.broadcast_arrays(*numbers), axis=-1)

    alone = [judged(*pair) for pair in zip(x.tables(), y.tables(), strict=True)]
    assert judged(x, y) == pytest.approx(np.array(alone), nan_ok=True, rel=1e-12)
    found = closed_interval(metric, metric.values(x), x, 0.9)
    for i, table in enumerate(x.tables()):
        one = closed_interval(metric, metric.value(table), table, 0.9)
        assert (found.low[i], found.high[i]) == pytest.approx((one.low, one.high), rel=1e-12)


def test_one_of_many_tables_with_an_infinite_score_has_no_formula():
    x = batch(3, 4, 3)
    x.values[1, 2] = np.inf
    assert metric_named("mean").influences(x) is None
    assert named("of_my_own").influences(x) is None


def test_a_table_gives_floats_and_a_batch_arrays():
    x = batch(3, 4, 3)
    table = x.tables()[2]
    error = delta_error(metric_named("iqm").influences(table))
    ends = median_profile_interval(table, 0.95)
    for found in (error.variance, error.df, error.half_width(0.9), *ends):
        assert type(found) is float
    assert delta_error(metric_named("iqm").influences(x)).df.shape == (3,)
