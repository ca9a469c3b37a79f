"""Bars of tasks: the numbers handed to the artists."""

import numpy as np

from gnomon.plot import task_bars
from gnomon.plot.style import MUTED, SERIES, category_colors


def test_bars_have_the_values_in_order():
    ax = task_bars({"u": 0.9, "v": 0.25, "w": float("nan"), "x": -0.1}, marked=["v"])
    assert [bar.get_width() for bar in ax.patches] == [0.9, 0.25, -0.1]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["u", "v", "w", "x"]
    assert [label.get_fontweight() for label in ax.get_yticklabels()][:2] == ["normal", "bold"]
    assert [text.get_text() for text in ax.texts] == ["0.90", "0.25", "–", "-0.10"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


def test_categories_have_colours_and_a_legend():
    ax = task_bars({"u": 1.0, "v": 0.5, "w": 0.2}, categories={"u": "maze", "v": "maze"})
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["maze", "other"]
    colors = [bar.get_facecolor() for bar in ax.patches]
    assert colors[0] == colors[1] != colors[2]


def test_more_categories_than_colours_are_grey():
    names = {f"t{i}": f"c{i}" for i in range(9)}
    found = list(category_colors(names).values())
    assert found[:6] == list(SERIES)
    assert set(found[6:]) == {MUTED}


def test_names_are_no_formulas():
    ax = task_bars({"$x_1$": 1.0, "n" * 99: 0.5})
    first, second = ax.get_yticklabels()
    assert not first.get_parse_math()
    assert len(second.get_text()) < 50


def test_nothing_is_no_error():
    assert len(task_bars({}).patches) == 0
    assert np.isfinite(task_bars({"u": float("nan")}).get_xlim()).all()
