import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies_rules as rules
from gohr.errors import RuleError
from gohr.rules import parse
from gohr.rules.expressions import PieceRecord, Value, Values, evaluate, integer_of
from gohr.rules.syntax import Binary, Expression, Number

STAR = PieceRecord(frozenset({("shape", "STAR"), ("pos", 8), ("bucket", 1)}))
VARIABLES: dict[str, set[Value]] = {
    "p": {3},
    "two": {1, 2},
    "text": {"red"},
    "last": {STAR},
    "last.shape": {"both"},
}


def scope(name: str) -> Values:
    return frozenset(VARIABLES.get(name, ()))


def value(text: str) -> set[Value]:
    code = parse(f"(code:{text})").lines[0].atoms[0].code
    assert code is not None
    return set(evaluate(code, scope))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", {3}),
        ("-3", {-3}),
        ('"3"', {"3"}),
        ("[1,[2,1],p]", {1, 2, 3}),
        ("undefined", set()),
        ("p+1", {4}),
        ("two*[10,20]", {10, 20, 40}),
        ("two+undefined", set()),
        ("undefined*text", set()),
        ("7/0", set()),
        ("7%[0,4]", {3}),
        ("-7/2", {-3}),
        ("-7%4", {-3}),
        ("7%-4", {3}),
        ("7/-2", {-3}),
        ("2147483647+1", {-2147483648}),
        ("65536*65536", {0}),
        ("(-2147483647-1)/-1", {-2147483648}),
        ("!undefined", {1}),
        ("!0", set()),
        ("!!p", {1}),
        ("!p*[0,1,2,3]", set()),
        ("!undefined*[0,1,2,3]", {0, 1, 2, 3}),
        ("two==2", {1}),
        ("two==3", set()),
        ("two!=2", {1}),
        ("p!=3", set()),
        ("two<=1", {1}),
        ("two>p", set()),
        ('3=="3"', set()),
        ('3!="3"', {1}),
        ('text=="red"', {1}),
        ("text<5", set()),
        ("last==last", {1}),
        ("last.pos", {8}),
        ("last.shape", {"STAR", "both"}),
        ("last.nothing", set()),
        ("last.pos.pos", set()),
        ("p.pos", set()),
    ],
)
def test_values(text: str, expected: set[Value]) -> None:
    assert value(text) == expected


def test_a_comparison_with_nothing_has_the_value_of_its_left_side() -> None:
    assert value("p==undefined") == {3}
    assert value("text<undefined") == {"red"}
    assert value("undefined==p") == set()
    assert value("undefined!=undefined") == set()


def test_not_equal_holds_if_some_pair_differs() -> None:
    assert value("two!=two") == {1}


@pytest.mark.parametrize("text", ["text+1", "1-text", '"3"*2', "last%2", "[1,text]/0"])
def test_arithmetic_on_anything_but_integers_cannot_be_played(text: str) -> None:
    with pytest.raises(RuleError, match="line 1, column 7: arithmetic needs numbers, found"):
        value(text)


def test_the_message_names_the_value_and_the_expression() -> None:
    with pytest.raises(RuleError, match=r"found 'red' in 'text\+1'; fields such as"):
        value("text+1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2147483647", 2**31 - 1),
        ("-2147483648", -(2**31)),
        ("2147483648", None),
        ("+", None),
        (" 1", None),
        ("1_0", None),
        ("0000000000000007", 7),
    ],
)
def test_strings_that_java_reads_as_integers(text: str, expected: int | None) -> None:
    assert integer_of(text) == expected


@given(rules.expressions())
def test_arithmetic_on_integers_always_has_a_value_of_32_bits(expression: Expression) -> None:
    values = evaluate(expression, lambda name: frozenset({2**31 - 1, -5}))
    assert all(-(2**31) <= v < 2**31 for v in values if isinstance(v, int))


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1))
def test_quotient_and_remainder_belong_together(a: int, b: int) -> None:
    quotient = evaluate(Binary("/", Number(a), Number(b)), scope)
    remainder = evaluate(Binary("%", Number(a), Number(b)), scope)
    if b == 0:
        assert quotient == remainder == frozenset()
        return
    (q,), (r,) = quotient, remainder
    assert isinstance(q, int)
    assert isinstance(r, int)
    assert (q * b + r - a) % 2**32 == 0
    assert abs(r) < abs(b)
    assert r == 0 or (r < 0) == (a < 0)
