"""Predictive distributions: the simulated suite, widths that grow, refusals, and how they hold."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gnomon.distillation import (
    FactorProcedure,
    Forecast,
    SubsetModel,
    compare_forecasts,
    nested_error,
    prepare,
)
from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable

PROCEDURE = FactorProcedure()


def suite_of(n=60, n_tasks=12, *, seed=0, trend=0.0, runs=1, **options):
    """Return a table of one skill, with the year in which each algorithm appeared."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(2.0, 0.6, (n, 1)) + trend * np.arange(n)[:, np.newaxis] / n
    x = skill * rng.uniform(0.6, 1.2, n_tasks) + rng.normal(0, 0.3, (n, n_tasks))
    noise = rng.normal(0, 0.2, (n, runs, n_tasks))
    rows = {f"a{i:03}": x[i] + noise[i] for i in range(n)}
    table = ScoreTable.from_arrays(rows)
    years = {f"a{i:03}": 2000 + i * 10 // n for i in range(n)}
    import polars as pl

    frame = table.to_polars().with_columns(
        year=pl.col("algorithm").replace_strict(years), group=pl.col("algorithm")
    )
    return prepare(ScoreTable.from_frame(frame), transform="identity", date_by="year", **options)


@pytest.fixture(scope="module")
def fitted():
    data = suite_of()
    tasks = PROCEDURE.choose(data, 4)[0]
    return data, PROCEDURE.with_spread(data, PROCEDURE.fit(data, tasks))


def test_a_whole_suite_is_known_exactly(fitted):
    data, _ = fitted
    model = PROCEDURE.fit(data, data.tasks)
    row = data.x[3]
    assert model.forecaster.suite.summaries(np.arange(12), row).std() < 1e-12


def test_any_summary_is_simulated():
    for summary in ("iqm", "mean", "mean_log"):
        data = suite_of(summary=summary)
        model = PROCEDURE.fit(data, PROCEDURE.choose(data, 4)[0])
        x = data.x[:, data.columns(model.tasks)]
        assert np.corrcoef(model.predict(x), data.target)[0, 1] > 0.7


def test_the_answer_is_the_same_every_time(fitted, tmp_path):
    data, model = fitted
    row = data.x[0, data.columns(model.tasks)]
    assert model.forecaster.forecast(row) == model.forecaster.forecast(row)
    model.save(tmp_path / "m.json")
    again = SubsetModel.load(tmp_path / "m.json")
    assert again == model
    assert again.forecaster.forecast(row) == model.forecaster.forecast(row)


def test_the_interval_grows_with_the_distance(fitted):
    _, model = fitted
    high, spread = np.array(model.forecaster.high), np.array(model.forecaster.spread)
    told = [model.forecaster.forecast(high + k * spread) for k in (0.0, 1.0, 3.0)]
    widths = [one.interval(0.9)[1] - one.interval(0.9)[0] for one in told]
    assert widths == sorted(widths)
    assert widths[2] > 2 * widths[0]
    assert [round(one.outside) for one in told] == [0, 1, 3]


def test_what_is_too_far_is_refused(fitted):
    _, model = fitted
    high, spread = np.array(model.forecaster.high), np.array(model.forecaster.spread)

    def estimate(k):
        with pytest.warns(match="outside the range"):
            return model.estimate(dict(zip(model.tasks, high + k * spread, strict=True)))

    assert "extrapolated" in estimate(1.5).verdict or "too far" in estimate(1.5).verdict
    far = estimate(5.0)
    assert "too far from the training" in far.verdict
    assert np.isnan(far.value)
    assert far.low < far.high
    beyond = estimate(9.0)
    assert "no interval" in beyond.verdict
    assert np.isnan([beyond.value, beyond.low, beyond.high]).all()


def test_fewer_runs_than_the_trainings_widen_it():
    data = suite_of(runs=5)
    assert data.run_noise.n_runs == 5
    assert np.mean(data.run_noise.variances) == pytest.approx(0.04, rel=0.15)
    model = PROCEDURE.with_spread(data, PROCEDURE.fit(data, PROCEDURE.choose(data, 3)[0]))
    row = data.x[0, data.columns(model.tasks)]
    told = [model.forecaster.forecast(row, np.full(3, n)) for n in (1.0, 2.0, 5.0, 9.0)]
    ends = [one.interval(0.9) for one in (*told, model.forecaster.forecast(row))]
    widths = [high - low for low, high in ends]
    assert widths[0] > widths[1] > widths[2] == widths[3] == widths[4]


def test_no_scale_widens_the_noise_of_runs():
    ours, theirs = Forecast(2.0, 0.01, 0.0, noise=0.02), Forecast(1.0, 0.01, 0.0)
    low, high = ours.interval(0.9, 2.0)
    q = stats.t.ppf(0.95, 6)
    assert (high - 2.0, 2.0 - low) == pytest.approx([q * np.sqrt(4 * 0.01 + 0.02)] * 2)
    assert compare_forecasts(ours, theirs, scale=2.0)[1] == pytest.approx(np.sqrt(0.08 + 0.02))


@pytest.mark.full
def test_single_runs_are_covered_as_means_of_runs_are():
    inside = []
    for seed in range(3):
        data = suite_of(runs=5, seed=seed, summary="median")
        rng = np.random.default_rng(seed)
        scale = nested_error(data, PROCEDURE, 4, spread=True, rng=rng).scale
        folds = rng.permutation(len(data.target)) % 10
        for fold in range(10):
            held = folds == fold
            train = data.rows(~held)
            tasks = PROCEDURE.choose(train, 4)[0]
            model = PROCEDURE.with_spread(train, PROCEDURE.fit(train, tasks)).forecaster
            # A single run differs from the mean of five by 4/5 of the variance between runs.
            for i in np.flatnonzero(held):
                x = data.x[i, data.columns(tasks)] + rng.normal(0, 0.2 * np.sqrt(0.8), 4)
                low, high = model.forecast(x, np.ones(4)).interval(0.9, scale)
                inside.append(low <= data.target[i] <= high)
    assert 0.86 <= np.mean(inside) <= 0.98


def test_intervals_cover_inside_and_in_time():
    covered = []
    for seed in range(3):
        data = suite_of(seed=seed, trend=1.0)
        rng = np.random.default_rng(seed)
        inside = nested_error(data, PROCEDURE, 4, spread=True, rng=rng)
        later = nested_error(data, PROCEDURE, 4, outer="time", spread=True, rng=rng)
        covered.append((inside.coverage(0.9, inside.scale), later.coverage(0.9, inside.scale)))
        assert inside.scale >= 1.0
    assert np.mean(covered, axis=0).min() >= 0.85


def test_time_trains_on_the_past_alone():
    data = suite_of()
    held = nested_error(data, PROCEDURE, 2, outer="time", rng=np.random.default_rng(0))
    predicted = ~np.isnan(held.residuals[0])
    assert set(data.years[~predicted]) == {2000.0, 2001.0, 2002.0, 2003.0}  # Fewer than 20 before.
    past = data.years < 2009
    tasks = PROCEDURE.choose(data.rows(past), 2)[0]
    model = PROCEDURE.fit(data.rows(past), tasks)
    last = data.years == 2009
    by_hand = model.predict(data.x[last][:, data.columns(tasks)]) - data.target[last]
    assert held.residuals[0][last] == pytest.approx(by_hand)


def test_time_needs_dates():
    data = suite_of()
    with pytest.raises(ScoreDataError, match="needs dates: name the column"):
        nested_error(
            replace(data, years=None), PROCEDURE, 2, outer="time", rng=np.random.default_rng(0)
        )
    few = data.rows(np.arange(15))
    with pytest.raises(ScoreDataError, match="too few to predict what came later"):
        nested_error(few, PROCEDURE, 2, outer="time", rng=np.random.default_rng(0))


def test_the_quantile_is_students_of_the_tails_and_the_families(fitted):
    """Six degrees of freedom, fewer where few families tell how far off one may be."""
    data, model = fitted
    row = data.x[0, data.columns(model.tasks)]
    known = [replace(model.forecaster, n_groups=n) for n in (None, 10**6, 31, 6, 1)]
    half = [one.forecast(row).center - one.forecast(row).interval(0.9)[0] for one in known]
    assert half[0] == pytest.approx(half[1], rel=1e-5)
    assert half[0] < half[2] < half[3] < half[4]
    # t of 6, 5 and 1 / (1/6 + 1/5) degrees of freedom, from a table.
    assert half[2] / half[0] == pytest.approx(2.0150 / 1.9432, abs=1e-4)
    assert known[3].df == pytest.approx(30 / 11)


@pytest.mark.full
def test_the_published_table_reaches_what_was_asked_for(paper):
    """10-fold at most 10.9 %, next year at most 15.5 %, 90 % intervals that hold in both."""
    rng = np.random.default_rng(0)
    inside = nested_error(paper, PROCEDURE, 5, n_repeats=3, spread=True, rng=rng)
    later = nested_error(paper, PROCEDURE, 5, outer="time", spread=True, rng=rng)
    assert inside.relative_error < 0.109
    assert later.relative_error < 0.155
    assert later.n_predicted == 42
    assert inside.coverage() > 0.9
    assert later.coverage() > 0.9
