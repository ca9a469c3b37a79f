"""Texts of rules in messages: short, escaped, and the caret where it belongs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gohr.errors import RuleSyntaxError, excerpt


def test_the_caret_stands_below_the_column():
    assert excerpt("\tabc", 3) == "  \tabc\n  \t ^"
    shown, caret = excerpt("x" * 400 + "!" + "y" * 400, 401).split("\n")
    assert len(shown) < 140
    assert shown[caret.index("^")] == "!"
    shown, caret = excerpt("x" * 400, 401).split("\n")
    assert caret.index("^") == len(shown)


def test_the_caret_counts_escapes_wide_letters_and_accents():
    assert excerpt("\x1b!", 2) == "  \\x1b!\n      ^"
    assert excerpt("狐!", 2) == "  狐!\n    ^"
    assert excerpt("e\u0301!", 3) == "  e\u0301!\n   ^"


@given(st.text(alphabet=st.characters(exclude_characters="\n")), st.integers(1, 400))
def test_nothing_that_a_terminal_obeys_gets_through(line, column):
    shown, caret = excerpt(line, column).split("\n")
    assert set(caret) <= set(" \t^")
    assert all(c.isprintable() or c in "\t\xa0" for c in shown)


def test_errors_are_short_and_harmless_whatever_the_text():
    name = "x\x1b[31m" * 100_000
    error = RuleSyntaxError(f"expected ')', found {name} (a remedy)", 1, 200_000, name)
    assert len(str(error)) < 3000
    assert "\x1b" not in str(error)
    assert "(a remedy)" in str(error)
    assert error.source_line == name
