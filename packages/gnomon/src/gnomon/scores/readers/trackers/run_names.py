"""Names of runs taken apart: which algorithm, task and run a name such as ``dqn-0`` means.

A tracker's chart names its lines, and an event file its run; what such a name is made of only its
author knows. A pattern such as ``{algorithm}-{run}`` says it. Without one each name is an algorithm
with one run, unless names differ in nothing but a number at their end: these may be the runs of one
algorithm, and are refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gnomon.errors import ScoreDataError, listed

#: What a pattern may name; ``{}`` passes over a part.
FIELDS = ("algorithm", "task", "run")

_NUMBERED = re.compile(r"(.*?)[\s_\-.:]*(?:seed|run|s)?[\s_\-.:]*\d+$", re.IGNORECASE)


def keys_of_runs(names: Sequence[str], pattern: str | None, place: str) -> list[dict[str, str]]:
    """Return algorithm, task and run of each name, as far as they are in it.

    Parameters
    ----------
    names : sequence of str
        Names of runs, each once.
    pattern : str, optional
        How they are made, for example ``{task}__{algorithm}__{run}__{}``; a part but the last
        reaches as far as it can.
    place : str
        The file, for messages.

    Raises
    ------
    ScoreDataError
        The pattern names something else, a name is not made so; or, without a pattern, names may be
        algorithms, or runs of one.

    Examples
    --------
    >>> keys_of_runs(["dqn-wide-3"], "{algorithm}-{run}", "chart.csv")
    [{'algorithm': 'dqn-wide', 'run': '3'}]
    >>> keys_of_runs(["dqn", "ppo"], None, "chart.csv")
    [{'algorithm': 'dqn'}, {'algorithm': 'ppo'}]
    """
    if pattern is None:
        _refuse_numbered(names, place)
        return [{"algorithm": name} for name in names]
    expression = _expression(pattern)
    found = [(name, expression.fullmatch(name)) for name in names]
    for name, match in found:
        if match is None:
            raise ScoreDataError(f"{place}: expected names of runs like {pattern}, found {name!r}")
    return [match.groupdict() for _, match in found if match is not None]


def _expression(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern."""
    pieces = re.split(r"\{(.*?)\}", pattern)
    fields = [field for field in pieces[1::2] if field]
    if not fields or not set(fields) <= set(FIELDS) or len(set(fields)) < len(fields):
        raise ScoreDataError(
            f"run names: expected a pattern of {{algorithm}}, {{task}} and {{run}}, each at most "
            f"once, such as {{algorithm}}-{{run}}; found {pattern!r}"
        )
    parts = [re.escape(pieces[0])]
    for field, literal in zip(pieces[1::2], pieces[2::2], strict=True):
        parts += [f"(?P<{field}>.+)" if field else ".*", re.escape(literal)]
    return re.compile("".join(parts))


def _refuse_numbered(names: Sequence[str], place: str) -> None:
    """Refuse names of which several are one stem with different numbers."""
    stems: dict[str, list[str]] = {}
    for name in names:
        found = _NUMBERED.fullmatch(name)
        if found and found[1]:
            stems.setdefault(found[1], []).append(name)
    stem, alike = next(((s, each) for s, each in stems.items() if len(each) > 1), ("", []))
    if alike:
        sign = alike[0][len(stem) :].rstrip("0123456789") or "-"
        raise ScoreDataError(
            f"{place}: {listed(alike, 3)} may be runs of {stem!r} or algorithms with one run each: "
            f"--run-names '{{algorithm}}{sign}{{run}}' or --run-names '{{algorithm}}' chooses"
        )
