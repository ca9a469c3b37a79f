"""The plan of a study: read, checked, and refused with the field that is wrong."""

from __future__ import annotations

import json
import tomllib

import pytest

from gnomon.errors import GnomonError
from gnomon_board.studies import StudyPlan, read_plan
from gohr.errors import ConfigError
from gohr.rules import load_rule_text

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
        ('name = "a pilot!"', "field 'name': 'a pilot!': expected letters"),
        ("episodes = 0", "field 'episodes'"),
        ("lists = {}", "field 'lists'"),
        ('lists = {"=cmd" = ["clockwise"]}', "'=cmd': expected letters"),
        ("lists = {a = []}", "field 'lists.a': Tuple should have at least 1 item"),
        ('lists = {a = [{rule = "x", epsodes = 3}]}', "did you mean 'episodes'?"),
        ("guess = 3", "unknown field 'guess'; known: board, consent, debrief, defaults, "),
        ('lists = {board = [{rule = "x", title = 3}]}', "unknown field 'title'; known: board, ep"),
        ("recruitment = {left = {rule = 3}}", "unknown field 'rule'; known: code, url"),
        (
            'lists = {a = [{rule = "x", guess = "mastery"}]}',
            "expected a number of successes for",
        ),
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
        StudyPlan.from_record(tomllib.loads("\n".join(whole.values())))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file_or_no_toml_is_said(tmp_path):
    with pytest.raises(GnomonError, match="cannot read this plan"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "plan.toml").write_text("name = ")
    with pytest.raises(ConfigError, match="not a TOML file"):
        read_plan(tmp_path / "plan.toml")


def test_files_that_a_plan_names_stand_in_it(tmp_path):
    (tmp_path / "page.md").write_text("Read *this*. ![A dot](dot.png)")
    (tmp_path / "mine.txt").write_text("(*,*,*,*,0)")
    board = [{"id": 0, "color": "RED", "shape": "STAR", "x": 1, "y": 6}]
    (tmp_path / "board.json").write_text(json.dumps({"id": 0, "value": board}))
    (tmp_path / "dot.png").write_bytes(b"\x89PNG")
    text = PLAN.replace('"You may stop at any time."', '"page.md"').replace(
        'a = ["clockwise", "color-match"]',
        'a = [{rule = "mine.txt", given = ["board.json"]}]',
    )
    path = tmp_path / "plan.toml"
    path.write_text(text)
    plan, dot = read_plan(path), "data:image/png;base64,iVBORw=="
    assert plan.consent == f"Read *this*. ![A dot]({dot})"
    assert plan.rule_texts == {"mine": "(*,*,*,*,0)"}
    (series,) = plan.lists["a"]
    assert (series.rule, series.given[0][0].cell) == ("mine", 31)
    (tmp_path / "page.md").write_text("![A page](page.md)")
    with pytest.raises(ConfigError, match="expected a picture"):
        read_plan(path)


@pytest.fixture
def checked(command, tmp_path):
    """Check a plan of one series on a rule of its own; return the status and the findings."""

    def run(rule, **fields):
        (tmp_path / "mine.txt").write_text(rule)
        given = "".join(f", {name} = {text}" for name, text in fields.items())
        plan = (
            f'name = "p"\ntitle = "P"\nconsent = "Yes."\nlists.a = [{{rule = "mine.txt"{given}}}]'
        )
        (tmp_path / "plan.toml").write_text(plan)
        told = command("gnomon-board study check plan.toml --json")
        records = json.loads(told.out)["results"]
        return told.status, [each for each in records if each["record"] == "finding"]

    return run


RED = {"id": 0, "color": "RED", "shape": "STAR", "x": 1, "y": 1}
BLUE = {"id": 1, "color": "BLUE", "shape": "STAR", "x": 2, "y": 2}


@pytest.mark.parametrize("tags", ["", "# tags: can-stall\n"])
def test_a_board_that_cannot_be_cleared_is_an_error(checked, tmp_path, tags):
    """The fourth of four given boards counts as well."""
    for k in range(1, 5):
        board = {"id": 0, "value": [RED] if k < 4 else [RED, BLUE]}
        (tmp_path / f"{k}.json").write_text(json.dumps(board))
    given = ["1.json", "2.json", "3.json", "4.json"]
    _, [found] = checked(f"{tags}(*, *, red, *, 0)", given=given, episodes=4)
    assert (found["severity"], found["where"]) == ("error", "a, series 1")
    assert "board 4 cannot be cleared" in found["message"]
    assert "left at least 1 piece" in found["message"]


def test_mastery_that_cannot_be_reached_is_a_warning(checked):
    status, [found] = checked("(*,*,*,*,*)", mastery=500, episodes=1)
    assert (status, found["severity"]) == (0, "warning")
    assert found["message"] == "mastery needs 500 successes in a row; all boards have 9 pieces"


def test_a_board_that_can_get_stuck_is_a_warning_unless_the_rule_means_it(checked):
    rule = load_rule_text("one-color-a-bucket")
    assert "can-stall" in rule
    assert checked(rule)[0] == 0
    status, [found] = checked(rule.replace("can-stall", ""))
    assert (found["severity"], "got stuck" in found["message"]) == ("warning", True)
    assert status == 0
