"""Each result draws itself: the numbers handed to the artists, the words of the axes, the files."""

import math

import numpy as np
import pytest
from matplotlib.collections import LineCollection

import gnomon as gn
from gnomon.errors import ScoreDataError
from gnomon.plot import Dot, draw_dots
from gnomon.plot.style import new_drawing
from gnomon.ranking import critical_difference

X = np.random.default_rng(0).normal(3.0, 1.0, (3, 8, 8))
TABLE = gn.ScoreTable.from_arrays(dict(zip("abc", X, strict=True)))


def dots(ax):
    found = [line for line in ax.lines if line.get_marker() not in ("None", "|", "")]
    return [float(line.get_xdata()[0]) for line in found if len(line.get_xdata()) == 1]


def bars(ax):
    return [c.get_segments()[0][:, 0] for c in ax.collections if isinstance(c, LineCollection)]


def rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def texts(ax):
    return [text.get_text() for text in ax.texts]


# Dots


def test_estimates_are_dots_with_their_intervals_best_first():
    found = gn.estimate(TABLE, ["mean", "iqm"])
    figure = found.figure()
    panels = figure.drawing.axes
    assert [ax.get_title("left") for ax in panels] == ["mean", "interquartile mean"]
    by_name = {one.algorithm: one for one in found.where(metric="mean")}
    shown = [by_name[name] for name in rows(panels[0])]
    assert [one.value for one in shown] == sorted((o.value for o in shown), reverse=True)
    assert dots(panels[0]) == pytest.approx([one.value for one in shown])
    np.testing.assert_allclose(bars(panels[0]), [(one.low, one.high) for one in shown])
    assert panels[0].get_xlabel() == "score (better →)"
    assert len(figure.rows) == 6
    gap = gn.estimate(TABLE, "optimality_gap", gamma=3.0).plot().axes[0]
    assert gap.get_xlabel() == "(← better) score"


def test_what_is_not_estimable_is_written_out():
    ax = new_drawing(4, 2).subplots()
    draw_dots(ax, [Dot("a", math.nan, math.nan, math.nan), Dot("b", 1.0, math.nan, math.nan)])
    assert texts(ax) == ["not estimable"]
    assert dots(ax) == [1.0]


def test_each_task_has_a_panel():
    found = gn.estimate(TABLE, "mean", per_task=True)
    axes = found.figure().drawing.axes
    assert len(axes) == 8
    assert axes[-1].get_xlabel() == "mean: score (better →)"
    many = gn.ScoreTable.from_arrays(dict(zip("abc", np.tile(X, (1, 1, 8)), strict=True)))
    figure = gn.estimate(many, "mean", per_task=True).figure()
    assert len(figure.drawing.axes) == 60
    assert figure.caption.endswith("The first 60 of 64 are drawn.")
    assert len(figure.rows) == 192


def test_a_pair_has_differences_above_its_probability():
    found = gn.compare(TABLE, "a", "b")
    above, below = found.figure().drawing.axes
    assert above.get_xlabel() == "a minus b (score)\na better →"
    assert below.get_xlabel() == "probability that a run of a is better"
    differences = [one.value for one in found if one.metric != "probability_of_improvement"]
    assert dots(above) == pytest.approx(differences)


def test_a_filled_dot_is_a_significant_difference():
    shifted = gn.ScoreTable.from_arrays({"a": X[0], "b": X[0] + 5.0})
    for table, filled in ((shifted, True), (TABLE, False)):
        (ax,) = gn.compare(table, "a", "b", "mean").plot().axes
        (dot,) = [line for line in ax.lines if line.get_marker() == "o"]
        assert (dot.get_markerfacecolor() == dot.get_color()) == filled


def test_groups_of_items_have_their_part_beside_the_difference():
    draws = np.random.default_rng(0)
    records = [
        {"algorithm": name, "task": f"q{i}", "topic": "xyz"[i % 3], "score": float(x)}
        for name in "ab"
        for i, x in enumerate(draws.integers(0, 2, 90))
    ]
    table = gn.ScoreTable([r | {"run": 0} for r in records], units="items")
    found = gn.compare(table, "a", "b", by="topic")
    left, right = found.plot().axes
    assert dots(left) == pytest.approx([one.value for one in found])
    parts = [one.contribution or 0.0 for one in found]
    assert [patch.get_width() for patch in right.patches] == pytest.approx(parts)


# Lines


def test_profiles_are_the_shares():
    found = gn.profile(TABLE)
    (ax,) = found.plot().axes
    assert ax.get_xlabel() == "threshold (score)"
    assert ax.get_ylabel() == "share of runs above it (better →)"
    for line, one in zip(ax.lines, found, strict=False):
        np.testing.assert_array_equal(line.get_ydata(), one.value)
    assert len(ax.collections) == 3


def test_ratio_profiles_have_a_logarithmic_axis_of_steps():
    (ax,) = gn.profile(gn.ScoreTable.from_arrays({"a": X[0], "b": X[1] + 1}), "ratio").plot().axes
    assert ax.get_xscale() == "log"
    assert ax.lines[0].get_drawstyle() == "steps-post"


def test_metrics_of_curves_stand_side_by_side_with_one_legend():
    steps = X[..., None] * [1.0, 2.0, 4.0]
    found = gn.curves(gn.ScoreTable.from_arrays({"a": steps[0], "b": steps[1]}), ["median", "iqm"])
    figure = found.figure()
    left, right = figure.drawing.axes
    assert left.get_ylabel() == "score (better →)"
    assert left.get_legend() is None
    assert right.get_legend() is None
    (beside,) = figure.drawing.legends
    assert [text.get_text() for text in beside.get_texts()] == ["b", "a"]
    np.testing.assert_array_equal(left.lines[0].get_ydata(), found.where(metric="median")[0].value)
    assert len(figure.rows) == 12


def test_power_is_drawn_by_runs():
    found = gn.plan(TABLE, "a", "b", runs=[3, 5])
    (ax,) = found.plot().axes
    assert ax.lines[0].get_xdata().tolist() == [3.0, 5.0]
    assert ax.lines[0].get_ydata().tolist() == [one.power for one in found]


# Maps and tiers


def test_all_pairs_have_a_map():
    found = gn.compare(TABLE, metrics="probability_of_improvement")
    (ax,) = found.figure().drawing.axes
    assert ax.get_legend().get_title().get_text() == "P(row better than column)"
    assert len(ax.patches) == 6
    assert {f"{one.value:.2f}"[1:] for one in found} <= {*texts(ax)}
    many = {f"a{i:02}": i + X[0] for i in range(21)}
    found = gn.compare(gn.ScoreTable.from_arrays(many), metrics="probability_of_improvement")
    (ax,) = found.figure().drawing.axes
    significant = sum(one.p_adjusted <= 0.05 for one in found)
    assert texts(ax).count("\N{BLACK CIRCLE}") == 2 * significant


def test_long_names_of_columns_stand_upright():
    long = {f"an algorithm with a long name {name}": x for name, x in zip("abc", X, strict=True)}
    found = gn.compare(gn.ScoreTable.from_arrays(long), metrics="probability_of_improvement")
    (ax,) = found.plot().axes
    heads = ax.get_xticklabels()
    assert {label.get_text() for label in heads} == {*long}
    assert {label.get_rotation() for label in heads} == {90.0}


def test_ranks_have_their_intervals_beside_the_values():
    table = gn.ScoreTable.from_arrays({"a": X[0], "b": X[0] + 0.01, "c": X[0] + 9})
    found = gn.rank(table)
    (ax,) = found.plot().axes
    assert dots(ax) == pytest.approx([one.value for one in found])
    assert rows(ax) == list(found.names)
    assert {"1", "2 to 3", "tiers"} <= {*texts(ax)}
    brackets = [line for line in ax.lines if line.get_linewidth() == 1.6]
    assert len(brackets) == sum(len(tier) > 1 for tier in found.tiers) == 1


def test_mean_ranks_have_brackets_whose_dots_are_the_members():
    table = gn.ScoreTable.from_arrays({"a": X[0], "b": X[0] + 0.01, "c": X[0] + 9})
    found = critical_difference(table)
    (ax,) = found.plot().axes
    assert rows(ax) == [one.name for one in found]
    assert dots(ax) == pytest.approx([one.mean_rank for one in found])
    assert {f"{one.mean_rank:.2f}" for one in found} <= {*texts(ax)}
    brackets = [line for line in ax.lines if line.get_linewidth() == 1.6]
    assert len(brackets) == len(found.groups) == 1


# Frame and files


@pytest.mark.parametrize(
    ("name", "head"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")]
)
def test_a_figure_is_written_as_its_name_says(tmp_path, name, head):
    gn.estimate(TABLE, "mean").figure().write(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(head)


def test_a_drawing_that_was_edited_is_written_as_it_is(tmp_path):
    figure = gn.estimate(TABLE, "mean").figure()
    figure.write(tmp_path / "a.svg")
    figure.drawing.axes[0].set_title("another")
    figure.write(tmp_path / "b.svg")
    assert figure.drawing.axes[0].get_title() == "another"
    assert (tmp_path / "a.svg").read_bytes() != (tmp_path / "b.svg").read_bytes()


def test_a_name_without_a_known_ending_or_folder_is_refused(tmp_path):
    figure = gn.estimate(TABLE, "mean").figure()
    with pytest.raises(ScoreDataError, match=r"expected a name that ends in \.svg, \.png or \.pdf"):
        figure.write(tmp_path / "a.jpg")
    with pytest.raises(ScoreDataError, match="expected a folder to write to; there is none"):
        figure.write(tmp_path / "nowhere" / "a.svg")
