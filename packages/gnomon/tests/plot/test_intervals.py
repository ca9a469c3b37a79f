"""Dots and bars where the estimates are."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gnomon.plot import interval_panels, interval_rows
from gnomon.stats import Estimate

NAN = math.nan


def estimate(algorithm, metric, value, low, high):
    return Estimate(algorithm, metric, value, low, high, 0.95, "percentile", 20, 4, 2000, 0.1)


ESTIMATES = [
    estimate("dqn", "mean", 5.0, 4.0, 7.0),
    estimate("uniform", "mean", 50.0, 49.0, 52.0),
    estimate("dqn", "iqm", 4.5, 4.0, 5.0),
    estimate("uniform", "iqm", NAN, NAN, NAN),
]


def test_dots_and_bars_are_where_the_estimates_are():
    fig = interval_panels(ESTIMATES)
    mean, iqm = fig.axes
    assert [ax.get_title(loc="left") for ax in fig.axes] == ["mean", "interquartile mean"]
    assert [line.get_xdata()[0] for line in mean.lines] == [5.0, 50.0]
    assert [line.get_ydata()[0] for line in mean.lines] == [0, 1]
    bar = mean.collections[0].get_segments()[0]
    np.testing.assert_array_equal(bar[:, 0], [4.0, 7.0])
    assert len(iqm.lines) == 1


def test_all_panels_share_the_order_of_rows():
    fig = interval_panels(ESTIMATES, order=["uniform", "dqn"])
    assert [line.get_ydata()[0] for line in fig.axes[0].lines] == [1, 0]
    assert [label.get_text() for label in fig.axes[0].get_yticklabels()] == ["uniform", "dqn"]


def test_the_best_stands_on_top_with_an_arrow_to_it():
    for higher, label, order in ((True, "x (better →)", [1, 0]), (False, "(← better) x", [0, 1])):
        fig = interval_panels(ESTIMATES, xlabel="x", higher_is_better=higher)
        assert fig.axes[0].get_xlabel() == label
        assert [line.get_ydata()[0] for line in fig.axes[0].lines] == order
    lacking = interval_panels(ESTIMATES[2:], higher_is_better=True).axes[0]
    assert [label.get_text() for label in lacking.get_yticklabels()] == ["dqn", "uniform"]


def test_what_does_not_exist_is_written_out():
    fig = interval_panels(ESTIMATES)
    fig.draw_without_rendering()
    assert [t.get_text() for t in fig.axes[1].texts] == ["4.5", "not estimable"]
    lonely = interval_panels([estimate("a", "mean", 3, NAN, NAN)])
    assert not lonely.axes[0].collections
    nothing = interval_panels([estimate("a", "mean", NAN, NAN, NAN)])
    nothing.draw_without_rendering()


def test_an_infinite_end_runs_to_the_edge():
    fig = interval_panels([estimate("a", "mean", 5, 2, math.inf)])
    fig.draw_without_rendering()
    bar = fig.axes[0].collections[0].get_segments()[0]
    assert bar[1, 0] == fig.axes[0].get_xlim()[1]


def test_rows_are_the_records_of_the_estimates():
    assert interval_rows(ESTIMATES)[3]["value"] is None
    assert interval_rows(ESTIMATES)[0] == ESTIMATES[0].as_record()


def test_tasks_have_a_panel_each_in_lines_of_three():
    found = [replace(e, task=t) for t in ("maze", "pong", "run", "swim") for e in ESTIMATES[:2]]
    fig = interval_panels(found, xlabel="errors")
    assert [ax.get_title(loc="left") for ax in fig.axes] == ["maze", "pong", "run", "swim"]
    assert [ax.get_xlabel() for ax in fig.axes] == ["", "errors", "errors", "errors"]
    assert [ax.get_subplotspec().colspan.start for ax in fig.axes] == [0, 1, 2, 0]
    both = [replace(e, task=t) for t in ("maze", "pong") for e in ESTIMATES]
    titles = [ax.get_title(loc="left") for ax in interval_panels(both).axes]
    assert titles[:2] == ["maze, mean", "maze, interquartile mean"]
    with pytest.raises(ValueError, match="for given axes, found 4 tasks"):
        interval_panels(found, ax=fig.axes[0])


def test_of_many_tasks_the_first_are_drawn():
    found = [replace(ESTIMATES[0], task=f"t{i}") for i in range(57)]
    assert len(interval_panels(found).axes) == 30
    several = [
        replace(e, task=f"t{i}", metric=m) for i in range(9) for m in "abcd" for e in ESTIMATES
    ]
    assert len(interval_panels(several).axes) == 28  # whole tasks
