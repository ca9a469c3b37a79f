"""The audit: what it says of good, thin and broken tables."""

from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.ranking.audit import audit
from gnomon.ranking.task_scale import scaled_by_task
from gnomon.scores.formats import read_scores
from gnomon.scores.table import ScoreTable

SCORES = Path(__file__).parents[2] / ".." / "shared" / "data" / "scores"


def audited(scores, **options):
    table = scores if isinstance(scores, ScoreTable) else ScoreTable.from_arrays(scores, **options)
    return audit(table, n_resamples=200, rng=np.random.default_rng(0))


def said(found, section):
    return [f.finding for f in found.findings if f.section == section]


def test_a_clear_table_is_settled():
    rng = np.random.default_rng(0)
    found = audited({name: rng.normal(m, 1, (10, 6)) for name, m in (("a", 0), ("b", 3), ("c", 6))})
    assert said(found, "table")[0].startswith("180 scores (score, higher is better): 3 algorithms")
    assert said(found, "ranks")[0].startswith("c: rank 1; rating ")
    assert said(found, "ranks")[3] == "c over b: separated, above in 100 % of resamples"
    assert said(found, "runs") == ["c and b: separated with the 10 runs there are"]
    assert said(found, "pool")[0].startswith("no: whoever leaves")
    assert said(found, "cycles")[1] == "no three beat one another in a circle"
    assert all(f.value == 0.0 for f in found.findings if f.section == "metrics")


def test_every_record_has_the_promised_fields():
    rng = np.random.default_rng(0)
    found = audited({name: rng.normal(size=(4, 3)) for name in "abc"})
    for finding in found.findings:
        assert [*finding.as_record()] == ["section", "name", "finding", "value"]
    assert "Ranks and what separates them\n-----" in found.text()


def test_a_papers_table_of_single_numbers_is_audited_by_tasks():
    rng = np.random.default_rng(0)
    found = audited({name: rng.normal(m, 1, (1, 25)) for name, m in (("a", 0), ("b", 2))})
    assert any("tasks are drawn instead of runs" in note for note in found.notes)
    assert found.ranking.separated[0, 1]
    assert said(found, "table")[-1].endswith("have fewer than five runs")


def test_errors_with_unlearned_runs_are_audited():
    rng = np.random.default_rng(0)
    records = [
        {"algorithm": a, "task": t, "run": i, "score": s, "censored": bool(np.isinf(s))}
        for a, m in (("dqn", 50), ("uniform", 90))
        for t in ("x", "y")
        for i, s in enumerate(np.where(rng.random(8) < 0.3, np.inf, rng.poisson(m, 8)))
    ]
    found = audited(ScoreTable.from_records(records, higher_is_better=False))
    assert found.ranking.names == ("dqn", "uniform")


def test_a_disconnected_table_says_who_cannot_be_ordered():
    rng = np.random.default_rng(0)
    records = [
        {"algorithm": a, "task": t, "run": i, "score": float(rng.normal())}
        for a, t in (("a", "x"), ("b", "x"), ("p", "y"), ("q", "y"))
        for i in range(6)
    ]
    found = audited(ScoreTable.from_records(records))
    assert any("cannot be ordered" in text for text in said(found, "ranks"))
    assert said(found, "methods") == ["not asked: some cannot be ordered against others"]
    assert said(found, "metrics") == ["not estimable: no task is shared by all"]
    assert any("cannot be ordered against each other: a, b; p, q" in note for note in found.notes)


def test_one_algorithm_cannot_be_audited():
    with pytest.raises(ScoreDataError, match="at least two algorithms"):
        audited({"a": [[1.0, 2.0]]})


def test_steps_are_audited_at_the_last_one():
    rng = np.random.default_rng(0)
    found = audited({name: rng.normal(size=(5, 3, 4)) for name in "ab"})
    assert len(found.table) == 30


def test_scaling_keeps_the_order_and_censored_runs_at_the_bottom():
    table = ScoreTable.from_records(
        [
            {"algorithm": a, "task": "t", "run": i, "score": s, "censored": bool(np.isinf(s))}
            for a, runs in (("a", [10.0, 20.0]), ("b", [30.0, np.inf]))
            for i, s in enumerate(runs)
        ],
        higher_is_better=False,
    )
    scaled = scaled_by_task(table)
    assert scaled.runs("a", "t").tolist() == [1.0, 0.5]
    assert scaled.runs("b", "t").tolist() == [0.0, 0.0]
    assert scaled.higher_is_better


def test_scaling_of_equal_and_of_unlearned_runs_alone():
    def scaled(a, b):
        rows = [
            {"algorithm": n, "task": "t", "run": i, "score": s, "censored": bool(np.isinf(s))}
            for n, runs in (("a", a), ("b", b))
            for i, s in enumerate(runs)
        ]
        found = scaled_by_task(ScoreTable.from_records(rows, higher_is_better=False))
        return found.runs("a", "t").tolist(), found.runs("b", "t").tolist()

    assert scaled([5.0, np.inf], [5.0, 5.0]) == ([1.0, 0.0], [1.0, 1.0])
    assert scaled([np.inf], [np.inf, np.inf]) == ([0.5], [0.5, 0.5])
    assert scaled([5.0], [5.0]) == ([0.5], [0.5])


def test_a_table_in_which_nobody_learned_anything_is_audited():
    rows = [
        {"algorithm": a, "task": t, "run": r, "score": np.inf, "censored": True}
        for a in "ab"
        for t in "xy"
        for r in range(3)
    ]
    table = ScoreTable.from_records(rows, higher_is_better=False)
    found = audit(table, n_resamples=20, rng=np.random.default_rng(0))
    assert "nothing can be told apart: every run is censored" in found.notes
    assert not any("share none" in note for note in found.notes)
    assert found.ranking.groups == (("a", "b"),)


def on_the_page(found):
    page = Path(__file__).parents[2] / "docs" / "audit.md"
    text = page.read_text(encoding="utf-8")
    return [line for line in found.text().splitlines() if line not in text] == []


@pytest.mark.skipif(
    not SCORES.is_dir(), reason="the shared score tables are not beside the project"
)
def test_dopamines_table_is_audited_as_the_page_says():
    table = read_scores(SCORES / "dopamine_atari_legacy_last10.csv")
    found = audit(table, rng=np.random.default_rng(0))
    assert found.ranking.names[:2] == ("IQN", "Rainbow")
    assert found.ranking.rank_high[:2].tolist() == [2, 2]
    assert not found.ranking.separated[0, 1]
    assert on_the_page(found)


@pytest.mark.skipif(
    not SCORES.is_dir(), reason="the shared score tables are not beside the project"
)
def test_dreamers_table_is_audited_as_the_page_says():
    table = read_scores(SCORES / "dreamerv3_final_runs.csv", where={"suite": "atari57"})
    found = audit(table, rng=np.random.default_rng(0))
    assert found.ranking.names[0] == "dreamerv3"
    assert np.isnan(found.ranking.low[found.ranking.names.index("muzero")])
    assert on_the_page(found)
