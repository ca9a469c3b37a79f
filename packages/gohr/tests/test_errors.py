"""Texts of rules in messages: short, escaped, and the caret where it belongs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gohr
from gnomon.errors import GnomonError
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


SPEC, RULE = gohr.BoardSpec(), gohr.load_rule("clockwise")
LEARNER = gohr.make_learner("uniform", SPEC)
BOARDS = gohr.draw_boards(1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: gohr.parse(5),
        lambda: gohr.load_rule(5),
        lambda: gohr.available_rules(5),
        lambda: gohr.RuleSet(5),
        lambda: gohr.explain("clockwise"),
        lambda: gohr.check(5),
        lambda: gohr.equivalent(5, RULE),
        lambda: next(gohr.draw_rules(5)),
        lambda: gohr.Board(5),
        lambda: gohr.BoardSpec(pieces="x"),
        lambda: gohr.draw_boards("x"),
        lambda: gohr.draw_boards(2, 5),
        lambda: gohr.draw_boards(2, rng="x"),
        lambda: gohr.compile_rule("clockwise"),
        lambda: gohr.compile_rule(RULE, 5),
        lambda: gohr.HiddenRulesEnv(5),
        lambda: gohr.HiddenRulesEnv(render_mode=5),
        lambda: gohr.HiddenRulesVectorEnv("x"),
        lambda: gohr.make_learner(5, SPEC),
        lambda: gohr.make_learner("uniform", 5),
        lambda: gohr.make_learner("uniform", SPEC, rng="x"),
        lambda: gohr.play(5, LEARNER, RULE),
        lambda: gohr.play(BOARDS, "uniform", RULE),
        lambda: gohr.play(BOARDS, LEARNER, "clockwise"),
        lambda: gohr.play(BOARDS, LEARNER, RULE, horizon="x"),
        lambda: gohr.play(BOARDS, LEARNER, RULE, board_spec=5),
        lambda: gohr.ExperimentConfig("x", [5], ["uniform"]),
        lambda: gohr.ExperimentConfig("x", ["clockwise"], [5]),
        lambda: gohr.ExperimentConfig.from_toml(5),
        lambda: gohr.ExperimentConfig.from_record(5),
        lambda: gohr.run(5, "out"),
        lambda: gohr.Run.open(5),
        lambda: gohr.Run.create("out", 5),
        lambda: gohr.score(5),
        lambda: gohr.elements(5),
        lambda: gohr.elements("out", level="x"),
        lambda: gohr.verify(5),
        lambda: gohr.verify("out", assignment=5),
        lambda: gohr.report("out", 5),
        lambda: gohr.report("out", level="x"),
        lambda: gohr.report("out", seed="x"),
    ],
)
def test_an_argument_of_a_wrong_type_is_refused_in_one_line(call):
    with pytest.raises(
        (TypeError, ValueError, GnomonError), match=r"expected|known: |input should be"
    ) as caught:
        call()
    assert "\n" not in str(caught.value)
