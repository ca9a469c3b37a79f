from pathlib import Path

import pytest

from gnomon.errors import GnomonError, UnknownNameError
from gohr.errors import RuleSyntaxError
from gohr.rules import (
    FAMILIES,
    TAGS,
    available_templates,
    draw_rules,
    info_of,
    lint,
    load_template,
    parse,
)

TEMPLATE = """# name: {s}-{n}
# title: {s}
# vary s: star | circle
# vary n: 1..3
({n}, {s}, *, *, 0)
"""


def test_all_gaps_are_filled_in_all_ways_the_last_one_fastest() -> None:
    rules = list(draw_rules(TEMPLATE))
    assert [rule.name for rule in rules] == [
        "star-1",
        "star-2",
        "star-3",
        "circle-1",
        "circle-2",
        "circle-3",
    ]
    assert rules[4].text == "# title: circle\n(2, circle, *, *, 0)\n"
    assert rules[4].values == {"s": "circle", "n": "2"}


def test_rules_without_a_name_are_numbered() -> None:
    rules = draw_rules("# vary b: buckets\n(*,*,*,*,{b})", name="mine")
    assert [rule.name for rule in rules] == ["mine-1", "mine-2", "mine-3", "mine-4"]


def test_distinct_gaps_never_have_the_same_value() -> None:
    text = "# vary a: colors\n# vary b: colors\n# distinct: a, b\n(*,*,[{a},{b}],*,0)"
    assert len(list(draw_rules(text))) == 12


def test_a_template_without_gaps_is_one_rule() -> None:
    assert [rule.text for rule in draw_rules("(*,*,*,*,0)")] == ["(*,*,*,*,0)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(*,{s},*,*,0)", r"expected values for \{s\}, found none; write '# vary s: ...'"),
        ("# name: {s}\n()", r"expected values for \{s\}"),
        ("# distinct: a, b\n()", r"expected values for \{a\}"),
        ("# vary s: shapes\n()", r"expected a gap \{s\} in the rule"),
        ("# vary s: a || b\n({s})", "expected values between '|' for 's', found 'a || b'"),
        ("# vary s:\n({s})", "expected values between '|' for 's', found ''"),
        ("# vary a: 1..200\n# vary b: 1..200\n({a},*,*,{b},0)", "at most 10000 rules, found 40000"),
        ("# name: same\n# vary b: buckets\n(*,*,*,*,{b})", "found 'same' twice"),
    ],
)
def test_messages(text: str, message: str) -> None:
    with pytest.raises(GnomonError, match=message.replace("|", r"\|")):
        list(draw_rules(text))


def test_a_text_that_does_not_parse_is_named() -> None:
    with pytest.raises(RuleSyntaxError, match="bad-1, line 1, column 1: expected five fields"):
        list(draw_rules("# vary b: buckets\n(*,*,*,{b})", name="bad"))


@pytest.mark.parametrize("name", available_templates())
def test_templates_of_the_library(name: str) -> None:
    rules = list(draw_rules(load_template(name)))
    assert len(rules) >= 10
    for rule in rules:
        rule_set = parse(rule.text)
        info = info_of(rule.name, rule_set)
        assert info.title
        assert info.sentence.endswith(".")
        assert info.family in FAMILIES
        assert set(info.tags) <= set(TAGS)
        assert [f for f in lint(rule_set) if f.severity != "note"] == []


def test_templates_by_name_or_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(TEMPLATE)
    assert load_template(path) == TEMPLATE
    with pytest.raises(UnknownNameError, match="did you mean 'cycle-of-two'"):
        load_template("cycle-of-tow")
    path.write_bytes(b"\xff")
    with pytest.raises(GnomonError, match="expected UTF-8 text"):
        load_template(path)
