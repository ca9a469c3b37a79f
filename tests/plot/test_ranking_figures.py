"""Figures of rankings: the numbers handed to the artists, and names that fit."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.patches import FancyArrowPatch, Rectangle

from gnomon.plot import (
    critical_difference_diagram,
    difficulty_ladder,
    ease_heat_map,
    rank_interval_plot,
    tournament_graph,
)
from gnomon.plot.graphs import tournament_rows
from gnomon.plot.heat_maps import draw_pairs, ease_rows
from gnomon.plot.ranks import critical_difference_rows, ranking_rows
from gnomon.plot.style import drawing_of, svg_text
from gnomon.ranking import (
    Contest,
    Tournament,
    audit,
    compare_pairs,
    critical_difference,
    hodge_decomposition,
    pool_effects,
    rank,
)
from gnomon.ranking.audits.statements import on_pool
from gnomon.report.sentences import joined
from gnomon.scores import ScoreTable


def contest(means=(0, 0.1, 3), n_rules=6, n_runs=8):
    rng = np.random.default_rng(0)
    samples = tuple(tuple(rng.normal(m, 1, n_runs) for m in means) for _ in range(n_rules))
    return Contest(
        tuple("abcdefghijklmnop"[: len(means)]), tuple(f"r{g}" for g in range(n_rules)), samples
    )


@pytest.fixture(scope="module")
def ranking():
    return rank(contest(), n_resamples=200)


def texts(ax):
    return [t.get_text() for t in ax.texts]


def dots(ax):
    return [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o"]


def test_rank_intervals_draw_the_ratings(ranking):
    ax = rank_interval_plot(ranking)
    assert dots(ax) == pytest.approx(ranking.ratings)
    bars = [c.get_segments()[0][:, 0] for c in ax.collections if isinstance(c, LineCollection)]
    assert np.array(bars) == pytest.approx(np.stack([ranking.low, ranking.high], axis=1))
    assert [t.get_text() for t in ax.get_yticklabels()] == list(ranking.names)
    assert {"1", "2 to 3", "not separated"} <= {*texts(ax)}


def test_what_is_not_estimable_is_written_out():
    x = np.arange(6.0)
    samples = ((x, x + 3, np.empty(0)), (np.empty(0), np.empty(0), x))
    with pytest.warns(UserWarning, match="cannot be ordered"):
        found = rank(Contest(("a", "b", "c"), ("r", "s"), samples))
    assert "not estimable" in texts(rank_interval_plot(found))
    assert len(dots(rank_interval_plot(found))) == 2
    assert len(difficulty_ladder(found).texts) == 2


def test_the_heat_map_shows_every_probability(ranking):
    graph = Tournament.of(contest())
    ax = ease_heat_map(graph, ranking.names)
    assert len([p for p in ax.patches if isinstance(p, Rectangle)]) == 6
    p = graph.probability[2, 0]
    assert (f"{p:.2f}"[1:] if p < 0.995 else "> .99") in texts(ax)
    assert ease_rows(graph)[0]["probability"] == graph.probability[0, 1]


def test_comparisons_of_pairs_draw_themselves_best_on_top():
    found = compare_pairs(contest())
    figure = found.figure()
    assert figure.rows == ease_rows(found.tournament)
    axes = draw_pairs(found, figure.drawing.subplots())
    assert [label.get_text() for label in axes.get_yticklabels()] == [*rank(contest()).names]


def test_pairs_that_never_met_stay_empty():
    graph = Tournament.from_log_odds(
        "abc", [[0, 1, 0], [-1, 0, 2], [0, -2, 0]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    )
    assert len(ease_heat_map(graph).patches) == 4


def test_an_arrow_for_each_edge_and_dashes_against_the_ratings():
    graph = Tournament.from_log_odds("abc", [[0, 3, -0.2], [-3, 0, 3], [0.2, -3, 0]])
    found = hodge_decomposition(graph)
    circle, bar = tournament_graph(graph, found, null_band=(0.1, 0.4)).axes
    arrows = [p for p in circle.patches if isinstance(p, FancyArrowPatch)]
    assert len(arrows) == 3
    assert sum(a.get_linestyle() == "--" for a in arrows) == 1  # c beats a, though rated below
    widths = [p.get_width() for p in bar.patches]
    assert sum(widths) == pytest.approx(1)
    assert widths[0] == pytest.approx(found.shares[0])
    assert bar.get_xlabel().endswith("identical competitors (bar above): 1.0 to 16.0 %")
    assert bar.lines[0].get_xdata() == pytest.approx([0.84, 0.99])
    assert sum(r["gradient"] + r["curl"] for r in tournament_rows(graph, found)) == pytest.approx(
        6.2
    )


def test_only_the_best_fit_around_the_circle():
    s = np.arange(16.0)
    graph = Tournament.from_log_odds([f"{i}" for i in range(16)], s[:, None] - s[None, :])
    circle = tournament_graph(graph, hodge_decomposition(graph), null_band=None).axes[0]
    assert texts(circle) == [f"{i}" for i in range(15, 3, -1)]


def test_a_tournament_without_differences_is_drawn():
    graph = Tournament.from_log_odds("ab", np.zeros((2, 2)))
    bar = tournament_graph(graph, hodge_decomposition(graph), null_band=None).axes[1]
    assert bar.get_xlabel() == (
        "explained by: nothing, all edges are 0\ncycles of identical competitors: not known"
    )


def test_the_critical_difference_diagram_joins_what_is_not_separated():
    found = critical_difference(contest((0, 0.05, 3, 3.1), n_rules=20))
    ax = critical_difference_diagram(found)
    bars = [line for line in ax.lines if line.get_linewidth() == 4]
    assert len(bars) == len(found.groups) == 2
    for name, mean_rank in zip(found.names, found.mean_ranks, strict=True):
        assert any(name in t and f"{mean_rank:.2f}" in t for t in texts(ax))
    assert len(critical_difference_rows(found)) == 4


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
    assert heights == pytest.approx(sorted(ranking.ratings))
    assert [row["name"] for row in ranking_rows(ranking)] == list(ranking.names)


def test_figures_have_the_same_bytes_each_time(ranking):
    first, again = (svg_text(drawing_of(rank_interval_plot(ranking)), "x") for _ in range(2))
    assert first == again


def test_no_name_leaves_the_drawing():
    names = tuple(f"a learner with a rather long name, number {i}" for i in range(4))
    one = contest((0, 1, 2, 3))
    long = Contest(names, one.grounds, one.samples)
    found = rank(long, n_resamples=50)
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
    assert [*figures] == ["rank-intervals", "ease", "tournament"]  # too many to test all pairs
    assert figures["rank-intervals"].caption.endswith("The first 60 of 70 are drawn.")
    assert "whoever shares none may be separated or not" in figures["rank-intervals"].caption
    assert figures["ease"].caption.endswith("The first 40 of 70 are drawn.")
    assert len(figures["rank-intervals"].rows) == 70
    assert "arrows: the first 12 of 70" in figures["tournament"].svg
    assert any(f.name == "asked" and "40 of the 70" in f.finding for f in found)
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
    found = rank(many(64), n_resamples=20)
    ax = rank_interval_plot(found)
    assert max(bottom for _, bottom in bracket_rows(ax)) == 59.5
    drawing = drawing_of(ax)
    drawing.draw_without_rendering()
    (heading,) = [text for text in ax.texts if text.get_text() == "not separated"]
    assert heading.get_window_extent().x1 <= drawing.bbox.x1
    few = rank_interval_plot(rank(contest(), n_resamples=50))
    assert bracket_rows(few) == [(0.75, 2.25)]


def test_the_heat_map_says_what_its_colours_mean():
    legend = ease_heat_map(Tournament.of(contest())).get_legend()
    assert legend.get_title().get_text() == "P(row better than column)"
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["below .55", ".55 to .75", ".75 to .9", "from .9"]


def test_the_page_uses_letters_and_tells_two_samples_apart():
    page = audit(many(3), n_resamples=20).page("x")
    sections = {section.name: section for section in page.sections}
    ranks = sections["ranks"].tables[0]
    assert {row[-1] for row in ranks.rows} <= {"a", "b", "c", "ab", "bc", "abc"}
    assert "whoever shares none may be: the ranks tell" in ranks.caption
    (diagram,) = sections["methods"].figures
    assert "Here the tasks are the sample, in the ranks above the runs" in diagram.caption


def test_the_page_names_who_changes_the_order_by_leaving():
    edges = [[0, 0.1, 2, -1.8], [-0.1, 0, 0.1, 0.1], [-2, -0.1, 0, 0.1], [1.8, -0.1, -0.1, 0]]
    one = audit(many(4), n_resamples=20)
    found = on_pool(pool_effects(Tournament.from_log_odds("abcd", edges)), 4)
    assert len(found) > 1
    others = [f for f in one if f.section != "pool"]
    page = replace(one, records=(*others, *found)).page("x")
    leavers = joined([f.name.removeprefix("without ") for f in found], "or")
    assert page.answers[1].sentences[2] == (
        f"Pool of competitors: some pair changes places if {leavers} leaves."
    )


def test_a_sentence_that_ends_in_dots_gets_no_other():
    table = ScoreTable.from_arrays({name: np.eye(20)[:3] * i for i, name in enumerate("ab", 1)})
    found = audit(table, n_resamples=20)
    text = next(s for s in found.page("x").sections if s.name == "table").text
    assert text[1].endswith("task_11, ...")
    assert not any(sentence.endswith("....") for sentence in text)


def test_two_have_no_tournament_to_draw():
    found = audit(many(2), n_resamples=20)
    names = [figure.name for figure in found.page("two").figures]
    assert "tournament" not in names
    assert any("none possible" in f.finding for f in found if f.section == "cycles")


def test_what_was_not_asked_of_groups_that_never_met_is_not_answered():
    rng = np.random.default_rng(0)
    records = [
        {"algorithm": a, "task": t, "run": i, "score": float(rng.normal())}
        for a, t in (("a", "x"), ("b", "x"), ("p", "y"), ("q", "y"))
        for i in range(6)
    ]
    found = audit(ScoreTable.from_records(records), n_resamples=20, rng=rng)
    page = found.page("apart")
    assert page.answers[1].sentences == (
        "Method: not asked: some cannot be ordered against others.",
        "Metric: not estimable: no task is shared by all.",
        "Pool of competitors: not asked: nobody can leave so that two can be ordered.",
    )
    assert all(section.text or section.tables for section in page.sections)


def test_who_orders_the_top_alone_is_not_said_to_order_the_rest_otherwise():
    places = np.array([[3, 2, 0, 1], [1, 0, 3, 2], [2, 3, 0, 1], [2, 1, 0, 3], [3, 2, 1, 0]])
    table = ScoreTable.from_arrays(dict(zip("abcd", places.T[:, None], strict=True)))
    found = audit(table, n_resamples=20)
    assert [o.method for o in found.orders if o.reversed_pairs] == ["nash"]
    page = found.page("top")
    assert page.answers[1].sentences[0] == "Method: no, all order alike."
