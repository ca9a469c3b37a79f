"""Commit-reveal scheme for hidden rules: a salted SHA-256 before play, the texts after.

Before a season the server publishes the *commitment*: the SHA-256 of a random salt and the
canonical texts of the hidden rules. At the end it publishes salt and texts, and readers can compute
the commitment again. Without the salt, guesses at the rules could be tested against the commitment,
since the number of possible rules is small.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError
from gnomon_board.errors import LeaderboardError
from gohr import parse
from gohr.errors import RuleSyntaxError
from gohr.experiments import RuleEntry, content_hash

#: Version of the computation of the commitment.
_FORMAT = 1


def new_salt() -> str:
    """Return 256 random bits, as 64 hexadecimal digits."""
    return secrets.token_hex(32)


def canonical_text(text: str) -> str:
    """Return the canonical form of a rule text, without comments and blanks."""
    return str(replace(parse(text), description=())).strip()


def commit(season: str, rules: Sequence[RuleEntry], salt: str) -> str:
    """Return the commitment to the hidden rules of a season, 64 hexadecimal digits.

    It is the SHA-256 of the JSON text, with sorted keys and without blanks, of an object with
    ``format`` (1), ``season``, ``salt`` and ``rules``, a list of ``[name, canonical text]`` in the
    season's order.

    Examples
    --------
    >>> rules = (RuleEntry("s1-h01", "(*,*,*,*,p+1)"),)
    >>> commit("s1", rules, "00")[:16], commit("s1", rules, "01")[:16]
    ('2b2a2646de651887', '8da3bc9e825e16c8')
    """
    texts = [[rule.name, canonical_text(rule.text)] for rule in rules]
    return content_hash({"format": _FORMAT, "season": season, "salt": salt, "rules": texts})


@dataclass(frozen=True)
class Reveal:
    """The reveal that a season publishes at its end.

    Parameters
    ----------
    season : str
        Its name.
    commitment : str
        As published before the season.
    salt : str
    rules : tuple of RuleEntry
        The hidden rules, by the names under which they were played.

    Examples
    --------
    >>> rules = (RuleEntry("s1-h01", "(*,*,*,*,p+1)"),)
    >>> told = Reveal("s1", commit("s1", rules, "00"), "00", rules)
    >>> told.holds, replace(told, salt="01").holds
    (True, False)
    """

    season: str
    commitment: str
    salt: str
    rules: tuple[RuleEntry, ...]

    @property
    def holds(self) -> bool:
        """Whether salt and rules give the commitment."""
        return commit(self.season, self.rules, self.salt) == self.commitment

    def to_record(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        rules = [{"name": rule.name, "text": rule.text} for rule in self.rules]
        return {
            "format": _FORMAT,
            "season": self.season,
            "commitment": self.commitment,
            "salt": self.salt,
            "rules": rules,
        }

    @classmethod
    def from_json(cls, path: str | Path) -> Reveal:
        """Read the reveal of a season from a file.

        Raises
        ------
        LeaderboardError
            The file is not a reveal; one line that begins with its name.
        """
        path = Path(path)
        try:
            return cls.from_record(json.loads(path.read_bytes()))
        except OSError as error:
            raise LeaderboardError(f"{path}: cannot read this: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise LeaderboardError(f"{path}: expected JSON, found something else") from None
        except GnomonError as error:
            raise LeaderboardError(f"{path}: {str(error).splitlines()[0]}") from None

    @classmethod
    def from_record(cls, record: Any) -> Reveal:
        """Read the output of :meth:`to_record`; raise GnomonError if it is not valid."""
        if not isinstance(record, Mapping):
            raise LeaderboardError(f"expected an object, found {type(record).__name__}")
        if record.get("format") != _FORMAT:
            found = str(record.get("format"))[:40]
            raise LeaderboardError(f"field 'format': expected {_FORMAT}, found {found}")
        for name in ("season", "commitment", "salt"):
            if not isinstance(record.get(name), str):
                raise LeaderboardError(f"field {name!r}: expected a text")
        return cls(
            record["season"],
            record["commitment"],
            record["salt"],
            tuple(_rule(each) for each in _list(record.get("rules"))),
        )

    @classmethod
    def of_season(cls, season: Any) -> Reveal:
        """Read the reveal from the public record of a season; raise GnomonError if it has none."""
        if not isinstance(season, Mapping) or not season.get("salt"):
            raise LeaderboardError("the season has not been revealed")
        hidden = [
            rule
            for rule in _list(season.get("rules"))
            if isinstance(rule, Mapping) and rule.get("visibility") == "hidden"
        ]
        named = {name: season.get(name) for name in ("commitment", "salt")}
        return cls.from_record(
            {"format": _FORMAT, "season": season.get("name"), "rules": hidden, **named}
        )


def _list(rules: Any) -> list[Any]:
    if not isinstance(rules, list):
        raise LeaderboardError("field 'rules': expected a list")
    return rules


def _rule(record: Any) -> RuleEntry:
    """Read a rule, and check that its text parses."""
    if not isinstance(record, Mapping) or not (
        isinstance(record.get("name"), str) and isinstance(record.get("text"), str)
    ):
        raise LeaderboardError("field 'rules': expected objects with name and text")
    try:
        parse(record["text"])
    except RuleSyntaxError as error:
        raise error.in_file(f"rule {record['name'][:64]!r}") from None
    return RuleEntry(record["name"], record["text"])
