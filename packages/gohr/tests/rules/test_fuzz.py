"""Whatever the text, the parser gives a rule set or a RuleSyntaxError, and nothing else."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gohr.errors import RuleSyntaxError
from gohr.rules import available_rules, explain, lint, load_rule_text, parse

#: Words of the language, and some that nearly are.
PIECES = [
    *"()[]{}*,.:+-/%!<>=#\"'_$ \t\n\r\0\x0b",
    *["==", "!=", "<=", ">=", "..", "((", "]]", "[[[[[[", "!!!!", "...", ",,", "\r\n"],
    *["0", "1", "-1", "36", "37", "2147483647", "2147483648", "9" * 40, "1.5", "0x1f", "1e9"],
    *["p", "pc", "ps", "p.color", "q.bucket", "this.pos", "last", "Nearby", "nearby", "Remotest"],
    *["count:", "pos:", "bucket:", "postpos:", "code:", "size:", "shape:", "Order X=", "order"],
    *["T", "L1", "red", "star", '"a b"', '"', "[1..3]", "[1,[2,3]]", "(*,*,*,*,1)", "(", "()"],
    *["日本", *"éİß\ufeff\xa0\u2028\u200d\ud800😀٣Ⅷ\x7f"],
]
REAL = [load_rule_text(name) for name in available_rules()]

fuzz = settings(
    max_examples=500, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def check(text: str) -> None:
    """Parse, and put whatever comes of it through all that reads it."""
    error = None
    try:
        rule_set = parse(text)
    except RuleSyntaxError as found:
        error = found
    if error is None:
        assert parse(str(rule_set)) == rule_set
        assert explain(rule_set)
    else:
        lines = text.split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1
        assert str(error).startswith(f"line {error.line}, column {error.column}: expected ")
    for finding in lint(text):
        assert finding.message
        assert finding.remedy or finding.message.startswith("expected ")


@fuzz
@given(st.text(max_size=80))
def test_any_text(text):
    check(text)


@fuzz
@given(st.binary(max_size=120), st.sampled_from(["utf-8", "latin-1", "utf-16"]))
def test_any_bytes(data, encoding):
    check(data.decode(encoding, errors="replace"))


@pytest.mark.full
@fuzz
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_words_of_the_language_in_any_order(pieces):
    check("".join(pieces))


@st.composite
def mutations(draw) -> str:
    """A real text with some pieces taken out, put in, doubled or exchanged."""
    text = draw(st.sampled_from(REAL))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        stop = draw(st.integers(start, min(len(text), start + 12)))
        put = draw(st.sampled_from([*PIECES, "", text[start:stop] * 2]))
        text = text[:start] + put + text[stop:]
    return text


@pytest.mark.full
@fuzz
@given(mutations())
def test_real_texts_with_mistakes(text):
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "[" * 100_000,
        "(*,*,*,*," + "!" * 100_000 + "p)",
        "(*,*,*,*," + "1+" * 100_000 + "1)",
        "(*,*,*,*," + "p." * 100_000 + "p)",
        "(*,*,*,*," + "[" * 50_000 + "1" + "]" * 50_000 + ")",
        "(*,*,*,*," + "(" * 50_000 + "1" + ")" * 50_000 + ")",
        "9" * 100_000,
        '"' + "x" * 100_000,
        "x" * 100_000,
        "\n" * 100_000,
        "#" * 100_000,
        "(*,*,*,*,[" + "1," * 50_000 + "1])",
        "(*,*,*,*,0)" * 5_000,
        "(*,*,*,*,0)\n" * 5_000,
        "Order X=[" + "1," * 50_000 + "1]\n()",
        "(" + "size:1," * 20_000 + "size:1)",
    ],
    ids=lambda text: f"{text[:12]!r}..{len(text)}",
)
def test_long_texts_are_no_strain(text):
    with suppress(RuleSyntaxError):
        parse(text)
