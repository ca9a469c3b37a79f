"""Numbers as papers and leaderboards print them."""

import csv
import math

import pytest

from gnomon.scores import read_scores
from score_tables import quietly


def read_cell(folder, text, below):
    """Return the score in a cell of a table; None if its column is none of scores."""
    with (folder / "paper.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["model", "t", "u"], ["a", text, 1], ["b", below, 2]])
    table = quietly(read_scores, folder / "paper.csv", format="wide")
    if "t" not in table.tasks:
        return None
    scores = table.runs("a", "t")
    return scores.item() if scores.size else math.nan


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12.0), ("-1,234.5", -1234.5), ("94.5 %", 94.5), ("1e3", 1000.0), (".5", 0.5),
        ("12.3±0.4", 12.3), ("12.3 +/- 0.4", 12.3), ("12.3 (0.4)", 12.3), ("\N{MINUS SIGN}2", -2.0),
        ("12,34", None), ("MIT", None), ("1 2", None), (".", None), ("1.2.3", None),
        ("inf", None), ("12 (best)", None),
        ("**15.0**", 15.0), ("15.0*", 15.0), ("__1,234__ ± 5", 1234.0), ("*94.5* %", 94.5),
        ("**15.0 (0.2)**", 15.0), ("*", None), ("1_000", None), ("2*3", None),
    ],
)  # fmt: skip
def test_numbers_as_they_are_printed(tmp_path, text, number):
    assert read_cell(tmp_path, text, text) == number


@pytest.mark.parametrize("text", ["", " ", "-", "N/A", "nan", "**-**"])
def test_empty_cells_are_missing(tmp_path, text):
    assert math.isnan(read_cell(tmp_path, text, "3"))
