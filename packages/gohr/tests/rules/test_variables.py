from hypothesis import given, settings
from hypothesis import strategies as st

import strategies_rules as rules
from gohr.errors import RuleError
from gohr.rules import parse
from gohr.rules.expressions import NOTHING, PieceRecord, Value, Values, evaluate
from gohr.rules.syntax import Expression
from gohr.rules.variables import (
    is_defined,
    is_literal,
    may_have_value,
    must_have_value,
    variables_of,
)

PIECE = PieceRecord(frozenset({("shape", "STAR"), ("color", "RED"), ("pos", 8), ("bucket", 1)}))


def condition(text: str) -> Expression:
    code = parse(f"(code:{text})").lines[0].atoms[0].code
    assert code is not None
    return code


def test_conditions_of_names_alone_are_literal() -> None:
    assert all(is_literal(condition(text)) for text in ["red", '"a/b"', "3", "[red,3]"])
    assert not any(is_literal(condition(text)) for text in ["last.color", "[[red]]", "a-b", "!p"])


def test_variables_of_a_rule_are_those_of_its_expressions() -> None:
    rule_set = parse("(*,red,[last.color,blue],T,[p+1,!Nearby])\n(kind:cat, size:this.size+q.x.y)")
    assert variables_of(rule_set) == {"last.color", "blue", "p", "Nearby", "this.size", "q.x.y"}


@given(rules.expressions(may_fail=True), st.data())
@settings(max_examples=500)
def test_what_may_and_must_have_a_value(expression: Expression, data: st.DataObject) -> None:
    remembered: dict[str, Values] = {}

    def scope(name: str) -> Values:
        if name == "this":
            return frozenset({PIECE})
        if name in ("Nearby", "Remotest"):
            return frozenset({3})
        if not is_defined(tuple(name.split("."))):
            return NOTHING
        if name not in remembered:
            some: list[Value] = [PIECE] if name[0] in "lq" else [1, 2]
            remembered[name] = frozenset(data.draw(st.sets(st.sampled_from(some))))
        return remembered[name]

    try:
        values = evaluate(expression, scope)
    except RuleError:
        return
    if values:
        assert may_have_value(expression)
    else:
        assert not must_have_value(expression)
