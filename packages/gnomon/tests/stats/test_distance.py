"""Profiles of distance: published numbers, Welch's test, ratios by hand, refusals."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable, read_scores
from gnomon.stats import profile
from score_tables import censored

MACHADO = Path(__file__).parents[4] / ".." / "shared/data/scores/machado2018_mean_std.csv"


def machado(algorithm, frames):
    with MACHADO.open() as file:
        rows = [r for r in csv.DictReader(file) if r["algorithm"] == algorithm]
    rows = [r for r in rows if r["frames"] == frames]
    return tuple([float(r[name]) for r in rows] for name in ("mean", "std"))


def summaries(means, deviations, n_runs):
    counts = np.broadcast_to(n_runs, np.shape(means))
    return read_scores([
        {"algorithm": "ab"[i], "task": f"t{j}", "mean": x, "std": deviations[i][j],
         "runs": counts[i, j]}
        for (i, j), x in np.ndenumerate(means)
    ])  # fmt: skip


@pytest.mark.skipif(not MACHADO.is_file(), reason="the published scores are not in the repository")
def test_the_essays_numbers_come_out():
    sets = [machado(name, "200000000") for name in ("Sarsa(lambda)+Blob-PROST", "DQN")]
    table = summaries(*np.array(sets).transpose(1, 0, 2), [[24], [5]])
    found = np.array([one.value for one in profile(table, "likelihood", [1.301, 2.0])]).T
    np.testing.assert_allclose(found, [(0.617, 0.583), (0.650, 0.650)], atol=5e-4)


def test_distances_are_those_of_welchs_test():
    rng = np.random.default_rng(0)
    x, y = rng.normal(1.0, size=(6, 1)), rng.normal(0.0, 2.0, size=(9, 1))
    rows = [
        {"algorithm": name, "task": "t", "run": r, "score": score}
        for name, runs in (("a", x[:, 0]), ("b", y[:, 0]))
        for r, score in enumerate(runs.tolist())
    ]
    p = -np.log10(stats.ttest_ind(y[:, 0], x[:, 0], equal_var=False, alternative="less").pvalue)
    a, b = profile(ScoreTable(rows), "likelihood", [0.001, p - 1e-4, p + 1e-4])
    assert a.value.tolist() == [1.0, 1.0, 1.0]
    assert b.value.tolist() == [0.0, 0.0, 1.0]


def test_ratios_by_hand():
    failed = censored({"a": [[1.0, 6.0, np.inf]], "b": [[2.0, 3.0, 4.0]]})
    a, b = profile(failed, "ratio")
    assert a.tau.tolist() == [1.0, 2.0]
    np.testing.assert_allclose(a.value, [1 / 3, 2 / 3])
    np.testing.assert_allclose(b.value, [2 / 3, 1.0])
    a, b = profile(summaries([[1.0, 6.0], [2.0, 3.0]], np.zeros((2, 2)), 1), "ratio", [1.0, 2.0])
    assert (a.value.tolist(), b.value.tolist()) == ([0.5, 1.0], [0.5, 1.0])
    assert a.reached(0.75) == 2.0


def test_profiles_from_a_table_are_those_of_its_summaries():
    x = np.random.default_rng(0).gamma(3.0, 1.0, (2, 5, 7))
    table = ScoreTable.from_arrays({"a": x[0], "b": x[1]})
    same = summaries(x.mean(axis=1), x.std(axis=1, ddof=1), 5)
    for kind in ("ratio", "likelihood"):
        found, expected = profile(table, kind, [0.5, 1.5]), profile(same, kind, [0.5, 1.5])
        np.testing.assert_allclose([p.value for p in found], [p.value for p in expected])
        assert {one.kind for one in found} == {kind}


def test_what_a_table_cannot_give_is_refused():
    one = ScoreTable.from_arrays({"a": [[1.0, 2.0]], "b": [[1.0, -2.0]]}, tasks=["t", "u"])
    with pytest.raises(ScoreDataError, match="b, task u: expected a positive mean for a ratio"):
        profile(one, "ratio")
    with pytest.raises(ScoreDataError, match="a, task t: expected at least 2 runs"):
        profile(one, "likelihood")
    with pytest.raises(ScoreDataError, match="expected runs, found means and standard deviations"):
        profile(summaries([[1.0]], [[1.0]], 1))


def test_censored_runs_have_no_test():
    x = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    table = censored({"a": x, "b": [*x[:2], [3.0, np.inf]]}, ["t", "u"])
    with pytest.raises(ScoreDataError, match="b, task u: expected finite scores to test"):
        profile(table, "likelihood")
    profiles = profile(table, "ratio", [1.0, 2.0])
    assert [p.value.tolist() for p in profiles] == [[1.0, 1.0], [0.5, 0.5]]
    never = table.select(algorithms=["b"], tasks=["u"])
    with pytest.raises(ScoreDataError, match="ratio: expected a finite mean"):
        profile(never, "ratio")
