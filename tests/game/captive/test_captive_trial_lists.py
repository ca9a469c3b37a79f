"""Trial lists and modifiers."""

from __future__ import annotations

import pytest

from gnomon.errors import GnomonError
from gnomon.game.formats.trial_lists import ParameterSet, read_trial_list


def read(path, text):
    path = path / "list.csv"
    path.write_text(text, encoding="utf-8")
    return read_trial_list(path)


def test_every_column(tmp_path):
    one, two = read(
        tmp_path,
        "rule_id,min_objects,max_objects,min_shapes,max_shapes,max_colors,shapes,colors,images,"
        "crowded,condTrain,condTest,initial_boards,initial_boards_order,b,feedback_switches,continue\n"
        "# a comment\n\n"
        "x/y,3,5,0,2,4,heart; sun,,a/*.png;b,TRUE,c.txt,,set,alpha,1.5,fixed,false\n"
        "x/z,,7\n",
    )
    assert one == ParameterSet(
        one.where,
        rule_id="x/y",
        pieces=(3, 5),
        shapes=(0, 2),
        colors=(4, 4),
        shape_palette=("HEART", "SUN"),
        images=("a/*.png", "b"),
        crowded=True,
        cond_train="c.txt",
        initial_boards="set",
        initial_boards_order="alpha",
        others={"b": 1.5, "feedback_switches": "fixed", "continue": False},
    )
    assert one.where.endswith("list.csv, row 1")
    assert (two.rule_id, two.pieces, two.shapes, two.others) == ("x/z", (7, 7), None, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "list.csv: expected a header line and rows of parameters; found none"),
        ("a,b,a\n", "header: expected different names of columns, found 'a' twice"),
        ("a,,b\n", "header: expected different names of columns, found none for column 2"),
        ("rule_id\nx\ny,z\n", "list.csv, row 2: expected 1 fields, found 2"),
        ("min_objects\n5\nfive\n", "row 2, field 'min_objects': expected a number from 0, found"),
        ("max_shapes\n-1\n", "row 1, field 'max_shapes': expected a number from 0, found '-1'"),
        ("crowded\nyes\n", "row 1, field 'crowded': expected true or false, found 'yes'"),
        ("max_points\nmany\n", "row 1, field 'max_points': expected a number, found 'many'"),
        ("x2_after\ntrue\n", "row 1, field 'x2_after': expected a number, found 'true'"),
    ],
)
def test_what_is_wrong(tmp_path, text, message):
    with pytest.raises(GnomonError, match=message):
        read(tmp_path, text)


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "list.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(GnomonError, match="expected UTF-8 text"):
        read_trial_list(tmp_path / "list.csv")
    with pytest.raises(GnomonError, match="cannot read this file"):
        read_trial_list(tmp_path / "no.csv")
