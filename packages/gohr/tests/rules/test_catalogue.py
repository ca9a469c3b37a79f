import contextlib
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import GnomonError, UnknownNameError
from gohr.errors import RuleSyntaxError
from gohr.rules import (
    FAMILIES,
    TAGS,
    available_rules,
    load_rule,
    load_rule_text,
    parse,
    resolve_rule,
    rule_info,
)

PAPER = ["b23-then-b01", "b3-then-b1", "clockwise", "color-match"]


def test_every_rule_of_the_library_parses_and_says_what_it_is() -> None:
    for name in available_rules():
        rule_set, info = load_rule(name), rule_info(name)
        assert parse(str(rule_set)) == rule_set
        assert (info.name, info.sentence[-1]) == (name, ".")
        assert info.title
        assert info.family in FAMILIES
        tags = set(info.tags)
        assert tags <= set(TAGS)
        assert sum(tag.endswith(("-bucket", "-buckets")) for tag in tags) == 1
        atoms = [atom for line in rule_set.lines for atom in line.atoms]
        counts = [each.count for each in (*atoms, *rule_set.lines)]
        remembers = re.search(r"\b(p|pc|ps|q|last)\b", "\n".join(map(str, rule_set.lines)))
        for tag, holds in {
            "metered": any(count is not None for count in counts),
            "several-lines": len(rule_set.lines) > 1,
            "custom-order": bool(rule_set.orders),
            "memory": bool(remembers),
        }.items():
            assert (tag in tags) == holds, (name, tag)


def test_there_are_enough_rules_in_every_family() -> None:
    assert len(available_rules()) >= 60
    assert all(len(available_rules(family)) >= 8 for family in FAMILIES)


def test_titles_are_distinct() -> None:
    titles = [rule_info(name).title for name in available_rules()]
    assert len(set(titles)) == len(titles)


def test_the_four_rules_of_the_paper() -> None:
    assert [name for name in available_rules() if "paper" in rule_info(name).tags] == PAPER
    assert str(load_rule("b3-then-b1").lines[0]) == "(1, *, *, *, 3)"


def test_rules_by_family() -> None:
    assert "clockwise" in available_rules("sequence")
    assert sum(len(available_rules(family)) for family in FAMILIES) == len(available_rules())
    with pytest.raises(UnknownNameError, match="unknown family 'sequences'; did you mean"):
        available_rules("sequences")


@pytest.mark.parametrize("load", [load_rule, load_rule_text, rule_info, resolve_rule])
def test_an_unknown_name_brings_the_nearest_ones(load: object) -> None:
    assert callable(load)
    with pytest.raises(UnknownNameError, match="'clock-wise'; did you mean 'clockwise'"):
        load("clock-wise")


def test_a_missing_file_is_told_with_the_folder_it_was_looked_for_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file, folder in {"nosuch.txt": tmp_path, "mine/nosuch": tmp_path / "mine"}.items():
        with pytest.raises(UnknownNameError) as error:
            resolve_rule(file)
        assert f"'{file}'; there is no such file in {folder}; known: " in str(error.value)


def test_a_rule_is_found_by_name_or_else_by_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("(*,*,*,*,2)\r\n")
    assert resolve_rule(path) == resolve_rule(str(path)) == parse("(*,*,*,*,2)")
    assert resolve_rule("clockwise") == load_rule("clockwise")


def test_an_error_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("(*,*,*,2)")
    with pytest.raises(RuleSyntaxError, match=r"mine\.txt, line 1, column 1: expected five fields"):
        resolve_rule(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(b"# caf\xe9\n()")
    with pytest.raises(GnomonError, match="expected UTF-8 text, found byte 0xe9 at offset 5"):
        resolve_rule(path)


def test_names_that_no_file_can_have() -> None:
    for name in ["", "x" * 5000, "a\0b", "."]:
        with pytest.raises(GnomonError):
            resolve_rule(name)


@given(st.binary(max_size=40))
def test_a_file_of_any_bytes_is_a_rule_or_an_error_of_ours(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.txt"
        path.write_bytes(content)
        with contextlib.suppress(GnomonError):
            resolve_rule(path)
