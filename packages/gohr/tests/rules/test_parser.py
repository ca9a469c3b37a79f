import sys

import pytest
from hypothesis import given, settings

import strategies_rules as rules
from gohr.errors import RuleSyntaxError
from gohr.rules import RuleSet, parse
from gohr.rules.syntax import (
    Atom,
    Binary,
    ListOf,
    Name,
    Not,
    Number,
    Order,
    Property,
    Range,
    RuleLine,
    Span,
    Text,
)
from recorded_episodes import DATA, VECTORS, records


def atom(text: str) -> Atom:
    return parse(text).lines[0].atoms[0]


def error(text: str) -> RuleSyntaxError:
    with pytest.raises(RuleSyntaxError) as caught:
        parse(text)
    return caught.value


# -- the tree --------------------------------------------------------------------------------------


def test_a_positional_atom() -> None:
    assert atom("(2, star, [red, blue], [T, 5], p+1)") == Atom(
        count=2,
        shape=Name(("star",)),
        color=ListOf((Name(("red",)), Name(("blue",)))),
        positions=(ListOf((Name(("T",)), Number(5))),),
        buckets=Binary("+", Name(("p",)), Number(1)),
    )


def test_a_property_atom() -> None:
    text = '(size:[1..3], pos:L, pos:T, kind:"a/b", code:!p, bucket:1, postpos:B, count:2)'
    assert atom(text) == Atom(
        count=2,
        positions=(Name(("L",)), Name(("T",))),
        buckets=Number(1),
        postpos=Name(("B",)),
        code=Not(Name(("p",))),
        properties=(Property("size", Range(1, 3)), Property("kind", Text("a/b"))),
        format="property",
    )


def test_an_empty_atom_is_a_property_atom_without_conditions() -> None:
    assert atom("()") == Atom(format="property")


def test_line_counters() -> None:
    lines = parse("3 () ()\n* ()\n()\n0()").lines
    assert [(line.count, len(line.atoms)) for line in lines] == [
        (3, 2),
        (None, 1),
        (None, 1),
        (0, 1),
    ]


def test_any_negative_count_means_not_metered() -> None:
    assert atom("(-3,*,*,*,1)").count is None
    assert atom("(0,*,*,*,1)").count == 0


def test_operators_bind_as_in_arithmetic_and_to_the_left() -> None:
    a, b, c = (Name((x,)) for x in "abc")
    assert atom("(code:a-b-c)").code == Binary("-", Binary("-", a, b), c)
    assert atom("(code:a+b*c)").code == Binary("+", a, Binary("*", b, c))
    assert atom("(code:a-(b-c))").code == Binary("-", a, Binary("-", b, c))
    assert atom("(code:!a*b==c)").code == Binary("==", Binary("*", Not(a), b), c)


def test_a_minus_sign_before_a_number_makes_it_negative_only_where_a_value_begins() -> None:
    assert atom("(bucket:p--1)").buckets == Binary("-", Name(("p",)), Number(-1))
    assert atom("(bucket:p-1)").buckets == Binary("-", Name(("p",)), Number(1))


def test_orders_with_ties() -> None:
    rule_set = parse("order X = [1,[2,3], 4] # the keyword may be in any case\n(*,*,*,X,1)")
    assert rule_set.orders == (Order("X", ((1,), (2, 3), (4,))),)


def test_a_name_in_an_order_is_an_empty_rank() -> None:
    rule_set = parse("Order X=[1,foo,2]\n()")
    assert rule_set.orders[0].ranks == ((1,), (), (2,))
    assert parse(str(rule_set)) == rule_set


def test_comments_before_the_first_meaningful_line_are_the_description() -> None:
    rule_set = parse("# title: One\n\n#two\n()\n# three\n")
    assert rule_set.description == ("title: One", "two")


def test_line_ends_of_every_system_and_control_characters_at_the_ends_of_a_line() -> None:
    assert parse("\x01\t(*,*,*,*,1)\x00\r\n\r\n # c\r\n()\r") == parse("(*,*,*,*,1)\n()")


def test_spans_count_lines_and_columns_from_one() -> None:
    line = parse("#\n\t1 (*,*,*,*,p+1)").lines[0]
    assert line.span == Span(2, 2, 17)
    assert line.atoms[0].span == Span(2, 4, 17)
    buckets = line.atoms[0].buckets
    assert isinstance(buckets, Binary)
    assert (buckets.span, buckets.right.span) == (Span(2, 13, 16), Span(2, 15, 16))


# -- there and back --------------------------------------------------------------------------------


@given(
    rules.paper_rule_sets()
    | rules.order_rule_sets()
    | rules.rule_sets(properties=True, may_fail=True)
)
@settings(max_examples=300)
def test_what_is_printed_parses_back(rule_set: RuleSet) -> None:
    assert parse(str(rule_set)) == rule_set


@given(rules.rule_sets(properties=True, may_fail=True))
def test_every_node_is_printed_as_text_that_parses_back(rule_set: RuleSet) -> None:
    for line in rule_set.lines:
        assert parse(str(line)) == RuleSet((line,))
        for each in line.atoms:
            assert parse(str(each)) == RuleSet((RuleLine((each,)),))


# -- verdicts --------------------------------------------------------------------------------------


def accepts(text: str) -> bool:
    try:
        rule_set = parse(text)
    except RuleSyntaxError:
        return False
    assert parse(str(rule_set)) == rule_set
    return True


@pytest.mark.parametrize("record", list(records(DATA / "verdicts.jsonl")), ids=lambda r: r["rules"])
def test_the_verdict_is_that_of_the_reference(record: dict[str, object]) -> None:
    assert accepts(str(record["rules"])) == record["ok"]


@pytest.mark.skipif(not VECTORS.is_dir(), reason="the recorded episodes are not in the repository")
def test_all_rule_texts_that_the_reference_read() -> None:
    texts = {
        record["rule_text"]: "board" in record
        for path in VECTORS.glob("*.gz")
        for record in records(path)
        if "rule_text" in record
    }
    assert len(texts) > 500
    for text, accepted in texts.items():
        assert accepts(text) == accepted, text


# -- messages --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "expected at least one rule line"),
        ("# nothing\n", 2, 1, "expected at least one rule line"),
        ("Order X=[1]\n", 2, 1, "expected at least one rule line"),
        ("3", 1, 2, "expected '(' to begin an atom, found the end of the line"),
        ("x", 1, 1, "expected a counter or '(' at the beginning of a rule line, found 'x'"),
        ("% c", 1, 1, "found '%' (a comment begins with '#')"),
        ("()\n() // c", 2, 4, "found '/' (a comment begins with '#')"),
        ("() % c", 1, 4, "(a comment begins with '#')"),
        ("() 3 ()", 1, 4, "a counter of the line stands once, at its beginning"),
        ("-1 ()", 1, 1, "expected a counter or '('"),
        (
            "(*,*,*,*)",
            1,
            1,
            "expected five fields, (count, shapes, colors, positions, buckets), found 4",
        ),
        ("(*,*,1)", 1, 1, "write * for a field without condition"),
        ("() (*,*,*,*,1,2)", 1, 4, "found 6"),
        ("(*,*,*,*,1,)", 1, 12, "no comma after the last field"),
        ("(count:1, *)", 1, 11, "an atom has keys everywhere or nowhere"),
        ("(color:*)", 1, 8, "leave a clause without condition out altogether"),
        ("(color:red, color:red)", 1, 13, "expected each clause once, found 'color' again"),
        ("(size:1, size:2)", 1, 10, "found 'size' again (only pos may be repeated)"),
        ("(*,[],*,*,1)", 1, 5, "expected something in the list"),
        ("(*,[red,*],*,*,1)", 1, 9, "'*' stands alone in its field"),
        ("(*,[red,*,*,1)", 1, 9, "'*' stands alone"),
        ("(*,[red,blue", 1, 13, "expected ',' or ']', found the end of the line"),
        ("(*,*,*,*,1", 1, 11, "expected ',' or ')', found the end of the line"),
        ("(*,*,*,*,(1,2))", 1, 12, "a list is written in brackets"),
        ("(*,*,*,*,p=1)", 1, 11, "to compare, write '=='"),
        ("(code:a==b==c)", 1, 11, "a comparison compares two values"),
        ("(*,*,*,*,1.5)", 1, 11, "numbers are whole"),
        ("(*,*,*,*,-p)", 1, 11, "write 0-p for the negative of p"),
        ("(*,*,*,*,+1)", 1, 10, "a number has no plus sign"),
        ("(*,*,*,*,p+)", 1, 12, "expected a name, a number, a string, '(' or '[', found ')'"),
        ("(p,*,*,*,1)", 1, 2, "expected a whole number or * as the count, found p"),
        ("(count:[1..2])", 1, 2, "expected no range in 'count', found [1..2]"),
        ("(*,*,*,[1..5],1)", 1, 10, "ranges are for properties of your own"),
        ("(size:[1..x])", 1, 11, "expected a number as the upper end of the range, found 'x'"),
        ("(size:[1..3)", 1, 12, "expected ']' after the upper end of the range"),
        ("(pos:[1..5])", 1, 2, "expected no range in 'pos'"),
        (
            "(*,*,*,p+1,1)",
            1,
            8,
            "expected cell numbers and names of orders, found the expression p+1",
        ),
        ("(*,*,*,[1,[T,a.b]],1)", 1, 14, "found the expression a.b"),
        ("(color:last.)", 1, 13, "expected a name after '.'"),
        ("(\n)", 1, 2, "found the end of the line"),
        ("()\nOrder X=[1]", 2, 1, "orders stand before all rules"),
        ("Order", 1, 6, "expected a name for the order"),
        ("Order X [1]\n()", 1, 9, "expected '=' after the name of the order, found '['"),
        ("Order X=1\n()", 1, 9, "expected a list of cells in brackets"),
        ("Order X=[1,2],\n()", 1, 14, "expected nothing more after the list of an order"),
        ("Order X=[0]\n()", 1, 10, "expected a cell number from 1 to 36, found 0"),
        ("Order X=[-1]\n()", 1, 10, "from 1 to 36, found -1"),
        ("Order X=[1,[2,1]]\n()", 1, 15, "expected each cell once, found 1 again"),
        ("Order X=[1,[2,foo]]\n()", 1, 15, "expected a cell number in a tied rank, found foo"),
        ("(*,*,*,*,99999999999)", 1, 10, "expected a number of at most 2147483647"),
    ],
)
def test_messages(text: str, line: int, column: int, message: str) -> None:
    found = error(text)
    assert (found.line, found.column) == (line, column)
    assert message in str(found)


def test_the_caret_points_at_the_column() -> None:
    assert str(error("()\n\t(*,*,*,*,p=1) # c")) == (
        "line 2, column 12: expected ',' or ')', found '=' (to compare, write '==')\n"
        "  \t(*,*,*,*,p=1) # c\n"
        "  \t          ^"
    )


# -- robustness ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opening", ["(*,*,*,*," + "(" * 10_000, "(bucket:" + "[" * 10_000, "(bucket:" + "!" * 10_000]
)
def test_deep_nesting_is_refused_with_a_clear_error(opening: str) -> None:
    assert "open brackets at once, found more" in error(opening).message


def test_long_chains_are_refused_with_a_clear_error() -> None:
    assert "nested at most 100 deep" in error("(bucket:" + "1+" * 5000 + "1)").message
    assert "joined by '.'" in error("(bucket:" + "a." * 5000 + "a)").message


def test_what_is_just_not_too_deep_can_be_printed_compared_and_hashed() -> None:
    chain = "+".join(["(1==1)"] * 98)
    nested = "(code:" + "[" * 40 + "1" + "]" * 40 + f", bucket:{chain})"
    rule_set = parse(nested)
    assert parse(str(rule_set)) == rule_set
    assert hash(rule_set) == hash(parse(nested))


def test_wide_lists_are_not_deep() -> None:
    text = "(bucket:[" + ",".join(["(p+1)"] * 20_000) + "])"
    buckets = parse(text).lines[0].atoms[0].buckets
    assert isinstance(buckets, ListOf)
    assert len(buckets.items) == 20_000


@pytest.mark.parametrize(
    "piece", ["(*,red,*,*,1) ", "()\n", "(size:[1,2])", "# c\n", "1 ", '"', "a.", "é", "["]
)
def test_work_is_linear_in_the_length(piece: str) -> None:
    def n_calls(repeats: int) -> int:
        """Count the calls of functions, which a busy machine does not change."""
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        text = piece * repeats
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            accepts(text)
        finally:
            sys.setprofile(before)
        return calls

    assert n_calls(4000) < 200 + 9 * n_calls(500)
