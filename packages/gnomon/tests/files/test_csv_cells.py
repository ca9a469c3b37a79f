"""Cells of CSV files: numbers stay numbers, and no text is a formula."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.text_files import csv_text, safe_cell


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-1+2", "\t=1"])
def test_no_cell_is_a_formula(text):
    assert safe_cell(text) == "'" + text


@given(st.one_of(st.text(), st.integers(), st.floats(allow_nan=False), st.none()))
def test_numbers_stay_numbers_and_text_stays_text(value):
    cell = safe_cell(value)
    if isinstance(value, str):
        assert cell in (value, "'" + value)
        assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))
    elif value is not None:
        assert cell == value
    [_, line] = csv.reader(io.StringIO(csv_text([{"a": value, "b": 1}], ["a", "b"]), newline=""))
    assert line == [str(cell), "1"]
