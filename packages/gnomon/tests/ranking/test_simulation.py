"""Simulated studies: shares of right answers where the table is the population."""

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.ranking import audit
from gnomon.scores import ScoreTable, read_scores, write_scores


def normal_runs(n_tasks=4, n_runs=400, shifts=(0.0, 1.2), seed=0):
    rng = np.random.default_rng(seed)
    arrays = {f"a{i}": rng.normal(m, 1, (n_runs, n_tasks)) for i, m in enumerate(shifts)}
    return ScoreTable.from_arrays(arrays)


def found_in(table, simulate, n_studies=100, rng=0, **options):
    options = {"n_resamples": 200, "n_studies": n_studies, "simulate": simulate, **options}
    return {
        one.name: one for one in audit(table, rng=rng, **options) if one.section == "simulation"
    }


@pytest.fixture(scope="module")
def of_three():
    """Two algorithms that differ by 1.2 standard deviations on each of 4 tasks, 3 runs.

    The runs of each task have labels of their own, since the theory is that of independent runs.
    """
    rows = normal_runs().to_records()
    table = ScoreTable([row | {"run": f"{row['task']} {row['run']}"} for row in rows])
    return found_in(table, 3, 200)


def near(share, theory, n):
    return abs(share - theory) < 4 * np.sqrt(theory * (1 - theory) / n)


@pytest.mark.full
def test_coverage_of_normal_runs_is_that_of_theory(of_three):
    """Percentiles of 3 runs have the normal quantile and two thirds of the variance."""
    assert near(of_three["intervals of mean that contain the true value"].value, 0.95, 400)
    theory = 1 - 2 * stats.t.sf(1.96 * np.sqrt(2 / 3), 8)
    percentile = of_three["percentile intervals of mean that contain the true value"].value
    assert theory < 0.86
    assert near(percentile, theory, 400)


@pytest.mark.full
def test_errors_and_power_are_those_of_theory(of_three):
    """Satterthwaite's degrees of freedom, estimated, are at most 16, and near 8 at times."""
    truth = normal_runs()
    means = [truth.strata(name, truth.tasks)[0].mean() for name in truth.algorithms]
    shift = abs(np.subtract(*means)) / np.sqrt(2 / 12)
    low, high = (stats.nct.sf(stats.t.ppf(0.975, df), df, shift) for df in (8, 16))
    assert 0.5 < low < high < 0.9
    found = of_three["true differences in mean that are detected"].value
    assert low - 0.1 < found < high + 0.1
    false = of_three["studies of equal algorithms with a significant difference in mean"].value
    assert near(false, 0.05, 200)
    assert of_three["studies whose rank intervals all contain the true ranks"].value > 0.95


@pytest.mark.full
def test_a_share_has_its_standard_error_and_is_never_certain(of_three):
    name = "true differences in mean that are significant in the wrong direction"
    assert of_three[name].finding == f"T{name[1:]}: 0.0 % (0.5)"


def test_the_same_seed_gives_the_same_shares():
    table = normal_runs(n_runs=30)
    one, same, other = (found_in(table, 2, 5, seed) for seed in (3, 3, 4))
    assert one == same
    assert one != other


@pytest.mark.full
def test_runs_that_share_an_effect_are_drawn_whole():
    """Drawn apart, the intervals of means would be valid without allowing for the effect."""
    rng = np.random.default_rng(1)
    arrays = {
        name: rng.normal(size=(60, 8)) + common * rng.normal(size=(60, 1))
        for name, common in (("shared", 2.0), ("also", 2.0))
    }
    found = found_in(ScoreTable.from_arrays(arrays), 5, 100)
    assert found["whole runs"].finding.startswith("Runs of shared, also share an effect over tasks")
    percentile = found["percentile intervals of mean that contain the true value"].value
    assert percentile < 0.6 < found["intervals of mean that contain the true value"].value


def test_scores_on_unlike_scales_leave_ranks_and_their_test():
    table = normal_runs(n_runs=20)
    huge = ScoreTable(
        table.rows.with_columns(
            {"score": (table.rows["score"] + 10) * np.where(table.rows["task"].codes == 0, 1e6, 1)}
        )
    )
    found = found_in(huge, 3, 5)
    assert "true differences in probability_of_improvement that are detected" in found
    assert not any("mean" in name for name in found)


def test_a_warning_names_small_populations():
    found = found_in(normal_runs(n_runs=5), 3, 3)
    assert found["few runs"].value == 5.0
    assert "few runs" not in found_in(normal_runs(n_runs=20), 3, 3)


def test_tables_and_sizes_that_allow_no_studies_are_refused():
    with pytest.raises(ScoreDataError, match=r"simulate=1: expected 2 runs or more"):
        found_in(normal_runs(n_runs=5), 1)
    with pytest.raises(ScoreDataError, match=r"n_studies=1: expected 2 studies or more"):
        found_in(normal_runs(n_runs=5), 3, 1)
    with pytest.raises(ScoreDataError, match=r"n_studies=5: no study is simulated; .* simulate=5"):
        audit(normal_runs(n_runs=5), n_studies=5)
    single = ScoreTable.from_arrays({"a": [[1.0, 2.0], [2.0, 3.0]], "b": [[1.0, 4.0]]})
    with pytest.raises(ScoreDataError, match=r"found 1 of b on task_0 \(2 such cells\)"):
        found_in(single, 3)
    items = ScoreTable.from_arrays({"a": [[1.0, 0.0, 1.0]]}, units="items")
    with pytest.warns(DegenerateScoresWarning, match="each vote is an item"):
        votes = read_scores([{"model_a": "a", "model_b": "b", "winner": "model_a"}])
    for unlike in (items, votes):
        with pytest.raises(ScoreDataError, match="simulate applies to tasks, not to items"):
            audit(unlike, simulate=5)


def test_the_command_prints_records_and_shares(command):
    write_scores(normal_runs(n_runs=20), "scores.csv")
    words = "gnomon audit scores.csv --studies 5 --resamples 50 --simulate"
    printed = command(f"{words} 3").out
    assert "Simulated studies\n-----------------\n5 studies of 3 runs" in printed
    found = command(f"{words} 3 --json").results
    ours = [one for one in found if one["section"] == "simulation"]
    assert {*ours[0]} == {"section", "name", "finding", "value"}
    assert all(0.0 <= one["value"] <= 1.0 for one in ours[1:])
    command(f"{words} 1").assert_refused("--simulate 1: expected 2 runs or more")
