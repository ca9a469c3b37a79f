"""From a table to a matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import trim_mean

from gnomon.distillation import prepare
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable, normalize


def table(**rows):
    tasks = [f"t{i}" for i in range(len(next(iter(rows.values()))))]
    return ScoreTable.from_arrays({name: [row] for name, row in rows.items()}, tasks=tasks)


SCORES = table(b=[0, 10, 90], a=[99, 999, np.nan], c=[1, 2, 3])
PLAIN = {"transform": "identity"}


@given(st.floats(0.01, 0.99))
def test_every_inverse_inverts(z):
    for name in ("log", "identity"):
        transform = prepare(SCORES, transform=name).transform
        assert transform.inverse(transform.forward(np.array([z])))[0] == pytest.approx(z)


def test_relative_errors_are_those_of_appendix_g():
    true, predicted = np.array([2.0]), np.array([2.004])
    log, identity = (prepare(SCORES, transform=name).transform for name in ("log", "identity"))
    assert log.relative_errors(predicted, true)[0] == pytest.approx(0.004 * np.log(10))
    assert identity.relative_errors(predicted, true)[0] == pytest.approx(0.002)


def test_rows_and_columns_are_in_order():
    data = prepare(SCORES, **PLAIN)
    assert (data.algorithms, data.tasks) == (("a", "b", "c"), ("t0", "t1", "t2"))
    expected = np.array([[99, 999, np.nan], [0, 10, 90], [1, 2, 3]])
    assert data.x == pytest.approx(expected, nan_ok=True)
    assert data.target.tolist() == [549.0, 10.0, 2.0]


def test_an_excluded_task_still_counts_in_the_summary():
    data = prepare(SCORES, exclude=("t1",), **PLAIN)
    assert data.candidates == ("t0", "t2")
    assert data.target[1] == 10.0


def test_scores_on_a_common_scale_count_in_percent():
    ends = {"t0": (0.0, 50.0), "t1": (2.0, 1002.0), "t2": (-1.0, 99.0)}
    data = prepare(normalize(SCORES, ends))
    assert data.x[0, 0] == pytest.approx(np.log10(1 + 198))
    assert (data.references, data.normalized) == (ends, "anchors")
    low = normalize(SCORES, dict.fromkeys(SCORES.tasks, (50.0, 60.0)))
    with pytest.warns(DegenerateScoresWarning, match=r"\d+ % of the scores are below 0, which"):
        assert prepare(low).x[1, 0] == 0.0


def test_a_task_without_anchors_may_be_excluded():
    raw = ScoreTable.from_arrays(
        {"a": [[1, 9, 0]], "b": [[2, 3, 0]]}, tasks=["pong", "alien", "own"]
    )
    with pytest.warns(DegenerateScoresWarning, match="without baselines: own"):
        scaled = normalize(raw, "atari")
    assert prepare(scaled, transform="identity", exclude=["own"]).tasks == ("alien", "pong")


def test_runs_are_averaged_before_the_transform():
    two = ScoreTable.from_arrays({"a": [[0, 9], [99, 9]]}, tasks=["u", "v"])
    assert prepare(two).x[0, 0] == pytest.approx(np.log10(1 + 49.5))


def test_the_variance_between_runs_is_pooled():
    rng = np.random.default_rng(0)
    rows = {f"a{i}": rng.normal(i, 0.2, (5, 12)) for i in range(40)}
    data = prepare(ScoreTable.from_arrays(rows), **PLAIN)
    assert data.n_runs == 5
    assert np.mean(data.run_variances) == pytest.approx(0.04, rel=0.1)
    assert prepare(SCORES, **PLAIN).n_runs is None


def test_groups_and_years_come_from_columns():
    rows = [
        {"algorithm": a, "task": "t", "run": 0, "score": s, "paper": p, "when": y}
        for a, s, p, y in (("x", 1, "one", "2019-05-01"), ("y", 2, "two", "soon"))
    ]
    data = prepare(ScoreTable(rows), group_by="paper", date_by="when")
    assert data.groups == ("one", "two")
    assert data.years == pytest.approx([2019.0, np.nan], nan_ok=True)
    with pytest.raises(UnknownNameError, match="unknown column 'papers'; did you mean 'paper'"):
        prepare(ScoreTable(rows), group_by="papers")


def test_unusable_scores_are_missing_or_refused():
    cells = [("a", "u", 1.0, False), ("a", "v", 5.0, True), ("b", "v", 5.0, False)]
    names = ("algorithm", "task", "score", "censored")
    rows = [dict(zip(names, cell, strict=True)) | {"run": 0} for cell in cells]
    with pytest.warns(DegenerateScoresWarning, match="1 censored or infinite"):
        assert np.isnan(prepare(ScoreTable(rows)).x[0, 1])
    with pytest.raises(ScoreDataError, match="all are missing"):
        prepare(table(a=[np.nan, np.nan]))
    answers = {f"m{i}": [np.random.default_rng(i).integers(0, 2, 8)] for i in range(9)}
    with pytest.warns(DegenerateScoresWarning, match="0 or 1: a single item"):
        prepare(ScoreTable.from_arrays(answers), **PLAIN)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"exclude": ("t9",)}, "unknown task 't9'"),
        ({"summary": "medain"}, "unknown summary 'medain'; did you mean 'median'"),
        ({"transform": "logit"}, "unknown transform 'logit'"),
    ],
)
def test_what_does_not_fit_is_refused(options, said):
    with pytest.raises((UnknownNameError, ScoreDataError), match=said):
        prepare(SCORES, **options)


def test_the_atari_data(paper):
    assert paper.x.shape == (62, 57)
    assert np.isnan(paper.x).sum() == 173
    assert len(paper.candidates) == 56
    assert "surround" not in paper.candidates
    assert len(set(paper.groups)) == 31
    assert np.corrcoef(paper.smoothed, paper.target)[0, 1] > 0.997


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("median", np.median),
        ("mean", np.mean),
        ("iqm", lambda z: trim_mean(z, 0.25)),
        ("mean_log", lambda z: 10 ** np.log10(1 + z).mean() - 1),
    ],
)
def test_each_summary_is_that_of_the_tasks_at_hand(name, expected):
    z = np.random.default_rng(0).exponential(100, size=(6, 21))
    z[0, :2] = np.nan
    rows = [expected(row[~np.isnan(row)]) for row in z]
    data = prepare(
        ScoreTable.from_arrays({f"a{i}": [row] for i, row in enumerate(z)}), summary=name
    )
    assert data.transform.inverse(data.target) == pytest.approx(rows)
    again = prepare(ScoreTable.from_arrays({"a0": [z[0]], "b": [z[1]], "c": [z[2]]}), summary=name)
    assert again.smoothed[0] == data.smoothed[0]  # It does not depend on other rows.


def test_sparse_tables_are_completed():
    rng = np.random.default_rng(0)
    x = rng.normal(2, 0.7, (60, 1)) + rng.normal(0, 0.3, (60, 12)) + 0.3 * np.arange(12)
    whole = prepare(ScoreTable.from_arrays({f"a{i:02}": [r] for i, r in enumerate(x)}), **PLAIN)
    x[rng.random(x.shape) < 0.4] = np.nan
    with pytest.warns(match="% of the scores are missing"):
        sparse = prepare(
            ScoreTable.from_arrays({f"a{i:02}": [r] for i, r in enumerate(x)}), **PLAIN
        )
    truth = whole.target[np.isin(whole.algorithms, sparse.algorithms)]
    own = np.nanmedian(sparse.x, axis=1)
    assert np.abs(sparse.target - truth).mean() < 0.9 * np.abs(own - truth).mean()


def test_tables_without_overlap_are_refused():
    rows = {f"a{i:02}": np.full((1, 30), np.nan) for i in range(20)}
    for i, row in enumerate(rows.values()):
        row[0, (3 * i) % 30 : (3 * i) % 30 + 3] = i
    with pytest.raises(ScoreDataError, match="algorithms in common"):
        prepare(ScoreTable.from_arrays(rows), **PLAIN)
