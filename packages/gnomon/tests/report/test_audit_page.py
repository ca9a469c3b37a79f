"""The page of an audit: its sentences, tables and figures."""

from dataclasses import replace

import numpy as np

from gnomon.ranking import audit
from gnomon.scores import ScoreTable


def many(n, n_runs=4):
    rng = np.random.default_rng(0)
    scores = {f"learner-{i:03d}": rng.normal(i / 20, 1, (n_runs, 3)) for i in range(n)}
    return ScoreTable.from_arrays(scores)


def test_an_audit_of_many_is_drawn_in_part_and_says_so():
    rng = np.random.default_rng(0)
    found = audit(many(70), n_resamples=20, rng=rng)
    page = found.page("many")
    figures = {figure.name: figure for figure in page.figures}
    assert [*figures] == ["rank-intervals", "improvement"]  # too many to test all pairs
    assert figures["rank-intervals"].caption.endswith("The first 60 of 70 are drawn.")
    assert "A bracket joins a tier" in figures["rank-intervals"].caption
    assert figures["improvement"].caption.endswith("The first 40 of 70 are drawn.")
    assert len(figures["rank-intervals"].rows) == 70
    assert page.source == "the table of scores"


def test_the_page_tells_the_first_notes_and_how_many_more():
    found = replace(audit(many(3), n_resamples=20),
                    warnings=tuple(f"note {i}" for i in range(15)))  # fmt: skip
    notices = found.page("notes").notices
    assert notices[:2] == ("note 0", "note 1")
    assert notices[12:] == ("3 more notes: gnomon audit prints them.",)


def test_the_page_numbers_tiers():
    page = audit(many(3), n_resamples=20).page("x")
    sections = {section.name: section for section in page.sections}
    ranks = sections["ranks"].tables[0]
    assert {row[-1] for row in ranks.rows} <= {"1", "2", "3", "1, 2", "2, 3"}
    assert "Algorithms in the same tier are not significantly different." in ranks.caption
    *_, diagram = sections["ranks"].figures
    assert "A bar joins algorithms that are not significantly different" in diagram.caption


def test_a_sentence_that_ends_in_dots_gets_no_other():
    table = ScoreTable.from_arrays({name: np.eye(20)[:3] * i for i, name in enumerate("ab", 1)})
    found = audit(table, n_resamples=20)
    text = next(s for s in found.page("x").sections if s.name == "table").text
    assert text[1].endswith("task_11, ...")
    assert not any(sentence.endswith("....") for sentence in text)


def test_what_was_not_asked_of_groups_that_never_met_is_not_answered():
    rng = np.random.default_rng(0)
    records = [
        {"algorithm": a, "task": t, "run": i, "score": float(rng.normal())}
        for a, t in (("a", "x"), ("b", "x"), ("p", "y"), ("q", "y"))
        for i in range(6)
    ]
    found = audit(ScoreTable.from_records(records), n_resamples=20, rng=rng)
    page = found.page("apart")
    assert page.answers[1].sentences == ("Metric: not estimable: no task is shared by all.",)
    assert all(section.text or section.tables for section in page.sections)
