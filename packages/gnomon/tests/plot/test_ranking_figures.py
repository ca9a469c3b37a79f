"""Figures of rankings: the numbers handed to the artists, and names that fit."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from gnomon.plot import (
    critical_difference_diagram,
    difficulty_ladder,
    drawing_of,
    rank_interval_plot,
    win_heat_map,
)
from gnomon.ranking import audit, critical_difference, rank
from gnomon.scores import ScoreTable
from strategies_ranking import Runs


def contest(means=(0, 0.1, 3), n_rules=6, n_runs=8):
    rng = np.random.default_rng(0)
    samples = tuple(tuple(rng.normal(m, 1, n_runs) for m in means) for _ in range(n_rules))
    return Runs(
        tuple("abcdefghijklmnop"[: len(means)]), tuple(f"r{g}" for g in range(n_rules)), samples
    ).table


@pytest.fixture(scope="module")
def ranking():
    return rank(contest())


def texts(ax):
    return [t.get_text() for t in ax.texts]


def dots(ax):
    return [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o"]


def test_rank_intervals_draw_the_values(ranking):
    ax = rank_interval_plot(ranking)
    assert dots(ax) == pytest.approx(ranking.values)
    bars = [c.get_segments()[0][:, 0] for c in ax.collections if isinstance(c, LineCollection)]
    assert np.array(bars) == pytest.approx(np.array([(one.low, one.high) for one in ranking]))
    assert [t.get_text() for t in ax.get_yticklabels()] == list(ranking.names)
    assert {"1", "2 to 3", "not separated"} <= {*texts(ax)}


def test_what_is_not_estimable_is_written_out():
    x = np.arange(6.0)
    samples = ((x, x + 3, np.empty(0)), (np.empty(0), np.empty(0), x))
    with pytest.warns(UserWarning, match="share no task"):
        found = rank(Runs(("a", "b", "c"), ("r", "s"), samples).table)
    assert "not estimable" in texts(rank_interval_plot(found))
    assert len(dots(rank_interval_plot(found))) == 2
    assert len(difficulty_ladder(found).texts) == 2


def test_the_heat_map_shows_every_probability(ranking):
    ax = win_heat_map(ranking)
    assert len([p for p in ax.patches if isinstance(p, Rectangle)]) == 6
    p = ranking.probability[0, 1]
    assert (f"{p:.2f}"[1:] if p < 0.995 else "> .99") in texts(ax)


def test_pairs_that_share_no_task_stay_empty():
    x, none = np.arange(6.0), np.empty(0)
    with pytest.warns(UserWarning, match="share no task"):
        found = rank(Runs(("a", "b", "c"), ("r", "s"), ((x, x, none), (none, x, x))).table)
    assert len(win_heat_map(found).patches) == 4


def test_the_critical_difference_diagram_joins_what_is_not_separated():
    found = critical_difference(contest((0, 0.05, 3, 3.1), n_rules=20))
    ax = critical_difference_diagram(found)
    bars = [line for line in ax.lines if line.get_linewidth() == 4]
    assert len(bars) == len(found.groups) == 2
    for name, mean_rank in zip(found.names, found.mean_ranks, strict=True):
        assert any(name in t and f"{mean_rank:.2f}" in t for t in texts(ax))


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        ("wins", "compared by P(better) on each task"),
        (
            "scores",
            "compared by differences of scores, whose size must mean the same on all tasks",
        ),
    ],
)
def test_the_critical_difference_diagram_says_what_was_compared(differences, said):
    found = critical_difference(contest((0, 3)), differences=differences)
    assert said in texts(critical_difference_diagram(found))


def test_the_ladder_has_a_rung_for_each(ranking):
    ax = difficulty_ladder(ranking)
    heights = sorted(float(line.get_ydata()[0]) for line in ax.lines if line.get_linewidth() == 2.2)
    assert heights == pytest.approx(sorted(ranking.values))
    assert [row["name"] for row in ranking.figure().rows] == list(ranking.names)


def test_figures_have_the_same_bytes_each_time(ranking):
    first, again = (ranking.figure().svg for _ in range(2))
    assert first == again


def test_no_name_leaves_the_drawing():
    names = tuple(f"a learner with a rather long name, number {i}" for i in range(4))
    draws = np.random.default_rng(0)
    samples = tuple(tuple(draws.normal(m, 1, 8) for m in range(4)) for _ in range(6))
    long = Runs(names, tuple(f"r{g}" for g in range(6)), samples).table
    found = rank(long)
    drawings = [
        drawing_of(rank_interval_plot(found)),
        drawing_of(difficulty_ladder(found)),
        drawing_of(critical_difference_diagram(critical_difference(long))),
    ]
    for drawing in drawings:
        drawing.draw_without_rendering()
        box = drawing.get_tightbbox()
        width, height = drawing.get_size_inches()
        assert box.x0 > -0.1
        assert box.x1 < width + 0.1
        assert box.y1 < height + 0.1


def many(n, n_runs=4):
    rng = np.random.default_rng(0)
    scores = {f"learner-{i:03d}": rng.normal(i / 20, 1, (n_runs, 3)) for i in range(n)}
    return ScoreTable.from_arrays(scores)


def test_an_audit_of_many_is_drawn_in_part_and_says_so():
    rng = np.random.default_rng(0)
    found = audit(many(70), n_resamples=20, rng=rng)
    page = found.page("many")
    figures = {figure.name: figure for figure in page.figures}
    assert [*figures] == ["rank-intervals", "wins"]  # too many to test all pairs
    assert figures["rank-intervals"].caption.endswith("The first 60 of 70 are drawn.")
    assert "A bracket joins a tier" in figures["rank-intervals"].caption
    assert figures["wins"].caption.endswith("The first 40 of 70 are drawn.")
    assert len(figures["rank-intervals"].rows) == 70
    assert page.source == "the table of scores"


def test_the_page_tells_the_first_notes_and_how_many_more():
    found = replace(audit(many(3), n_resamples=20),
                    warnings=tuple(f"note {i}" for i in range(15)))  # fmt: skip
    notices = found.page("notes").notices
    assert notices[:2] == ("note 0", "note 1")
    assert notices[12:] == ("3 more notes: gnomon audit prints them.",)


def bracket_rows(ax):
    """Return the rows between which each bracket stands."""
    lines = [line.get_ydata() for line in ax.lines if line.get_linewidth() == 1.6]
    return [(float(min(y)), float(max(y))) for y in lines]


def test_no_bracket_leaves_the_rows_and_its_heading_fits():
    found = rank(many(64))
    ax = rank_interval_plot(found)
    assert max(bottom for _, bottom in bracket_rows(ax)) == 59.5
    drawing = drawing_of(ax)
    drawing.draw_without_rendering()
    (heading,) = [text for text in ax.texts if text.get_text() == "not separated"]
    assert heading.get_window_extent().x1 <= drawing.bbox.x1
    few = rank_interval_plot(rank(contest()))
    assert bracket_rows(few) == [(0.75, 2.25)]


def test_the_heat_map_says_what_its_colours_mean():
    legend = win_heat_map(rank(contest())).get_legend()
    assert legend.get_title().get_text() == "P(row better than column)"
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["below .55", ".55 to .75", ".75 to .9", "from .9"]


def test_the_page_numbers_tiers_and_distinguishes_two_samples():
    page = audit(many(3), n_resamples=20).page("x")
    sections = {section.name: section for section in page.sections}
    ranks = sections["ranks"].tables[0]
    assert {row[-1] for row in ranks.rows} <= {"1", "2", "3", "1, 2", "2, 3"}
    assert "Algorithms in the same tier are not significantly different." in ranks.caption
    *_, diagram = sections["ranks"].figures
    assert "Here the tasks are the sample, in the ranks the runs" in diagram.caption


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
