"""Conditions on answers: what is read, what holds, and what is refused."""

from __future__ import annotations

import pytest

from gnomon.errors import ConfigError
from gnomon.studies import StudyPlan, check_plan
from gnomon.studies.plan.questionnaire import Question, Quiz
from gnomon.studies.plan.visibility import parse_condition, with_names

ANSWERS = {"sex": "F", "age": "18.0", "why": "I like Games", "none": ""}
CONDITIONS = {
    "{sex} = 'f'": True, "{sex}==f": True, "{sex} != 'f'": False, '{sex} <> "m"': True,
    "{age} = 18": True, "{age} > 17.5": True, "{age} < 18": False, "{age} <= 18": True,
    "{age} >= 19": False, "{sex} < 3": False, "{age} < -1": False,
    "{why} contains 'games'": True, "{why} notcontains games": False,
    "{sex} anyof ['m', f]": True, "{sex} anyof ['m']": False,
    "{none} empty": True, "{other} empty": True, "{sex} notempty": True, "{none} = ''": None,
    # What was not answered is equal to nothing, and not less.
    "{none} = 0": False, "{none} <> 0": True, "{none} < 1": False, "{none} notcontains a": True,
    # "and" binds more than "or", "not" most.
    "{sex} = f or {sex} = m and {age} = 1": True, "({sex} = f or {sex} = m) and {age} = 1": False,
    "not {sex} = m and {age} = 18": True, "!({sex} = m || {age} = 18)": False,
    "{sex} = f && !{age} = 1": True, "NOT NOT {sex} = f": True,
    "{ sex } = 'f' AND {age}=18": True,
}  # fmt: skip


def test_conditions_hold_as_they_are_written():
    for text, expected in CONDITIONS.items():
        if expected is None:
            with pytest.raises(ValueError, match="expected a value"):
                parse_condition(text)
        else:
            assert parse_condition(text).holds(ANSWERS) is expected, text


def test_what_cannot_be_read_is_named():
    for text, message in {
        "sex = 1": "a question in braces; found 'sex'",
        "{sex}": "found the end",
        "{sex} is 1": "expected one of = <> < <= > >= contains",
        "{sex} = ": "expected a value; found the end",
        "{age} > old": "expected a number; found 'old'",
        "{sex} anyof 'f'": "expected '['; found \"'f'\"",
        "{sex} anyof ['f'": "expected ']'; found the end",
        "({sex} = f": "expected ')'; found the end",
        "{sex} = f g": "expected 'and', 'or' or the end; found 'g'",
        "{sex} = 'f": 'found "\'"',
        "{a} = 1 + 1": "found '+'",
        "iif({a} = 1, 2, 3) = 2": "found 'iif'",
        "(" * 300 + "{a} = 1": "at most 20 conditions within each other",
        "!" * 300 + "{a} = 1": "at most 20 conditions within each other",
    }.items():
        with pytest.raises(ValueError, match="expected") as caught:
            parse_condition(text)
        assert message in str(caught.value), text


def test_names_are_changed_outside_quotes_alone():
    assert with_names("{a b}='{a b}' and {c}>1", str.upper) == "{A B}='{a b}' and {C}>1"


def asking(*questions):
    names = {"name": "p", "title": "P", "consent": "Yes.", "lists": {"a": ["anything-goes"]}}
    return StudyPlan.from_record(names | {"demographics": list(questions)})


def test_a_plan_with_a_condition_that_nobody_can_meet_is_refused_or_warned_of():
    sex = {"name": "sex", "title": "Sex?", "kind": "choice", "choices": ["f|female", "m|male"]}
    why = {"name": "why", "title": "Why?", "visible_if": "{sex} = 'female'"}
    checked = check_plan(asking(sex, why))
    assert [each.where for each in checked.findings] == ["question why"]
    assert "sex is one of f, m, and never = female" in str(checked)
    assert "2 questions, 1 of which only after certain answers" in str(checked)
    with pytest.raises(ConfigError, match=r"why: visible_if .* expected an earlier question"):
        asking(why, sex)
    with pytest.raises(ConfigError, match=r"why: visible_if '{sex}': expected one of ="):
        asking(sex, why | {"visible_if": "{sex}"})
    with pytest.raises(ValueError, match="a quiz is for all"):
        Quiz(questions=(Question(**sex, answer="f"), Question(**why, answer="x")))
