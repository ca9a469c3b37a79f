"""Names and texts from files, in a message: short and escaped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import UnknownNameError, shortened, visible


def test_what_prints_stays_as_it_is():
    text = "a b\tc\nd\xa0e 狐 ▲ ≈"
    assert visible(text) == text
    assert visible(text, kept="") == "a b\\tc\\nd\\xa0e 狐 ▲ ≈"
    assert visible("\udcff\x9b\u2066") == "\\udcff\\x9b\\u2066"


@given(st.text(), st.integers(9, 80))
def test_shortened_texts_are_short(text, most):
    short = shortened(text, most)
    assert len(short) <= most
    if len(text) <= most:
        assert short == text


def test_a_name_in_an_error_is_short_and_harmless():
    name = "x\x1b[31m" * 100_000
    said = str(UnknownNameError("rule", name, ["clockwise"]))
    assert len(said) < 500
    assert "\x1b" not in said
