"""Commit and reveal: the commitment holds for what was committed to, and for nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from gnomon.errors import GnomonError
from gnomon_board.leaderboard import Reveal, canonical_text, commit
from gohr.experiments import RuleEntry

RULES = (RuleEntry("s1-h01", "# secret\n(*,red,*,*,p+1)"), RuleEntry("s1-h02", "(pos:L, bucket:2)"))
SALT = "5a" * 32
REVEAL = Reveal("s1", commit("s1", RULES, SALT), SALT, RULES)


def test_as_the_documentation_says_it_is_computed():
    """Independently: the SHA-256 of a JSON text, sorted and without blanks."""
    first, second = (json.dumps([rule.name, canonical_text(rule.text)]) for rule in RULES)
    text = f'{{"format": 1, "rules": [{first}, {second}], "salt": "{SALT}", "season": "s1"}}'
    compact = json.dumps(json.loads(text), separators=(",", ":"))
    assert compact.startswith('{"format":1,"rules":[["s1-h01","')
    assert REVEAL.commitment == hashlib.sha256(compact.encode()).hexdigest()


def test_what_was_committed_to_holds():
    assert REVEAL.holds


def test_comments_and_blanks_are_of_no_consequence():
    spaced = (RuleEntry("s1-h01", "( *, red , *, *, p + 1 )  # x"), RULES[1])
    assert replace(REVEAL, rules=spaced).holds


@pytest.mark.parametrize(
    "other",
    [
        {"season": "s2"},
        {"salt": "5b" * 32},
        {"rules": RULES[:1]},
        {"rules": RULES[::-1]},
        {"rules": (RuleEntry("s1-h01", "(*,red,*,*,p+2)"), RULES[1])},
        {"rules": (RuleEntry("s1-h09", RULES[0].text), RULES[1])},
        {"commitment": "0" * 64},
    ],
)
def test_anything_else_does_not_hold(other):
    assert not replace(REVEAL, **other).holds


def test_it_is_read_back(tmp_path):
    path = tmp_path / "reveal.json"
    path.write_text(json.dumps(REVEAL.to_record()))
    assert Reveal.from_json(path) == REVEAL


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "field 'format': expected 1, found 2"),
        ({"salt": 7}, "field 'salt': expected a text"),
        ({"rules": "x"}, "field 'rules': expected a list"),
        ({"rules": [{"name": "a"}]}, "field 'rules': expected objects with name and text"),
        ({"rules": [{"name": "a", "text": "(("}]}, "rule 'a', line 1"),
    ],
)
def test_what_is_no_reveal_is_refused(tmp_path, change, message):
    path = tmp_path / "reveal.json"
    path.write_text(json.dumps(REVEAL.to_record() | change))
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
