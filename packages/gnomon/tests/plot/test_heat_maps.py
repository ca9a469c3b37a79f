"""The table of tests: which number stands in which cell, and how dark it is."""

import math

import numpy as np
from matplotlib.colors import to_rgb

from gnomon.plot import pairwise_rows, pairwise_table
from gnomon.stats import PairwiseTest, mann_whitney_table

TESTS = mann_whitney_table({"easy": range(20), "hard": range(100, 120), "same": range(1, 21)})
ORDER = ["hard", "same", "easy"]


def cells(ax):
    return {(round(t.get_position()[1]), round(t.get_position()[0])): t for t in ax.texts}


def test_each_cell_bears_the_p_value_of_row_against_column():
    texts = cells(pairwise_table(TESTS, ORDER))
    assert texts[0, 1].get_text() == "< 0.0001"
    assert texts[1, 0].get_text() == "> 0.99"
    assert texts[0, 0].get_text() == "–"
    p = next(t.p_value for t in TESTS if (t.a, t.b) == ("same", "easy"))
    assert texts[1, 2].get_text() == f"{p:.2f}"


def test_the_stronger_the_evidence_the_darker():
    values = (math.nan, 1, 0.05, 0.049, 0.009, 0.0009)
    names = [f"n{i}" for i in range(7)]
    tests = [PairwiseTest("n0", n, 0, p, p) for n, p in zip(names[1:], values, strict=True)]
    colors = {
        round(p.get_x() + 0.48): np.mean(to_rgb(p.get_facecolor()))
        for p in pairwise_table(tests, names).patches
        if round(p.get_y() + 0.46) == 0
    }
    shades = [colors[column] for column in range(1, 7)]
    assert shades[0] == shades[1] == shades[2] > shades[3] > shades[4] > shades[5]


def test_pairs_that_were_decided_are_bold_above_the_diagonal():
    texts = cells(pairwise_table(TESTS, ORDER, decided={frozenset(("hard", "easy"))}))
    bold = {where for where, text in texts.items() if text.get_fontweight() == "bold"}
    assert bold == {(0, 2)}


def test_a_test_that_does_not_exist_is_written_out():
    tests = [PairwiseTest("a", "b", math.nan, math.nan, math.nan)]
    ax = pairwise_table(tests, ["a", "b"])
    ax.figure.draw_without_rendering()
    assert cells(ax)[0, 1].get_text() == "not\nestimable"
    assert pairwise_rows(tests)[0]["a"] == "a"
