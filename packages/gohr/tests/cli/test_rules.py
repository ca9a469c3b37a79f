"""``gohr rules``: list, show, check, draw, equivalent."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gohr import find_stalemate
from gohr.rules import available_templates, load_rule_text, parse

TWO_LINES = "(1,*,*,*,0)\n(1,*,*,*,1)\n"
STUCK = "(*,[star,circle,square],*,*,0)\n"


def test_list(command):
    said = command("gohr rules list")
    assert (said.status, said.err) == (0, "")
    assert "clockwise" in said.out
    rules = command("gohr rules list --family sequence --json").results
    assert list(rules[0]) == ["name", "family", "tags", "title"]
    assert {rule["family"] for rule in rules} == {"sequence"}


def test_show_gives_the_text_and_the_words(command, tmp_path):
    said = command("gohr rules show clockwise")
    text = load_rule_text("clockwise")
    assert said.out.startswith(text.rstrip() + "\n\nLine 1: once, any piece may go")
    (rule,) = command("gohr rules show clockwise --json").results
    assert (rule["name"], rule["family"], rule["text"]) == ("clockwise", "sequence", text)
    assert rule["words"] in said.out
    (tmp_path / "mine.txt").write_text(text)
    assert command("gohr rules show mine.txt").out == said.out


def test_what_a_file_says_to_the_terminal_is_shown_and_not_done(command, tmp_path):
    text = '# a comment\x1b[2J\n(1, star, "a b", T, p+1) # so\n'
    (tmp_path / "mine.txt").write_text(text)
    said = command("gohr rules show mine.txt").out
    assert said.startswith(text.replace("\x1b", "\\x1b"))


def test_check_of_what_is_well(command, tmp_path):
    (tmp_path / "good.txt").write_text(TWO_LINES)
    said = command("gohr rules check good.txt --states 0")
    assert said == (0, "good.txt: 2 lines, nothing wrong\n", "")
    said = command("gohr rules check good.txt clockwise --states 50")
    searched = str(find_stalemate(parse(TWO_LINES), max_states=50))
    assert said.out.splitlines()[0] == f"good.txt: 2 lines, nothing wrong; {searched}"
    assert (said.status, len(said.out.splitlines())) == (0, 2)
    assert command("gohr rules check good.txt --json").results == []
    (tmp_path / "noted.txt").write_text("# tags: countt\n" + TWO_LINES)
    said = command("gohr rules check noted.txt --states 50")
    assert (said.status, said.out.splitlines()[-1]) == (0, f"noted.txt: {searched}")


def test_check_of_what_does_not_parse(command, tmp_path):
    (tmp_path / "bad.txt").write_text("(*,*,*,*,0\n")
    said = command("gohr rules check bad.txt")
    assert said.status == 1
    assert said.out.splitlines()[0].startswith("bad.txt, line 1, column 11: error: expected ")
    assert said.out.splitlines()[1:] == ["  (*,*,*,*,0", "            ^"]
    (finding,) = command("gohr rules check bad.txt --json").results_with(status=1)
    assert list(finding) == ["file", "line", "column", "severity", "message", "remedy"]
    assert (finding["file"], finding["line"], finding["column"]) == ("bad.txt", 1, 11)
    assert finding["severity"] == "error"


def test_check_finds_what_is_not_meant(command, tmp_path):
    (tmp_path / "bad.txt").write_text("# mine\n(*,*,*,Furthest,near)\n")
    findings = command("gohr rules check bad.txt --json").results_with(status=1)
    assert [(f["line"], f["column"], f["severity"]) for f in findings] == [
        (2, 1, "warning"),
        (2, 8, "error"),
        (2, 17, "warning"),
    ]
    assert findings[1]["remedy"] == "write 'Farthest'"
    # An order that is not there would stop the search, which is left out then.
    assert "stalemate" not in command("gohr rules check bad.txt").out


def test_check_draws_the_smallest_board_on_which_a_rule_gets_stuck(command, tmp_path):
    (tmp_path / "stuck.txt").write_text(STUCK)
    said = command("gohr rules check stuck.txt")
    assert said.status == 1
    lines = said.out.splitlines()
    assert lines[0].startswith("stuck.txt, line 1, column 1: warning: the rule can get stuck; ")
    assert "red triangle in cell 1" in lines[0]
    assert lines[9] == "    1 | ▲red  .    .    .    .    .   |"
    assert command("gohr rules check stuck.txt --states 0").status == 0


def test_a_stalemate_that_is_meant_is_but_a_note(command, tmp_path):
    (tmp_path / "meant.txt").write_text("# tags: can-stall\n" + STUCK)
    (finding,) = command("gohr rules check meant.txt --json").results
    assert (finding["line"], finding["severity"]) == (2, "note")


def test_a_board_of_pieces_that_the_palettes_lack_is_drawn_too(command, tmp_path):
    (tmp_path / "ducks.txt").write_text("(*,[duck,hat],[pink,red],*,0) (1,duck,pink,*,1)\n" * 2)
    (tmp_path / "stuck.txt").write_text("(*,duck,[pink,red],*,0)(*,hat,pink,*,0)\n")
    said = command("gohr rules check stuck.txt ducks.txt --states 100")
    assert "red hat in cell 1" in said.out
    assert "Hred" in said.out


def test_rules_on_properties_are_not_searched(command, tmp_path):
    (tmp_path / "size.txt").write_text("(size:[1..3], bucket:0)\n")
    (finding,) = command("gohr rules check size.txt --json").results_with(status=1)
    assert finding["message"].startswith("no piece has the property 'size'")


def test_the_others_are_checked_if_one_cannot_be_read(command, tmp_path):
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large.txt").write_bytes(b"#" * 1_000_001)
    (tmp_path / "good.txt").write_text("(*,*,*,*,0)\n")
    names = ["binary.txt", "large.txt", "none.txt", ".", "", "x" * 300, "good.txt"]
    said = command("gohr", "rules", "check", "--states", "0", *names)
    assert (said.status, said.out) == (2, "good.txt: 1 line, nothing wrong\n")
    errors = said.err.splitlines()
    assert errors[0] == "gohr: binary.txt: expected UTF-8 text, found byte 0xff at offset 0"
    assert errors[1] == "gohr: large.txt: expected a rule file of at most 1,000,000 bytes"
    assert errors[2].startswith("gohr: unknown rule or file 'none.txt'; ")
    assert errors[3] == "gohr: .: cannot read this rule file: Is a directory"
    assert len(errors) == 6
    said = command("gohr", "rules", "check", "--json", *names[:3])
    assert said.status == 2
    assert len(json.loads(said.out)["warnings"]) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(command, tmp_path):
    (tmp_path / "secret.txt").write_text("(*,*,*,*,0)\n")
    (tmp_path / "secret.txt").chmod(0)
    said = command("gohr rules check secret.txt")
    assert said.err == "gohr: secret.txt: cannot read this rule file: Permission denied\n"


def test_generate_without_a_template_lists_them(command):
    templates = command("gohr rules draw --json").results
    assert [each["template"] for each in templates] == list(available_templates())
    assert (templates[-1]["template"], templates[-1]["rules"]) == ("step", 12)
    assert "cycle-of-two" in command("gohr rules draw").out
    assert command("gohr rules draw --out x").status == 2


def test_generate_prints_or_writes_the_rules(command, tmp_path):
    said = command("gohr rules draw step")
    assert said.out.startswith("## p-plus-0\n# title: p plus 0\n")
    rules = command("gohr rules draw step --json").results
    assert list(rules[0]) == ["name", "text", "values"]

    said = command("gohr rules draw step --out new/family")
    assert said == (0, "12 rules written to new/family\n", "")
    files = sorted((tmp_path / "new" / "family").iterdir())
    assert [(f.stem, f.read_text()) for f in files] == sorted((r["name"], r["text"]) for r in rules)
    assert command("gohr", "rules", "check", "--states", "0", *map(str, files)).status == 0


def test_generate_replaces_nothing(command, tmp_path):
    (tmp_path / "family").mkdir()
    said = command("gohr rules draw step --out family")
    said.assert_refused("family: expected a new folder, found an existing one")
    assert not list((tmp_path / "family").iterdir())


BAD_TEMPLATES = [
    ("# name: ../{a}\n# vary a: 1\n(*,*,*,*,{a})\n", "expected a name for a file in '# name:'"),
    ("# name: .{a}\n# vary a: 1\n(*,*,*,*,{a})\n", "expected a name for a file in '# name:'"),
    ("(*,*,*,*,{b})\n", "expected values for {b}, found none"),
]


@pytest.mark.parametrize(("text", "message"), BAD_TEMPLATES)
def test_bad_templates_write_nothing(command, tmp_path, text, message):
    (tmp_path / "bad.txt").write_text(text)
    said = command("gohr rules draw bad.txt --out family")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"gohr: {message}")
    assert not (tmp_path / "family").exists()


def test_a_file_is_no_folder_to_write_to(command, tmp_path):
    (tmp_path / "file.txt").write_text("mine")
    for place in ("file.txt", "file.txt/below"):
        command(f"gohr rules draw step --out {place}").assert_refused("gohr: file.txt")


def test_equivalent_compares_two_rules(command):
    Path("mine.txt").write_text(load_rule_text("clockwise").replace(", ", ","))
    said = command("gohr rules equivalent clockwise mine.txt")
    assert (said.status, said.out) == (0, "equivalent: their tables are identical\n")
    said = command("gohr rules equivalent clockwise color-match --json")
    (found,) = said.results_with(status=1)
    assert (found["equivalent"], found["exact"]) == (False, True)
    assert command("gohr rules equivalent clockwise nowhere").status == 2
