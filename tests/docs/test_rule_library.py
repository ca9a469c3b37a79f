"""The page on the rule library shows every rule as it is now."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from gohr.rules import available_rules

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(
        "make_rule_library", DOCS / "make_rule_library.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_script_makes_of_the_catalogue(script):
    again = "python docs/make_rule_library.py makes it anew"
    assert (DOCS / "gohr" / "rule-library.md").read_text(encoding="utf-8") == script.page(), again


def test_every_rule_has_its_picture_and_they_are_small():
    pictures = list((DOCS / "images" / "rules").iterdir())
    assert {path.name for path in pictures} == {f"{name}.svg" for name in available_rules()}
    assert sum(path.stat().st_size for path in pictures) < 2_000_000


@pytest.mark.parametrize("name", ["color-match", "clockwise", "one-color-a-bucket"])
def test_a_picture_marks_the_moves_that_the_rule_accepts(script, name):
    example = script.example_of(name, script.example_board())
    drawn = re.findall(r'id="allowed-(\d+)-(\d)"', script.picture_of(name, example))
    place = {piece.id: piece.pos for piece in example.board.pieces}
    assert sorted((int(pos), int(bucket)) for pos, bucket in drawn) == sorted(
        (place[piece_id], bucket) for piece_id, bucket in example.allowed
    )
    kept = (DOCS / "images" / "rules" / f"{name}.svg").read_text(encoding="utf-8")
    assert re.findall(r'id="allowed-(\d+)-(\d)"', kept) == drawn
