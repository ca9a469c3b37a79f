"""Distributions of fewer runs, and power, are drawn where they are."""

import numpy as np

from gnomon.plot import power_curves, subsample_distributions
from gnomon.plot.statistics import power_figure, subsample_figure
from gnomon.scores import ScoreTable
from gnomon.stats import PowerPoint, subsample_table


def test_a_distribution_stands_on_its_row_and_the_line_at_the_value_of_all():
    x = np.random.default_rng(0).normal(size=(10, 4))
    table = ScoreTable.from_arrays({"a": x, "b": x + 1.0})
    found = subsample_table(table, "median", runs=[2, 5], n_draws=60, rng=np.random.default_rng(1))
    ax = subsample_distributions(found)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["a, 2 runs", "a, 5 runs", "b, 2 runs", "b, 5 runs"]
    lines = [c for c in ax.collections if hasattr(c, "get_segments") and c.get_segments()]
    assert [line.get_segments()[0][0, 0] for line in lines] == [one.value for one in found]
    row = subsample_figure(found, "score").rows[0]
    assert row["low"] <= row["median"] <= row["high"]
    assert row["runs"] == 2


def test_power_has_a_curve_for_each_pair():
    points = [PowerPoint("a", b, "iqm", n, n / 40) for b in "bc" for n in (10, 3, 40)]
    ax = power_curves(points, wanted=0.8)
    assert ax.lines[0].get_xdata().tolist() == [3, 10, 40]
    assert len(ax.lines) == 3
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["3", "10", "40"]
    assert power_figure(points, 0.8).rows[0] == points[0].as_record()
    assert len(power_curves(points, wanted=None).lines) == 2
