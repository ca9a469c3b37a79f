"""Trial lists of the reference: read, refused with the nearest name, and as plans again."""

from __future__ import annotations

import json

import pytest

from gnomon.errors import GnomonError
from gnomon.game.formats.trial_lists import ParameterSet, _typed, read_trial_list
from gnomon.studies import StudyPlan, check_plan, read_plan
from gnomon.studies.plan.trial_list_files import trial_list_files
from gnomon.studies.plan.trial_list_plans import (
    COLUMNS,
    incentive_of,
    name_of_lists,
    trial_list_record,
)
from recorded_people import recorded

ROW = {
    "rule_id": "my/hue", "max_boards": "3", "min_points": "2", "max_points": "10", "b": "1.5",
    "min_objects": "5", "max_objects": "7", "min_shapes": "1", "max_shapes": "4",
    "min_colors": "1", "max_colors": "3", "colors": "red;blue;green", "feedback_switches": "free",
    "free_wrong_cost": "0.5", "stack_memory_depth": "6", "stack_memory_show_order": "TRUE",
    "grid_memory_show_order": "FALSE", "give_up_at": "2", "x2_after": "5", "x4_after": "10",
}  # fmt: skip
POINT_COLUMNS = ("min_points", "max_points", "max_boards")
CONDITION = "(*,*,*,[1,2,3],*)\n"


@pytest.fixture
def folder(tmp_path):
    """The reference's folder of data with a rule, a condition and two boards; returns a writer."""
    texts = {
        "rules/my/hue.txt": "(*,*,RED,*,0)\n",
        "cond/low.txt": CONDITION,
        "boards/two/b.json": board_text(8, "RED"),
        "boards/two/a.json": board_text(9, "BLUE"),
        "boards/two/order.csv": "b\na\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write(*rows, name="list_a", header=None, folder="exp"):
        columns = header or list(dict.fromkeys(key for row in rows for key in row))
        lines = [",".join(columns), *(",".join(row.get(c, "") for c in columns) for row in rows)]
        path = tmp_path / "trial-lists" / folder / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        return path.parent

    return write


def board_text(cell, color):
    x, y = (cell - 1) % 6 + 1, (cell - 1) // 6 + 1
    return json.dumps(
        {"id": 0, "value": [{"id": 0, "color": color, "shape": "STAR", "x": x, "y": y}]}
    )


def plan_of(folder):
    return read_plan(None, trial_list_record(folder), name="imported")


def test_every_column_is_in_the_plan(folder):
    plan = plan_of(folder(ROW))
    (series,) = plan.series("list_a")
    assert (series.rule, series.episodes) == ("my/hue", 3)
    assert plan.rule_texts == {"my/hue": "(*,*,RED,*,0)\n"}
    spec = series.spec()
    assert (spec.pieces, spec.shapes, spec.colors) == ((5, 7), (1, 4), (1, 3))
    assert spec.color_palette == ("RED", "BLUE", "GREEN")
    assert (series.feedback, series.pick_cost, series.give_up_at) == ("free", 0.5, 2)
    assert series.points.model_dump() == {"least": 2.0, "most": 10.0, "slope": 1.5}
    assert series.incentive.model_dump() == {"kind": "doubling", "x2": 5, "x4": 10}
    aids = {"stack": 6, "numbers": True, "cells": "tick", "attempts": False}
    assert series.memory.model_dump() == aids
    assert series.guess == "mastery"
    assert StudyPlan.from_record(json.loads(plan.model_dump_json())) == plan


def test_columns_that_are_left_out_have_the_defaults_of_the_reference(folder):
    row = {k: ROW[k] for k in ("rule_id", "max_boards", "min_points", "max_points", "b")}
    row |= {"min_objects": "4", "max_objects": "4", "feedback_switches": "freedom"}
    (series,) = plan_of(folder(row)).series("list_a")
    assert (series.feedback, series.pick_cost, series.give_up_at) == ("free", 1.0, 999)
    assert (series.incentive, series.guess) == (None, "board")
    assert (series.memory.stack, series.memory.cells) == (0, "tick")


def test_the_same_rule_again_trains_and_tests_and_series_continue(folder):
    plain = {k: v for k, v in ROW.items() if not k.startswith("x")}
    rows = [
        plain | {"condTrain": "low", "continue": "true"},
        plain | {"condTest": "low"},
    ]
    first, second = plan_of(folder(*rows)).series("list_a")
    assert (first.train, first.test, first.continues) == (CONDITION, "", True)
    assert (second.train, second.test, second.rule) == ("", CONDITION, "my/hue")


@pytest.mark.parametrize(
    ("order", "cells", "kept"),
    [("alpha", [9, 8], "listed"), ("random", [9, 8], "random"), ("order.csv", [8, 9], "listed")],
)
def test_given_boards_come_in_their_order(folder, order, cells, kept):
    row = {k: v for k, v in ROW.items() if not k.startswith(("min_o", "max_o", "min_s", "max_s"))}
    row = {k: v for k, v in row.items() if k not in ("min_colors", "max_colors", "colors")}
    row |= {"initial_boards": "two", "initial_boards_order": order}
    (series,) = plan_of(folder(row)).series("list_a")
    assert [board[0].cell for board in series.given] == cells
    assert series.order == kept


@pytest.mark.parametrize(
    ("name", "cells", "partner"),
    [
        ("coop.a", {"chat": "TRUE"}, {"play": "cooperative", "kind": "person", "chat": True}),
        (
            "adve.a",
            {"bot": "pseudo", "pseudo_halftime": "4"},
            {"play": "adversarial", "kind": "bot"},
        ),
    ],
)
def test_lists_for_two_are_read_and_written(folder, tmp_path, name, cells, partner):
    rows = [ROW | cells, ROW]
    plan = plan_of(folder(*rows, folder=name))
    series = plan.series("list_a")
    for each in series:
        assert each.partner.model_dump(include=set(partner)) == partner
    assert series[0].partner.bot.halftime == (4.0 if "bot" in cells else 8.0)
    written = trial_list_files(plan)
    (path,) = (each for each in written if each.endswith("list_a.csv"))
    assert path == f"trial-lists/{name[:5]}imported/list_a.csv"
    for each, text in written.items():
        (tmp_path / "out" / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / each).write_text(text)
    again = trial_list_record((tmp_path / "out" / path).parent, tmp_path)
    assert read_plan(None, again, name="imported").series("list_a") == series
    # What a list has no column for is the plan's.
    defaults = {"defaults": {"partner": {"wait_s": 20}}}
    waiting = read_plan(None, trial_list_record(folder(*rows, folder=name)) | defaults, name="w")
    assert waiting.series("list_a")[0].partner.wait_s == 20
    assert waiting.series("list_a")[0].partner.play == partner["play"]


def test_the_screens_of_two_begin_with_a_waiting_room():
    record = {
        "name": "two", "title": "Two", "consent": "Yes.",
        "lists": {"a": ["clockwise", "clockwise"], "b": ["clockwise", "clockwise"]},
        "defaults": {"partner": {"otherwise": "leave", "chat": True}},
    }  # fmt: skip
    found = check_plan(StudyPlan.from_record(record))
    screens = [screen for screen in found.screens if screen.rule_list == "a"]
    assert [screen.kind for screen in screens] == [
        *("consent", "waiting room", "series", "series", "end"),
    ]
    assert "up to 300 s for a partner" in screens[1].text
    assert "cooperative turns with a person, chat" in screens[2].text
    told = " ".join(each.message for each in found.findings)
    assert "only people of one list are paired, and there are 2 lists" in told
    assert "nothing is given to who finds no partner" in told


def test_who_a_list_lacks_is_read(folder):
    place = folder(ROW)
    folder(ROW, name="list_b")
    (place / "defect.csv").write_text("list_a,2\nlist_b,-1\n")
    assert plan_of(place).already == {"list_a": 2, "list_b": -1}
    (place / "defect.csv").write_text("list_x,2\n")
    with pytest.raises(GnomonError, match="unknown list 'list_x'; did you mean"):
        trial_list_record(place)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x2_aftr": "5"}, "unknown column 'x2_aftr'; did you mean 'x2_after'"),
        ({"x2_aftr": "5", "no": "1"}, "'x2_aftr'; did you mean 'x2_after'.* unknown column 'no';"),
        ({"grid_memory_show_cd order": "1"}, "unknown column 'grid_memory_show_cd order'"),
        ({"max_boards": "-1"}, "field 'max_boards': expected"),
        ({"max_boards": ""}, "field 'max_boards': expected a whole number from 0, found nothing"),
        ({"stack_memory_show_order": "yes"}, "expected true or false, found 'yes'"),
        ({"feedback_switches": ""}, "field 'feedback_switches': expected a value"),
        ({"x2_after": ""}, "field 'x2_after': expected with 'x4_after'"),
        (
            {"activate_bonus_at": "2"},
            "expected one incentive, found activate_bonus_at and x2_after",
        ),
        ({"images": "*.png"}, "shapes: no picture is called"),
        ({"bot": "pseudo"}, "a folder whose name begins with coop. or adve.; found exp"),
        ({"bot_assist": "wise"}, "field 'bot_assist': expected pseudo"),
        ({"rule_id": "nowhere"}, "row 1: nowhere: there is no such file in rules/ of"),
        ({"initial_boards": "two"}, "expected no numbers of objects"),
        ({"condTrain": "none"}, "none: there is no such file"),
    ],
)
def test_what_is_wrong_is_named(folder, change, message):
    with pytest.raises(GnomonError, match=message):
        trial_list_record(folder(ROW | change))


def test_a_header_that_would_be_lost_is_refused(folder):
    place = folder(ROW)
    path = place / "list_a.csv"
    path.write_text("#" + path.read_text())
    with pytest.raises(GnomonError, match="take the '#' away"):
        trial_list_record(place)
    path.write_text("# two rules\n\n" + path.read_text()[1:])
    trial_list_record(place)


def test_the_recorded_incentives_are_those_of_the_reference():
    for record in recorded("incentives"):
        pairs = [cell.split(",") for cell in record["columns"].split(";") if cell]
        row = ParameterSet("row 1", rule_id="x", others={k: _typed(v) for k, v in pairs})
        try:
            found = incentive_of(row)
        except GnomonError:
            # Where the reference's own check complains, or where it silently sees none.
            assert record["check"] != "ok" or record["incentive"] is None, record
            continue
        assert record["check"] == "ok", record
        assert (found or {"kind": None})["kind"] == (record["incentive"] or "").lower() or None


def test_the_recorded_cells_are_of_the_types_of_the_reference():
    """Numbers that are text there, and then fail in silence, are numbers here or are refused."""
    kinds = {"Boolean": bool, "Integer": int, "Double": float, "String": str}
    for record in recorded("cells"):
        kind, _, text = record["value"].partition(":")
        ours = _typed(record["cell"])
        if record["cell"] in ("-1", "1e6"):
            assert (kind, ours) == ("String", float(text))
            row = ParameterSet("row 1", others={"x2_likelihood": ours, "x4_likelihood": 10**7})
            with pytest.raises(GnomonError, match="'x2_likelihood': expected a whole number"):
                incentive_of(row)
            continue
        assert type(ours) is kinds[kind], record
        assert str(ours).lower() == text.lower(), record


def test_modifiers_stand_in_place_of_the_columns_of_each_row(folder, tmp_path):
    lists = folder(ROW, ROW | {"max_boards": "5"})
    for name, text in (
        ("more", "max_objects,colors,feedback_switches,free_wrong_cost\n9,red;blue;black,fixed,\n"),
        ("whole", ",".join(ROW) + "\n" + ",".join(["", *list(ROW.values())[1:]]) + "\n"),
        ("two", "max_boards\n1\n2\n"),
        ("odd", "max_bords\n1\n"),
    ):
        path = tmp_path / "modifiers" / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    plan = read_plan(None, trial_list_record("P:exp:more", tmp_path), name="modified")
    first, second = plan.series("list_a")
    assert (first.episodes, second.episodes) == (3, 5)
    for series in (first, second):
        assert series.spec().pieces == (5, 9), "a column that the modifier leaves out stays"
        assert series.spec().color_palette == ("RED", "BLUE", "BLACK")
        assert (series.feedback, series.pick_cost) == ("fixed", None)
    (alone,) = read_plan(None, trial_list_record("R:my/hue:whole", tmp_path), name="r").series(
        "hue"
    )
    assert alone == plan_of(lists).series("list_a")[0]
    names = [name_of_lists(place) for place in (lists, "P:exp/one:more", "R:my/hue:max.csv")]
    assert names == ["exp", "one-more", "hue-max"]
    for place, message in (
        ("P:exp", "expected P:FOLDER:MODIFIER, found 'P:exp'"),
        ("R:my/hue:two", "expected one row of parameters, found 2"),
        ("P:exp:odd", r"odd\.csv, header: unknown column 'max_bords'; did you mean 'max_boards'"),
        ("P:exp:none", "none: there is no such file"),
    ):
        with pytest.raises(GnomonError, match=message):
            trial_list_record(place, tmp_path)


def test_a_rule_that_does_not_parse_is_named_with_its_file_and_line(folder, tmp_path):
    (tmp_path / "rules/my/hue.txt").write_text("# mine\n(*,*,RED,*,0)\n(*,*,RED\n")
    with pytest.raises(GnomonError, match=r"hue\.txt, line 3, column 9: expected ',' or '\)'"):
        plan_of(folder(ROW))
    (tmp_path / "plan.toml").write_text(
        'name = "p"\ntitle = "P"\nconsent = "C"\n[lists]\na = ["rules/my/hue.txt"]\n'
    )
    with pytest.raises(GnomonError, match=r"rules/my/hue\.txt, line 3"):
        read_plan(tmp_path / "plan.toml")
    plan = StudyPlan(name="p", title="P", consent="C", lists={"a": ["x"]}, rule_texts={"x": "(*,*"})
    (error,) = [found for found in check_plan(plan).findings if found.severity == "error"]
    assert error.where == "rule x, line 1"


def test_the_check_lists_every_screen_and_what_is_odd(folder):
    row = ROW | {"x4_after": "50", "b": "1.5"}
    plan = plan_of(folder(row))
    found = check_plan(plan)
    assert [screen.kind for screen in found.screens] == ["consent", "series", "guess", "end"]
    assert found.screens[1].most_points == 4 * 3 * 10
    assert "memory: 6 pieces beside a bucket by number and ticks" in found.screens[1].text
    messages = [finding.message for finding in found.findings]
    assert any("mastery needs 50 moves in a row, all boards have 21 pieces" in m for m in messages)
    assert not found.passes


def test_the_check_finds_every_error_and_not_the_first_alone():
    teal = {"color_palette": ["TEAL"], "colors": 1}
    reds = {"rule": "mine", "board": {"color_palette": ["RED", "TEAL"], "colors": 2}}
    plan = StudyPlan(
        name="p",
        title="P",
        consent="See ![it](missing.png)",
        rule_texts={"mine": "(*,*,red,*,0) (*,*,[blue,teal],*,this.seq)"},
        lists={"a": ["clokwise", {"rule": "clockwise", "board": teal}, reds], "b": ["clockwise"]},
    )
    messages = " ".join(finding.message for finding in check_plan(plan).findings)
    for expected in (
        "unknown rule 'clokwise'; did you mean 'clockwise'",
        "no browser draws the colour TEAL",
        "no piece of the usual kind has the color 'blue'",
        "no piece has the property 'seq', so 'this.seq' never has a value",
        "3 of 3 boards tried got stuck",
        "no picture 'missing.png'",
    ):
        assert expected in messages
    assert "a has up to" in messages or "b has up to" in messages


def test_series_without_points_are_read_back_without(folder):
    plan = plan_of(
        folder({k: v for k, v in ROW.items() if k not in ("min_points", "max_points", "b")})
    )
    (series,) = plan.series("list_a")
    assert series.points is None
    (text,) = trial_list_files(plan).values()
    assert "points" not in text
    with pytest.raises(GnomonError, match="field 'max_points': expected a number, found nothing"):
        plan_of(folder({k: v for k, v in ROW.items() if k != "max_points"}))


def test_the_columns_are_told_apart():
    assert len(set(COLUMNS)) == len(COLUMNS)


def test_rows_are_those_of_the_reader(folder):
    (row,) = read_trial_list(folder(ROW) / "list_a.csv")
    assert incentive_of(row) == {"kind": "doubling", "x2": 5, "x4": 10}


def test_lists_are_written_and_read_back(folder, tmp_path):
    plain = {k: v for k, v in ROW.items() if not k.startswith("x")}
    board = [k for k in ROW if k.startswith(("min_", "max_")) and k not in POINT_COLUMNS]
    given = {k: v for k, v in plain.items() if k not in (*board, "colors")}
    bonus = {"activate_bonus_at": "2", "clear_how_many": "3", "bonus_extra_pts": "9"}
    rows = [
        ROW,
        plain | {"condTrain": "low", "continue": "true"},
        plain | {"bot_assist": "pseudo", "pseudo_halftime": "4.0", "pseudo_init_error_rate": "1"},
        plain | bonus | {"clearing_threshold": "1.5", "feedback_switches": "fixed"},
        given | {"initial_boards": "two", "initial_boards_order": "order.csv"},
        given | {"x2_likelihood": "100", "x4_likelihood": "10000"}
        | {"initial_boards": "two", "initial_boards_order": "random"},
    ]  # fmt: skip
    place = folder(*rows)
    (place / "defect.csv").write_text("list_a,-3\n")
    plan = plan_of(place)
    out = tmp_path / "out"
    texts = {f"rules/{name}.txt": text for name, text in plan.rule_texts.items()}
    for name, text in (trial_list_files(plan) | texts).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    again = plan_of(out / "trial-lists" / "imported")
    assert again.series("list_a") == plan.series("list_a")
    assert (again.already, again.rule_texts) == (plan.already, plan.rule_texts)


def test_the_check_deals_the_boards_of_each_series_of_a_rule():
    impossible = {"rule": "clockwise", "train": "(*,*,*,*,*)"}
    record = {"name": "p", "title": "P", "consent": "Yes.", "lists": {"a": ["clockwise"] * 2}}
    assert check_plan(StudyPlan.from_record(record)).passes
    record["lists"] = {"a": ["clockwise", impossible]}
    (error,) = check_plan(StudyPlan.from_record(record)).findings
    assert (error.severity, error.where) == ("error", "a, series 2")
