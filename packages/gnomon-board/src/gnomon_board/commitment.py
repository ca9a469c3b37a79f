"""Commit-reveal scheme for hidden rules: a salted SHA-256 before play, the texts after.

Before a season the server publishes the *commitment*: the SHA-256 of a random salt and the
canonical texts of the hidden rules. At the end it publishes salt and texts, and readers can compute
the commitment again. Without the salt, guesses at the rules could be tested against the commitment,
since the number of possible rules is small.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from gnomon.errors import GnomonError
from gnomon_board.errors import LeaderboardError, wrong_field
from gohr import parse
from gohr.errors import RuleSyntaxError
from gohr.experiments import RuleEntry, content_hash

#: Version of the computation of the commitment.
_FORMAT = 1


def commit(season: str, rules: Sequence[RuleEntry], salt: str) -> str:
    """Return the commitment to the hidden rules of a season, 64 hexadecimal digits.

    It is the SHA-256 of the JSON text, with sorted keys and without blanks, of an object with
    ``format`` (1), ``season``, ``salt`` and ``rules``, a list of ``[name, text]`` in the season's
    order; the text is that of the parsed rule without comments.

    Examples
    --------
    >>> rules = (RuleEntry("s1-h01", "(*,*,*,*,p+1)"),)
    >>> commit("s1", rules, "00")[:16], commit("s1", rules, "01")[:16]
    ('2b2a2646de651887', '8da3bc9e825e16c8')
    """
    bare = (replace(parse(rule.text), description=()) for rule in rules)
    texts = [[rule.name, str(text).strip()] for rule, text in zip(rules, bare, strict=True)]
    return content_hash({"format": _FORMAT, "season": season, "salt": salt, "rules": texts})


class RevealedRule(BaseModel):
    """A rule of a season and its text; only hidden rules are committed to."""

    model_config = ConfigDict(frozen=True)
    name: str
    text: str
    visibility: str = "hidden"


class Reveal(BaseModel):
    """The hidden rules of a season and their salt, as its record under ``/api`` shows them."""

    model_config = ConfigDict(frozen=True)
    name: str
    commitment: str
    salt: str
    rules: list[RevealedRule]

    @classmethod
    def from_json(cls, path: str | Path) -> Reveal:
        """Read the reveal of a season from a file."""
        try:
            return cls.from_record(json.loads(Path(path).read_bytes()))
        except OSError as error:
            raise LeaderboardError(f"{path}: cannot read this: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise LeaderboardError(f"{path}: expected JSON, found something else") from None
        except GnomonError as error:
            raise LeaderboardError(f"{path}: {str(error).splitlines()[0]}") from None

    @classmethod
    def from_record(cls, record: Any) -> Reveal:
        """Read the reveal from the record of a season; raise GnomonError if it has none."""
        if not isinstance(record, Mapping):
            raise LeaderboardError(f"expected an object, found {type(record).__name__}")
        if record.get("salt") is None:
            raise LeaderboardError("the season has not been revealed")
        try:
            found = cls.model_validate(record)
        except ValidationError as errors:
            raise wrong_field(errors, cls) from None
        for rule in found.rules:
            try:
                parse(rule.text)
            except RuleSyntaxError as error:
                raise error.in_file(f"rule {rule.name[:64]!r}") from None
        return found

    @property
    def computed(self) -> str:
        """The commitment that salt and rules give."""
        hidden = [RuleEntry(x.name, x.text) for x in self.rules if x.visibility == "hidden"]
        return commit(self.name, hidden, self.salt)
