"""Figures of smaller suites: predictions against the truth, errors by size and cost, bars."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from gnomon.distillation import sizes, transform_of
from gnomon.plot import error_by_size_curves, predicted_against_true, series_style, task_bars
from gnomon.scores import ScoreTable

LOG = transform_of("log")


def test_points_outside_the_interval_stand_apart():
    true = np.array([1.0, 2.0, 3.0, np.nan])
    predicted = np.array([1.1, 2.6, 2.95, 1.0])
    ax = predicted_against_true(predicted, true, LOG, half_width=0.2)
    line, inside, outside = ax.lines
    assert inside.get_xdata().tolist() == [1.0, 3.0]
    assert outside.get_ydata().tolist() == [2.6]
    assert np.array_equal(*line.get_data())
    assert "90%" in ax.texts[0].get_text()


def test_without_an_interval_all_points_are_alike():
    ax = predicted_against_true(np.array([1.0, 9.0]), np.array([1.0, 1.0]), LOG)
    assert [len(line.get_xdata()) for line in ax.lines] == [2, 2, 0]
    assert not ax.texts


def test_axes_are_marked_with_scores():
    ax = predicted_against_true(np.array([1.0, 3.0]), np.array([1.0, 3.0]), LOG)
    shown = [text.get_text() for text in ax.get_xticklabels()]
    assert {"10", "100", "1,000"} <= set(shown)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    scores = rng.normal(3, 1, (30, 1)) + rng.normal(0, 0.5, (30, 6))
    table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(scores)})
    return sizes(table, most=3, transform="identity")


def test_both_errors_are_drawn(found):
    ax = error_by_size_curves(found)
    plain, honest = ax.lines
    assert plain.get_xdata().tolist() == [1, 2, 3]
    assert plain.get_ydata() == pytest.approx([100 * one.relative_error for one in found])
    assert honest.get_ydata() == pytest.approx([100 * one.nested_relative_error for one in found])
    assert ax.get_ylim()[0] == 0
    assert [row["size"] for row in found.figure().rows] == [1, 2, 3]


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
    ax = task_bars(dict.fromkeys(names, 1.0), categories=names)
    found = [to_hex(bar.get_facecolor()) for bar in ax.patches]
    assert found[:6] == [series_style(i).color for i in range(6)]
    assert len(set(found[6:])) == 1


def test_names_are_no_formulas():
    ax = task_bars({"$x_1$": 1.0, "n" * 99: 0.5})
    first, second = ax.get_yticklabels()
    assert not first.get_parse_math()
    assert len(second.get_text()) < 50


def test_nothing_is_no_error():
    assert len(task_bars({}).patches) == 0
    assert np.isfinite(task_bars({"u": float("nan")}).get_xlim()).all()


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (60.0, 6000.0, {"100", "300", "1,000", "3,000"}),
        (2.1e8, 6.2e8, {"300M", "500M"}),
        (0.0, 900.0, {"0", "1", "10", "100"}),
    ],
)
def test_logarithmic_axes_have_ticks_whatever_the_scores(low, high, labels):
    true = LOG.forward(np.linspace(low, high, 9))
    ax = predicted_against_true(true, true, LOG)
    shown = {label.get_text() for label in ax.get_xticklabels()}
    assert labels <= shown, shown
    assert len(shown) >= 3


def test_the_farthest_of_many_outliers_are_named():
    rng = np.random.default_rng(0)
    true = rng.normal(2, 0.4, 200)
    off = rng.normal(0, 0.1, 200)
    names = [f"a{i:03}" for i in range(200)]
    ax = predicted_against_true(true + off, true, LOG, half_width=0.1, names=names)
    shown = {text.get_text() for text in ax.texts} & {*names}
    assert shown == {names[i] for i in np.argsort(-np.abs(off))[:12]}
