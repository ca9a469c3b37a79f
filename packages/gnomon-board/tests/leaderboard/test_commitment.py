"""Commit and reveal: the commitment holds for what was committed to, and for nothing else."""

from __future__ import annotations

import hashlib
import json

import pytest

from gnomon.errors import GnomonError
from gnomon_board.commitment import Reveal, canonical_text, commit
from gohr.experiments import RuleEntry

RULES = [
    {"name": "s1-h01", "text": "# secret\n(*,red,*,*,p+1)"},
    {"name": "s1-h02", "text": "(pos:L, bucket:2)"},
]
SALT = "5a" * 32
COMMITMENT = commit("s1", [RuleEntry(**rule) for rule in RULES], SALT)
RECORD = {"name": "s1", "commitment": COMMITMENT, "salt": SALT, "rules": RULES}


def holds(**changes):
    told = Reveal.from_record(RECORD | changes)
    return told.computed == told.commitment


def test_as_the_documentation_says_it_is_computed():
    """Independently: the SHA-256 of a JSON text, sorted and without blanks."""
    first, second = (json.dumps([x["name"], canonical_text(x["text"])]) for x in RULES)
    text = f'{{"format": 1, "rules": [{first}, {second}], "salt": "{SALT}", "season": "s1"}}'
    compact = json.dumps(json.loads(text), separators=(",", ":"))
    assert compact.startswith('{"format":1,"rules":[["s1-h01","')
    assert hashlib.sha256(compact.encode()).hexdigest() == COMMITMENT


def test_what_was_committed_to_holds():
    assert holds()
    public = {"name": "clockwise", "text": "(*,*,*,*,p+1)", "visibility": "public"}
    assert holds(rules=[public, *RULES])


def test_comments_and_blanks_are_of_no_consequence():
    spaced = {"name": "s1-h01", "text": "( *, red , *, *, p + 1 )  # x"}
    assert holds(rules=[spaced, RULES[1]])


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
def test_anything_else_does_not_hold(other):
    assert not holds(**other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"salt": None}, "the season has not been revealed"),
        ({"salt": 7}, "field 'salt': "),
        ({"rules": "x"}, "field 'rules': "),
        ({"rules": [{"name": "a"}]}, "field 'rules', 'text': "),
        ({"rules": [{"name": "a", "text": "(("}]}, "rule 'a', line 1"),
    ],
)
def test_what_is_no_reveal_is_refused(tmp_path, change, message):
    path = tmp_path / "reveal.json"
    path.write_text(json.dumps(RECORD | change))
    with pytest.raises(GnomonError) as error:
        Reveal.from_json(path)
    assert str(error.value).startswith(f"{path}: {message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "nonsense", "[" * 100_000])
def test_what_is_no_json_is_refused(tmp_path, text):
    path = tmp_path / "reveal.json"
    path.write_text(text)
    with pytest.raises(GnomonError, match="expected"):
        Reveal.from_json(path)
