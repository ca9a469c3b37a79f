"""The plan of a study: read, checked, and refused with the field that is wrong."""

from __future__ import annotations

import pytest

from gnomon.errors import ConfigError, GnomonError
from gnomon.studies import StudyPlan, read_plan

PLAN = """
name = "pilot"
title = "A pilot"
consent = "You may stop at any time."
episodes = 4
[board]
pieces = [5, 9]
shapes = 4
[lists]
a = ["clockwise", "color-match"]
b = ["color-match", "clockwise"]
"""


def test_a_plan_is_read(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    plan = read_plan(path)
    assert (plan.name, plan.episodes, plan.rules) == ("pilot", 4, ("clockwise", "color-match"))
    assert plan.board.spec().pieces == (5, 9)
    assert StudyPlan.from_record(plan.model_dump(mode="json")) == plan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('name = "a pilot!"', "field 'name': expected letters, digits"),
        ("episodes = 0", "field 'episodes'"),
        ("lists = {}", "field 'lists'"),
        ('lists = {"=cmd" = ["clockwise"]}', "field 'lists': '=cmd': expected letters"),
        ("lists = {a = []}", "expected 1 to 50 rules, found 0"),
        ('lists = {a = [{rule = "x", epsodes = 3}]}', "did you mean 'episodes'?"),
        ('lists = {a = [{rule = "x", continues = true}]}', "the last series cannot continue"),
        ('lists = {a = [{rule = "x", guess = "mastery"}]}', "expected an incentive that ends"),
        ('language = "tlh"', "expected one of de, en"),
        ("already = {b = 2}", "there is no list 'b'"),
        ('rule_texts = {"../x" = "(*,*,*,*,*)"}', "'../x': expected letters"),
        ("colour = 3", "field 'colour'"),
        ('recruitment = {finished = {url = "https://{PID}/done"}}', "field 'recruitment.finished"),
        ('recruitment = {finished = {url = "javascript:alert(1)"}}', "field 'recruitment.finished"),
        ('recruitment = {finished = {url = "//evil.example"}}', "field 'recruitment.finished"),
        ("board = {pieces = 99}", "pieces: expected between 1 and 36"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    key = change.partition(" ")[0]
    whole = {"name": 'name = "x"', "title": 'title = "x"', "consent": 'consent = "x"'}
    whole["lists"] = 'lists = {a = ["clockwise"]}'
    whole[key] = change
    with pytest.raises(ConfigError, match="study plan: ") as caught:
        StudyPlan.from_toml("\n".join(whole.values()))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file_or_no_toml_is_said(tmp_path):
    with pytest.raises(GnomonError, match="cannot read this plan"):
        read_plan(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="expected TOML"):
        StudyPlan.from_toml("name = ")
