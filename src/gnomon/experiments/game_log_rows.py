"""Headers by which the reference's tables of series are recognised."""

from __future__ import annotations

#: Columns by which tables of series are known, each with its scores.
SERIES_SCORES = {
    frozenset({"ruleSetName", "mStar"}): ("m_star", "m_dagger"),
    frozenset({"playerId", "rule", "attempts", "removed"}): ("errors",),
}
#: And by which tables of rules are, with what these are.
TABLES_OF_RULES = {
    frozenset({"Rule set name", "EV score"}): "a ranking of rules",
    frozenset({"rule", "avgAttempts"}): "averages of rules",
    frozenset({"rule1", "rule2", "distance"}): "distances of rules",
    frozenset({"key"}): "a matrix of rules",
}


def header_names(line: str) -> list[str]:
    """Return the names of the columns; a ``#`` before the first is no part of it."""
    return [name.strip() for name in line.strip().lstrip("#").split(",")]


def is_reference_table(first_line: str) -> bool:
    """Tell by its first line whether a table is one of series, or of rules.

    Examples
    --------
    >>> is_reference_table("#ruleSetName,mStar"), is_reference_table("#key,a,b")
    (True, True)
    >>> is_reference_table("key,a,b")
    False
    """
    names = frozenset(header_names(first_line))
    known = [*SERIES_SCORES, *(TABLES_OF_RULES if first_line.lstrip().startswith("#") else ())]
    return any(columns <= names for columns in known)
