"""Names and texts from files, in a message: short and escaped."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import gnomon
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


def test_a_name_in_other_capitals_is_offered():
    assert str(UnknownNameError("metric", "IQM", ["iqm", "mean"])).endswith("did you mean 'iqm'?")


def texts(tree):
    """Yield the texts of a module, but for docstrings and what `either` chooses from."""
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "either":
            skipped |= {id(one) for one in ast.walk(node)}
        if isinstance(node, ast.Expr):
            skipped.add(id(node.value))
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in skipped:
            yield node.value


def test_messages_of_the_library_name_no_option_of_the_command_line():
    verbs = "read|estimate|compare|rank|profile|curves|plan|audit|gate|distill|predict|report"
    told = re.compile(rf"(^|\s)--[a-z]|\bgnomon ({verbs})\b")
    source = Path(gnomon.__file__).parent
    found = [
        (path.name, text)
        for path in sorted(source.rglob("*.py"))
        if "cli" not in path.parts and path.name != "errors.py"
        for text in texts(ast.parse(path.read_text()))
        if told.search(text)
    ]
    assert found == []


def test_a_warning_points_to_the_line_that_called_gnomon(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("model,task,score\na,t,1\nb,t,2\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gnomon.compare(path)
    assert len(caught) > 1
    assert {warning.filename for warning in caught} == {__file__}
