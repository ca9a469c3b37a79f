"""Numbers as papers and leaderboards print them."""

import math

import pytest

from gnomon.scores.readers.reported_number import reported_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12.0), ("-1,234.5", -1234.5), ("94.5 %", 94.5), ("1e3", 1000.0), (".5", 0.5),
        ("12.3±0.4", 12.3), ("12.3 +/- 0.4", 12.3), ("12.3 (0.4)", 12.3), ("\N{MINUS SIGN}2", -2.0),
        ("12,34", None), ("MIT", None), ("1 2", None), (".", None), ("1.2.3", None), (True, None),
        ("inf", None), ("12 (best)", None),
        ("**15.0**", 15.0), ("15.0*", 15.0), ("__1,234__ ± 5", 1234.0), ("*94.5* %", 94.5),
        ("**15.0 (0.2)**", 15.0), ("*", None), ("1_000", None), ("2*3", None),
    ],
)  # fmt: skip
def test_numbers_as_they_are_printed(text, number):
    assert reported_number(text) == number


@pytest.mark.parametrize("text", ["", " ", "-", "N/A", None, "nan", "**-**"])
def test_empty_cells_are_missing(text):
    assert math.isnan(reported_number(text))
