"""Cost against score: who is on the Pareto front, what is missing, and how it is drawn."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from matplotlib.transforms import Bbox

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable
from gnomon.stats import cost_front, estimate


def table_of(models, n=40, **about):
    """Return models with a number of right items and a cost each."""
    rows = [
        {"algorithm": name, "task": f"q{i}", "run": 1, "score": int(i < right), "cost": cost}
        for name, (right, cost) in models.items()
        for i in range(n)
    ]
    return ScoreTable.from_records(rows, units="items", **about)


FIVE = {"a": (10, 1.0), "b": (20, 2.0), "c": (15, 3.0), "d": (30, 3.0), "e": (29, 90.0)}


def test_the_front_is_whom_none_beats_for_no_more():
    found = cost_front(table_of(FIVE))
    assert [one.algorithm for one in found] == ["a", "b", "c", "d", "e"]
    assert found.front == ("a", "b", "d")
    assert {one.algorithm: one.dominated_by for one in found} == {
        **dict.fromkeys("abd"), "c": "d", "e": "d",
    }  # fmt: skip
    means = {one.algorithm: one for one in estimate(table_of(FIVE))}
    assert all((one.score, one.low) == (means[one.algorithm].value, means[one.algorithm].low)
               for one in found)  # fmt: skip
    errors = cost_front(table_of(FIVE, higher_is_better=False))
    assert errors.front == ("a",)


def test_models_that_are_alike_are_both_on_the_front():
    assert cost_front(table_of({"x": (20, 2.0), "y": (20, 2.0)})).front == ("x", "y")


def test_costs_that_lack_are_named():
    table = table_of(FIVE)
    a, first = pl.col("algorithm"), pl.col("task") == "q0"
    price = pl.when((a == "b") | ((a == "c") & first)).then(None).otherwise(pl.col("cost"))
    some = ScoreTable(table.to_polars().with_columns(cost=price), units="items")
    with pytest.warns(DegenerateScoresWarning) as notes:
        found = cost_front(some)
    told = [str(note.message) for note in notes]
    assert "b: no cost, left out of costs" in told
    assert "c: cost known for 39 of 40 samples" in told
    assert [one.algorithm for one in found] == ["a", "c", "d", "e"]


def test_what_holds_no_costs_is_refused():
    plain = ScoreTable.from_arrays({"a": [[1, 0] * 20]}, units="items")
    with pytest.raises(ScoreDataError, match="expected a column of costs"):
        cost_front(plain)
    with pytest.raises(UnknownNameError, match="unknown column of costs 'money'"):
        cost_front(table_of(FIVE), "money")


def test_a_drawing_fills_the_front_and_names_everybody():
    found = cost_front(table_of(FIVE))
    ax = found.plot().axes[0]
    assert ax.get_xscale() == "log"
    assert {text.get_text() for text in ax.get_legend().get_texts()} == set(FIVE)
    hollow = {
        line.get_label() for line in ax.get_lines() if line.get_markerfacecolor() == "#ffffff"
    }
    assert hollow >= {"c", "e"}
    assert not hollow & {"a", "b", "d"}
    near = cost_front(table_of({"x": (25, 2.0), "y": (20, 3.0)})).plot().axes[0]
    legend = near.get_legend().get_window_extent()
    for bar in near.collections:
        (path,) = bar.get_paths()
        ends = near.transData.transform(path.vertices)
        assert not legend.overlaps(Bbox(ends).padded(1.0))
    assert near.get_xscale() == "linear"
    assert near.get_xlabel() == "cost per sample (← cheaper)"


def test_more_models_than_styles_bear_numbers():
    many = {f"m{i:02}": (i + 5, float(i + 1)) for i in range(24)}
    ax = cost_front(table_of(many)).plot().axes[0]
    assert [text.get_text() for text in ax.texts] == ["21", "22", "23", "24"]
    assert np.isfinite(ax.get_tightbbox().extents).all()
