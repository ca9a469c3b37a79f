"""Box plots: quartiles and whiskers against Matplotlib's own, and what is infinite."""

import numpy as np
import pytest
from matplotlib.cbook import boxplot_stats

from gnomon.plot import box_of, box_plots, box_rows


@pytest.mark.parametrize("seed", range(5))
def test_a_box_agrees_with_matplotlib(seed):
    x = np.random.default_rng(seed).lognormal(3, 1.2, 17 + seed)
    box, theirs = box_of("x", x), boxplot_stats(x)[0]
    for ours, key in [
        (box.low, "whislo"),
        (box.q1, "q1"),
        (box.median, "med"),
        (box.q3, "q3"),
        (box.high, "whishi"),
    ]:
        assert ours == pytest.approx(theirs[key])
    assert sorted(box.outliers) == pytest.approx(sorted(theirs["fliers"]))


def test_runs_that_never_got_there_are_counted_and_not_dropped():
    box = box_of("x", [1, 2, 3, np.inf, np.inf])
    assert (box.n, box.n_infinite, box.median, box.q3) == (5, 2, 3, np.inf)
    assert box_of("x", [np.inf] * 3).median == np.inf
    fig = box_plots({"dqn": {"r": [1, 2, 3, np.inf, np.inf], "s": [np.inf] * 3}}, ["r", "s"])
    fig.draw_without_rendering()
    words = [text.get_text() for text in fig.axes[0].texts]
    assert words == ["2 of 5 never", "3 of 3 never"]


def test_rows_stand_in_the_given_order_and_every_run_is_a_dot():
    runs = {"dqn": {"easy": [1, 2, 3], "hard": [10, 20]}, "uniform": {"hard": [30, 40, 50]}}
    fig = box_plots(runs, ["hard", "easy"])
    fig.draw_without_rendering()
    assert [label.get_text() for label in fig.axes[0].get_yticklabels()] == ["hard", "easy"]
    assert fig.axes[0].get_ylim()[0] > fig.axes[0].get_ylim()[1]
    dots = [c.get_offsets() for c in fig.axes[0].collections if len(c.get_offsets()) > 1]
    assert sorted(dots[0][:, 0]) == [10, 20]
    assert sorted(dots[1][:, 0]) == [1, 2, 3]
    assert [ax.get_title(loc="left") for ax in fig.axes] == ["dqn", "uniform"]


@pytest.mark.parametrize("runs", [[0, 0, 0], [5], [], [np.nan, 2]])
def test_degenerate_samples_draw(runs):
    fig = box_plots({"dqn": {"r": runs}}, ["r"])
    fig.draw_without_rendering()
    assert box_rows({"dqn": {"r": runs}}, ["r"])[0]["n"] == np.count_nonzero(~np.isnan(runs))


def test_far_runs_stand_behind_a_break():
    runs = {"dqn": {"a": [*range(100, 140), 5000, 9000], "b": [*range(50, 80)]}}
    fig = box_plots(runs, ["a", "b"])
    fig.draw_without_rendering()
    (ax,) = fig.axes
    assert ax.get_xlabel().endswith("(broken axis)")
    dots = np.concatenate([c.get_offsets()[:, 0] for c in ax.collections if len(c.get_offsets())])
    assert {5000, 9000} < set(dots)
    place = ax.transAxes.inverted().transform(ax.transData.transform([[139, 0], [5000, 0]]))[:, 0]
    assert place[0] < 0.74 < 0.78 < place[1]
    near = box_plots({"dqn": {"a": [100, 120, 130, 150]}}, ["a"])
    assert not near.axes[0].get_xlabel().endswith("(broken axis)")


@pytest.mark.parametrize("seed", range(20))
def test_every_run_has_a_place_and_keeps_its_order(seed):
    x = np.round(np.random.default_rng(seed).lognormal(3, 1.5, 40))
    (ax,) = box_plots({"dqn": {"a": x}}, ["a"]).axes
    ordered = np.unique(x)
    points = np.column_stack([ordered, np.zeros(ordered.size)])
    places = ax.transAxes.inverted().transform(ax.transData.transform(points))[:, 0]
    assert (np.diff(places) > 0).all()
    assert ((places >= 0) & (places <= 1)).all()
    marks = ax.get_xticks()
    assert len(marks) >= 2
    low, high = ax.get_xlim()
    assert ((low <= marks) & (marks <= high)).all()
