"""Commit and reveal: the commitment holds for what was committed to, and for nothing else."""

from __future__ import annotations

import hashlib
import json

import pytest

from gohr.rules import parse

RULES = [
    {"name": "s1-h01", "text": "# secret\n(*,red,*,*,p+1)"},
    {"name": "s1-h02", "text": "(pos:L, bucket:2)"},
]
SALT = "5a" * 32
#: As the documentation says: the SHA-256 of a JSON text, sorted and without blanks.
TEXTS = [
    [rule["name"], str(parse(rule["text"].removeprefix("# secret\n"))).strip()] for rule in RULES
]
WHOLE = {"format": 1, "rules": TEXTS, "salt": SALT, "season": "s1"}
COMMITMENT = hashlib.sha256(json.dumps(WHOLE, separators=(",", ":")).encode()).hexdigest()
RECORD = {"name": "s1", "commitment": COMMITMENT, "salt": SALT, "rules": RULES}


@pytest.fixture
def checked(command, tmp_path):
    """Check a reveal with changes, and return what was answered."""

    def run(**changes):
        (tmp_path / "reveal.json").write_text(json.dumps(RECORD | changes))
        return command("gnomon-board season check-reveal reveal.json")

    return run


def test_what_was_committed_to_holds(checked):
    assert checked().status == 0
    public = {"name": "clockwise", "text": "(*,*,*,*,p+1)", "visibility": "public"}
    assert checked(rules=[public, *RULES]).status == 0


def test_comments_and_blanks_are_of_no_consequence(checked):
    spaced = {"name": "s1-h01", "text": "( *, red , *, *, p + 1 )  # x"}
    assert checked(rules=[spaced, RULES[1]]).status == 0


@pytest.mark.parametrize(
    "other",
    [
        {"name": "s2"},
        {"salt": "5b" * 32},
        {"rules": RULES[:1]},
        {"rules": RULES[::-1]},
        {"rules": [RULES[0] | {"text": "(*,red,*,*,p+2)"}, RULES[1]]},
        {"rules": [RULES[0] | {"name": "s1-h09"}, RULES[1]]},
        {"commitment": "0" * 64},
    ],
)
def test_anything_else_does_not_hold(checked, other):
    assert checked(**other).status == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"salt": None}, "the season has not been revealed"),
        ({"salt": 7}, "field 'salt': "),
        ({"rules": "x"}, "field 'rules': "),
        ({"rules": [{"name": "a"}]}, "field 'rules.1.text': "),
        ({"rules": [{"name": "a", "text": "(("}]}, "rule 'a', line 1"),
    ],
)
def test_what_is_no_reveal_is_refused(checked, change, message):
    told = checked(**change)
    assert told.status == 2
    assert f"reveal.json: {message}" in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("text", ["", "[]", "nonsense", "[" * 100_000])
def test_what_is_no_json_is_refused(command, tmp_path, text):
    (tmp_path / "reveal.json").write_text(text)
    told = command("gnomon-board season check-reveal reveal.json")
    assert (told.status, "expected" in told.err) == (2, True)
