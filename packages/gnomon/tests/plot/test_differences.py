"""Differences and probabilities stand where they are, and say what is separated."""

import math

import pytest

from gnomon.plot import difference_bars, improvement_bars, improvement_heat_map
from gnomon.stats import Comparison

NAN = math.nan


def comparison(a, b, metric="iqm", value=0.2, low=0.1, high=0.3, p=0.01, task=None):
    return Comparison(a, b, metric, task, value, low, high, p, p, 0.95, "delta_t", 0, 0.0)


def test_dots_and_bars_are_where_the_differences_are():
    found = [comparison("a", "b"), comparison("a", "b", "mean", -0.1, -0.3, 0.1, 0.3)]
    ax = difference_bars(found)
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [dot.get_xdata()[0] for dot in dots] == [0.2, -0.1]
    segments = [bar.get_segments()[0][:, 0].tolist() for bar in ax.collections]
    assert segments == [[0.1, 0.3], [-0.3, 0.1]]
    faces = [dot.get_markerfacecolor() for dot in dots]
    assert faces[0] != faces[1] == "#ffffff"
    assert found[0].as_record()["value"] == 0.2


def test_rows_bear_what_tells_them_apart():
    def names(found):
        return [label.get_text() for label in difference_bars(found).get_yticklabels()]

    assert names([comparison("a", "b")]) == ["a − b"]
    assert names([comparison("a", "b"), comparison("a", "c")]) == ["a − b", "a − c"]
    of_tasks = [comparison("a", "b"), comparison("a", "b", task="pong")]
    assert names(of_tasks) == ["all tasks", "pong"]
    of_metrics = [comparison("a", "b"), comparison("a", "b", "mean")]
    assert names(of_metrics) == ["interquartile mean", "mean"]


def test_what_does_not_exist_is_written_out():
    ax = difference_bars([comparison("a", "b", "mean", NAN, NAN, NAN, NAN)])
    assert [text.get_text() for text in ax.texts] == ["not estimable"]
    ax = difference_bars([comparison("a", "b", "mean", 1.0, NAN, NAN, NAN)])
    assert [text.get_text() for text in ax.texts] == ["not tested"]
    assert not ax.collections


def test_improvement_stands_between_zero_and_one():
    ax = improvement_bars([comparison("a", "b", "probability_of_improvement", 0.8, 0.7, 0.9)])
    assert ax.get_xlim() == pytest.approx((-0.02, 1.02))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a > b"]


def test_a_heat_map_has_both_halves_in_the_order_of_strength():
    name = "probability_of_improvement"
    found = [
        comparison("weak", "best", name, 0.1, 0, 0.2),
        comparison("weak", "middle", name, 0.3, 0.1, 0.5, p=0.2),
        comparison("middle", "best", name, 0.25, 0.1, 0.4),
    ]
    ax = improvement_heat_map(found)
    order = [label.get_text() for label in ax.get_yticklabels()]
    assert order == ["best", "middle", "weak"]
    texts = {text.get_position(): text for text in ax.texts}
    assert {place: text.get_text() for place, text in texts.items()} == {
        (1, 0): "0.75", (2, 0): "0.90", (0, 1): "0.25",
        (2, 1): "0.70", (0, 2): "0.10", (1, 2): "0.30",
    }  # fmt: skip
    assert texts[2, 0].get_fontweight() == "bold"
    assert texts[2, 1].get_fontweight() == "normal"
