import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable, SummaryTable
from gnomon.stats import (
    distance_profiles,
    likelihood_distances,
    likelihood_profiles,
    permutation_distances,
    ratio_profiles,
    ratios_to_best,
)

MACHADO = Path(__file__).parents[4] / ".." / "shared/data/scores/machado2018_mean_std.csv"


def machado(algorithm, frames):
    with MACHADO.open() as file:
        rows = [r for r in csv.DictReader(file) if r["algorithm"] == algorithm]
    rows = [r for r in rows if r["frames"] == frames]
    return tuple([float(r[name]) for r in rows] for name in ("mean", "std"))


@pytest.mark.skipif(not MACHADO.is_file(), reason="the shared score files are not here")
@pytest.mark.parametrize(
    ("df", "at_05", "at_01"),
    [("welch", (0.617, 0.583), (0.650, 0.650)), ("as_published", (0.700, 0.683), (0.917, 0.933))],
)
def test_the_essays_numbers_come_out(df, at_05, at_01):
    sets = [machado(name, "200000000") for name in ("Sarsa(lambda)+Blob-PROST", "DQN")]
    means, deviations = np.array(sets).transpose(1, 0, 2)
    distances = likelihood_distances(means, deviations, [[24], [5]], df=df)
    assert (distances == 0).sum(axis=1).tolist() == [29, 31]
    profiles = likelihood_profiles(["blob-prost", "dqn"], distances, [1.301, 2.0])
    found = np.array([p.value for p in profiles]).T
    np.testing.assert_allclose(found, [at_05, at_01], atol=5e-4)


def test_distances_are_those_of_welchs_test():
    rng = np.random.default_rng(0)
    x, y = rng.normal(1.0, size=(6, 1)), rng.normal(0.0, 2.0, size=(9, 1))
    means = [x.mean(axis=0), y.mean(axis=0)]
    deviations = [x.std(axis=0, ddof=1), y.std(axis=0, ddof=1)]
    distances = likelihood_distances(means, deviations, [[6], [9]], floor=0.0)
    p = stats.ttest_ind(y[:, 0], x[:, 0], equal_var=False, alternative="less").pvalue
    np.testing.assert_allclose(distances[:, 0], [0.0, -np.log10(p)])


def test_the_permutation_version_agrees_in_order():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(8, 5)), rng.normal([0.0, 1, 2, 3, 4], size=(8, 5))
    found = permutation_distances([x, y], n_permutations=999, rng=np.random.default_rng(1))
    means, deviations = [x.mean(0), y.mean(0)], [x.std(0, ddof=1), y.std(0, ddof=1)]
    expected = likelihood_distances(means, deviations, 8)
    assert ((found == 0) == (expected == 0)).all()
    near = expected < 2
    np.testing.assert_allclose(found[near], expected[near], atol=0.4)


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e12])
def test_permutation_distances_do_not_depend_on_the_unit(unit):
    rng = np.random.default_rng(0)
    x, y = rng.normal(0, 1, (6, 2)), rng.normal(2, 1, (6, 2))
    found, same = (
        permutation_distances([x * u, y * u], n_permutations=99, rng=np.random.default_rng(1))
        for u in (unit, 1.0)
    )
    np.testing.assert_array_equal(found, same)
    assert found.max() > 1.0


def test_ratios_by_hand():
    ratios = ratios_to_best({"a": [1.0, 6.0, np.nan], "b": [2.0, 3.0, 4.0]})
    assert ratios["a"].tolist() == [1.0, 2.0, np.inf]
    assert ratios["b"].tolist() == [2.0, 1.0, 1.0]
    scores = ratios_to_best({"a": [1.0, 6.0], "b": [2.0, np.nan]}, higher_is_better=True)
    assert scores["b"].tolist() == [1.0, np.inf]
    profiles = ratio_profiles({"a": [1.0, 6.0, np.nan], "b": [2.0, 3.0, 4.0]})
    assert profiles[0].tau.tolist() == [1.0, 2.0]
    np.testing.assert_allclose(profiles[0].value, [1 / 3, 2 / 3])
    np.testing.assert_allclose(profiles[1].value, [2 / 3, 1.0])
    with pytest.raises(ValueError, match="b, task 0: expected a positive number for a ratio, fou"):
        ratios_to_best({"a": [1.0], "b": [0.0]})


def test_profiles_from_a_table_are_those_of_its_arrays():
    x = np.random.default_rng(0).gamma(3.0, 1.0, (2, 5, 7))
    table = ScoreTable.from_arrays({"a": x[0], "b": x[1]})
    means, deviations = x.mean(axis=1), x.std(axis=1, ddof=1)
    expected = likelihood_profiles(["a", "b"], likelihood_distances(means, deviations, 5))
    summaries = SummaryTable(("a", "b"), table.tasks, means, deviations, np.full((2, 7), 5.0))
    for source in (table, summaries):
        found = distance_profiles(source, "likelihood", rng=np.random.default_rng(0))
        assert [p.value.tolist() for p in found] == [p.value.tolist() for p in expected]
    ratios = ratio_profiles({"a": means[0], "b": means[1]}, higher_is_better=True)
    found = distance_profiles(table, "ratio", rng=np.random.default_rng(0))
    np.testing.assert_allclose([p.value for p in found], [p.value for p in ratios])
    assert found[0].first_reaching(0.01) == 1.0


def test_what_a_table_cannot_give_is_refused():
    rng = np.random.default_rng(0)
    one = ScoreTable.from_arrays({"a": [[1.0, 2.0]], "b": [[1.0, -2.0]]}, tasks=["t", "u"])
    with pytest.raises(ScoreDataError, match="b, task u: expected a positive mean for a ratio"):
        distance_profiles(one, "ratio", rng=rng)
    with pytest.raises(ScoreDataError, match="a, task t: expected at least 2 runs"):
        distance_profiles(one, "likelihood", rng=rng)
    summaries = SummaryTable(("a",), ("t",), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))
    with pytest.raises(ScoreDataError, match="permutation: expected runs"):
        distance_profiles(summaries, "permutation", rng=rng)
    with pytest.raises(UnknownNameError, match="unknown algorithm 'b'"):
        summaries.select(["b"])


def test_censored_runs_have_no_test():
    rng = np.random.default_rng(0)
    rows = [
        {"algorithm": name, "task": task, "run": r, "score": r + 1.0, "censored": False}
        for name in "ab"
        for task in "tu"
        for r in range(3)
    ]
    rows[-1] |= {"score": np.inf, "censored": True}
    table = ScoreTable.from_records(rows, higher_is_better=False)
    for kind in ("likelihood", "permutation"):
        with pytest.raises(ScoreDataError, match="b, task u: expected finite scores to test, f"):
            distance_profiles(table, kind, rng=rng)
    profiles = distance_profiles(table, "ratio", [1.0, 2.0], rng=rng)
    assert [p.value.tolist() for p in profiles] == [[1.0, 1.0], [0.5, 0.5]]
    never = table.select(algorithms=["b"], tasks=["u"])
    with pytest.raises(ScoreDataError, match="ratio: expected a finite mean"):
        distance_profiles(never, "ratio", rng=rng)


def test_profiles_of_permutations_bear_their_name():
    table = ScoreTable.from_arrays({"a": [[1.0], [2.0]], "b": [[3.0], [5.0]]})
    (a, _) = distance_profiles(table, "permutation", [1.0], rng=np.random.default_rng(0))
    assert a.kind == "permutation"
