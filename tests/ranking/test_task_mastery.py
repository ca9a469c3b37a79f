"""Mastery of tasks: by hand, against the recorded reference, and intervals by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.ranking import mastery, write_ranking_tables
from gnomon.ranking.reference_tables import ranking_rows
from gnomon.scores import ScoreTable, read_scores
from gnomon.stats import censored_times
from recorded_people import recorded

GROUPINGS = {"Naive": "naive", "Every": "task", "EveryCond": "task", "Ignore": "ignore"}


def table_of(record, tmp_path, metric="m_star"):
    path = tmp_path / f"{record['id']}.csv"
    path.write_text(record["input"])
    return read_scores(path, metric=metric)


def test_rankings_agree_in_every_cell(tmp_path):
    """Ease, difficulty, transfer, means, medians, matrices: 15 tables of series."""
    for record in recorded("ranking"):
        table = table_of(record, tmp_path, "m_dagger" if record["mDagger"] else "m_star")
        found = mastery(table, grouping=GROUPINGS[record["precMode"]], as_reference=True)
        paths = write_ranking_tables(found, tmp_path / record["id"])
        for path, name in zip(paths, ("raw", "ratio", "ranking"), strict=True):
            cells = [line.split(",") for line in path.read_text().splitlines()]
            assert len(cells) == len(record[name])
            for ours, theirs in zip(cells, record[name], strict=True):
                for a, b in zip(ours, theirs, strict=True):
                    assert same(a, b), (record["id"], name, ours[0], a, b)


def same(ours, theirs):
    try:
        return float(ours) == pytest.approx(float(theirs), rel=1e-12, abs=1e-12, nan_ok=True)
    except ValueError:
        return ours == theirs


def test_distributions_agree(tmp_path):
    """Legend, Mann-Whitney p, Holm's choice and the tree of seven studies."""
    n = 0
    for record in recorded("ecd"):
        found = mastery(table_of(record, tmp_path), as_reference=True)
        assert found.notes[0].startswith("Medians are of those who learned")
        ours = {one.label: (one.median, one.n_learned, one.n) for one in found}
        theirs = {x["label"]: (x["median"], x["learned"], x["n"]) for x in record["legend"]}
        assert ours.keys() == theirs.keys()
        for name, numbers in ours.items():
            assert numbers == pytest.approx(theirs[name])
        label = {one.task: one.label for one in found}
        p_values = {(a, b): p for a, b, p in record["p_MW"]}
        chosen = {frozenset(p.split(",")): yes for p, _, yes in record["holm_MW_all_pairs"]}
        for pair in found.pairs:
            key = label[pair.a], label[pair.b]
            assert pair.p_value == pytest.approx(p_values[key], abs=1e-12)
            assert (pair.p_adjusted < 0.05) == chosen[frozenset(key)]
            n += 1
        for ours, theirs in zip(found.tree.split(), record["dendrogram_MW"].split(), strict=True):
            assert same(ours.strip("(,)"), theirs.strip("(,)"))
    assert n > 30


def of(**samples):
    """Return a table of samples; infinite values did not learn."""
    rows = [
        {"algorithm": "people", "task": task, "run": i, "score": x, "censored": math.isinf(x)}
        for task, values in samples.items()
        for i, x in enumerate(values)
    ]
    return ScoreTable.from_records(rows, higher_is_better=False)


def test_two_rules_by_hand():
    """Attempts 0, 3, 5 against 2, 5 and one who never learned: the reference's own toy."""
    found = mastery(of(a=[0.0, 3, 5], b=[2, 5, math.inf]))
    assert [one.task for one in found] == ["a", "b"]
    assert found.wins.tolist() == [[4.5, 6.5], [2.5, 4.5]]
    assert [one.ease for one in found] == pytest.approx([0.906183, 0.422885], abs=1e-6)
    assert [one.difficulty for one in found] == pytest.approx([0.466667, 1], abs=1e-6)
    assert found.pairs[0].ease_ratio == pytest.approx(7.5 / 3.5)
    assert [(one.n_learned, one.median) for one in found] == [(3, 3), (2, 5)]


def test_mann_whitney_is_exact_unless_as_in_the_reference():
    table = of(a=[1.0, 4, 9], b=[2, 6, 12, 20])
    assert mastery(table).pairs[0].p_value == pytest.approx(0.4)
    assert mastery(table, as_reference=True).pairs[0].p_value == pytest.approx(0.2888, abs=1e-4)


def test_who_did_not_learn_counts_for_as_long_as_he_tried():
    rows = [
        {"algorithm": "p", "task": "a", "run": i, "score": s, "censored": c, "at_least": least}
        for i, (s, c, least) in enumerate([(5.0, 0, 5), (math.inf, 1, 2), (9.0, 0, 9)])
    ]
    [one] = mastery(ScoreTable.from_records(rows, higher_is_better=False))
    # Of two who were at it for five attempts, half had learned by then.
    assert one.median == 5
    [reference] = mastery(ScoreTable.from_records(rows, higher_is_better=False), as_reference=True)
    assert reference.median == 7


def test_what_cannot_be_is_refused():
    with pytest.raises(ScoreDataError, match="of which fewer is better"):
        mastery(ScoreTable.from_arrays({"a": [[1.0]]}))
    with pytest.raises(ScoreDataError, match=r"columns 'rule' and 'preceding'.*found none"):
        mastery(of(a=[1.0]), grouping="naive")
    [one] = mastery(of(a=[math.inf, math.inf]))
    assert (one.n_learned, one.median, one.success_rate) == (0, math.inf, 0)
    assert ranking_rows(mastery(of(a=[math.inf])))[1][8:11] == ["", "", ""]


def test_learners_are_told_apart():
    runs = {"x": [[1.0], [2]], "y": [[3], [4]]}
    table = ScoreTable.from_arrays(runs, tasks=["a"], higher_is_better=False)
    assert [one.task for one in mastery(table, each=True)] == ["a, x", "a, y"]


def test_distribution_is_the_product_limit_of_another_program():
    scipy_stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    times, observed = rng.integers(1, 20, 40).astype(float), rng.random(40) < 0.7
    ours = censored_times(times, observed)
    data = scipy_stats.CensoredData(times[observed], right=times[~observed])
    theirs = scipy_stats.ecdf(data).cdf
    np.testing.assert_allclose(ours.share, theirs.evaluate(ours.times), atol=1e-12)


def test_bounds_of_shares_are_those_of_clopper_and_pearson_if_nothing_is_censored():
    from gnomon.stats import clopper_pearson

    found = censored_times(np.arange(1.0, 9), np.ones(8, dtype=bool))
    low, high = clopper_pearson(np.arange(1, 9), 8)
    np.testing.assert_allclose(found.low, low)
    np.testing.assert_allclose(found.high, high)
    for wrong in ([], [[1.0]], [math.nan]):
        with pytest.raises(ValueError, match="expected"):
            censored_times(wrong, np.ones(np.shape(wrong), dtype=bool))


def test_median_may_lie_where_most_are_censored():
    found = censored_times([3.0, *[5.0] * 8, 9.0], [True, *[False] * 8, True])
    assert (found.median_low, found.median, found.median_high) == (5.0, 9.0, math.inf)


@pytest.mark.full
def test_intervals_of_medians_and_shares_cover():
    rng = np.random.default_rng(0)
    trials, truth = 1500, 30 * math.log(2)
    for n in (8, 20, 40):
        for censored, ends in (
            ("nobody", lambda n: np.full(n, math.inf)),
            ("after 40", lambda n: np.full(n, 40.0)),
            ("at random", lambda n: rng.exponential(60, n)),
            ("most at 9", lambda n: np.where(rng.random(n) < 0.7, 9.0, 150.0)),
        ):
            medians, shares = [], []
            for _ in range(trials):
                times = rng.exponential(30, n)
                end = ends(n)
                found = censored_times(np.minimum(times, end), times <= end)
                medians.append(found.median_low <= truth <= found.median_high)
                at = np.searchsorted(found.times, 15.0, side="right") - 1
                real = 1 - math.exp(-0.5)
                shares.append(at < 0 or found.low[at] <= real <= found.high[at])
            least = 0.95 - 3 * math.sqrt(0.05 * 0.95 / trials)
            assert min(np.mean(medians), np.mean(shares)) > least, (n, censored)
