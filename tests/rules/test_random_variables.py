"""Templates of the reference's generator: what is drawn where, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from gnomon.cli import app
from gnomon.errors import GnomonError
from gnomon.rules import draw_rules, parse, read_value_sets

SETS = read_value_sets('# ours\nXn,"[1..3]"\nXb,"(0,2)"\nX7,Triangle\nseq,5\n')


def drawn(template, n=1, seed=0, **options):
    return draw_rules(template, n, rng=np.random.default_rng(seed), value_sets=SETS, **options)


def test_sets_of_all_forms():
    assert SETS == {
        "Xn": ("1", "2", "3"), "Xb": ("0", "2"), "X7": ("Triangle",), "seq": ("5",),
    }  # fmt: skip
    for text, message in (
        ("Xn", "line 1: expected a name and a set, found 1 fields"),
        ("Xn,()", r"line 1: expected values of 'Xn', once; found an empty set '\(\)'"),
        ("Xn,1\nXn,2", "line 2: expected values of 'Xn', once; found it again"),
    ):
        with pytest.raises(GnomonError, match=message):
            read_value_sets(text)


def test_each_field_has_its_values():
    seen = {}
    for rule in drawn("Xn (Xn,X,X,X,[X]) (shape:X7, seq:X, bucket:[p+Xb], color:[X,X], pos:X)", 40):
        for name, value in rule.values.items():
            seen.setdefault(name, set()).add(value)
        assert str(parse(rule.text))
    assert seen["Xn"] == seen["Xn#2"] == {"1", "2", "3"}
    assert seen["X"] == {"SQUARE", "STAR", "CIRCLE", "TRIANGLE"}
    assert seen["X#2"] == seen["X#6"] == {"RED", "BLACK", "BLUE", "YELLOW"}
    assert "L1" in seen["X#3"]
    assert seen["X#4"] == {"0", "1", "2", "3"}
    assert (seen["X7"], seen["X#5"], seen["Xb"]) == ({"Triangle"}, {"5"}, {"0", "2"})


def test_the_same_seed_draws_the_same_rules_and_none_twice():
    template = "(*,X,*,*,[X])"
    rules = drawn(template, 10)
    assert rules == drawn(template, 10)
    assert len({rule.text for rule in rules}) == 10
    assert [rule.text for rule in rules] != [rule.text for rule in drawn(template, 10, seed=1)]
    with pytest.raises(GnomonError, match="expected 3 rules of 30 candidates, found 2"):
        drawn("(*,*,*,*,Xb)", 3)
    kept = drawn("(*,*,*,*,Xb)", accepts=lambda rule: "2" in str(rule))
    assert kept[0].text == "(*,*,*,*,2)"


def test_what_has_no_values_is_refused():
    for template, message in (
        ("(*,*,*,*,1)", "names that begin with X in the template, found none"),
        ("(X,*,*,*,1)", "expected values of 'X' in the parameters, or of its field 'count'"),
    ):
        with pytest.raises(GnomonError, match=message):
            drawn(template)


def test_the_verb_draws_rules_that_do_not_get_stuck(tmp_path):
    (tmp_path / "t.txt").write_text("(*,X,*,*,[X]) (*,*,*,*,[Xb])\n")
    (tmp_path / "sets.csv").write_text('Xb,"(0,2)"\n')
    command = f"rules generate {tmp_path}/t.txt -n 3 --parameters {tmp_path}/sets.csv --json"
    found = json.loads(CliRunner().invoke(app, command.split()).stdout)["results"]
    assert [rule["name"] for rule in found] == ["t-1", "t-2", "t-3"]
    assert set(found[0]["values"]) == {"X", "X#2", "Xb"}
    stuck = CliRunner().invoke(app, f"rules generate {tmp_path}/t.txt --seed 1".split())
    assert "are for drawn rules; add --number" in str(stuck.exception)
    (tmp_path / "t.txt").write_text("(*,X,*,*,[X])\n")
    stuck = CliRunner().invoke(app, f"rules generate {tmp_path}/t.txt -n 1".split())
    assert "t.txt: expected 1 rules of 10 candidates, found 0" in str(stuck.exception)
