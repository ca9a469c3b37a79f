"""Error by size and by cost."""

import numpy as np
import pytest

from gnomon.distill import sizes
from gnomon.distill.search.pareto import ParetoPoint
from gnomon.plot import error_by_size_curves, pareto_front_plot
from gnomon.plot.subsets import pareto_rows, size_rows
from gnomon.scores import ScoreTable


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
    assert [row["size"] for row in size_rows(found)] == [1, 2, 3]


def test_a_front_names_each_change_of_size():
    front = [
        ParetoPoint(("u",), 1.0, 0.5),
        ParetoPoint(("v",), 2.0, 0.4),
        ParetoPoint(("u", "v"), 3.0, 0.2),
    ]
    ax = pareto_front_plot(front)
    assert [text.get_text() for text in ax.texts] == ["1", "2"]
    assert ax.lines[1].get_xdata().tolist() == [1.0, 2.0, 3.0]
    assert ax.get_yscale() == "linear"
    wide = pareto_front_plot([*front, ParetoPoint(("u", "w"), 9.0, 0.001)])
    assert wide.get_yscale() == "log"
    assert pareto_rows(front)[2] == {"cost": 3.0, "cv_mse": 0.2, "tasks": "u v"}
