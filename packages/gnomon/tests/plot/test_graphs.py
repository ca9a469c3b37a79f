"""The graph of correlations, and where its nodes go."""

import numpy as np
import pytest

from gnomon.distillation import Edge
from gnomon.plot import correlation_graph
from gnomon.plot.graphs import stress_layout

EDGES = [Edge("u", "v", 0.9, 40), Edge("v", "w", 0.7, 40), Edge("x", "y", -0.8, 40)]


def test_a_line_an_edge_and_a_dot_a_task():
    ax = correlation_graph(EDGES, categories={"u": "maze", "v": "maze"})
    assert [text.get_text() for text in ax.texts] == ["u", "v", "w", "x", "y"]
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    assert [line.get_linestyle() for line in lines] == ["-", "-", "--"]
    widths = [line.get_linewidth() for line in lines]
    assert widths[0] == max(widths)
    assert widths[1] == min(widths)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["other", "maze", "|r| from 0.70", "|r| of 0.9 and above"]


def test_the_legend_says_sizes_only_where_there_are_signs():
    ax = correlation_graph(EDGES[:2])
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["r from 0.70", "r of 0.9 and above"]


@pytest.mark.parametrize("n", [1, 2, 5, 24])
def test_nodes_are_on_the_page_and_apart(n):
    edges = [(i, i + 1) for i in range(0, n - 1, 2)]
    place = stress_layout(n, edges)
    assert place.shape == (n, 2)
    assert ((place >= 0) & (place <= 1)).all()
    gaps = np.linalg.norm(place[:, np.newaxis] - place, axis=-1)[np.triu_indices(n, 1)]
    assert (gaps > 0.02).all()
    assert np.array_equal(place, stress_layout(n, edges))


def test_joined_nodes_are_nearer():
    place = stress_layout(4, [(0, 1), (2, 3)])
    assert np.linalg.norm(place[0] - place[1]) < np.linalg.norm(place[0] - place[2])


def test_no_line_runs_through_the_dot_of_another():
    """A triangle with a tail, whose stress is least where its third corner lies on a side."""
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 4), (4, 2), (3, 5), (0, 6), (6, 2), (5, 2)]
    place = stress_layout(7, edges)
    for i, j in edges:
        along = place[j] - place[i]
        for k in set(range(7)) - {i, j}:
            share = np.clip((place[k] - place[i]) @ along / (along @ along), 0, 1)
            assert np.linalg.norm(place[k] - place[i] - share * along) > 0.03, (i, j, k)
