"""One table of the rows of several, and other names for algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.columns import Rows, Texts
from gnomon.scores.items import check_inputs
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, tidy_rows


def joined_tables(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Return one table of the rows of several, whose scores are of one kind."""
    first, *others = tables
    for other in others:
        for name in ("metric", "unit", "higher_is_better", "units", "cluster"):
            one, two = getattr(first, name), getattr(other, name)
            if one != two:
                message = f"expected one kind of scores in all sources; {name} is {one} and {two}"
                raise ScoreDataError(message)
    if not others:
        return first
    rows = Rows.joined([table.rows for table in tables])
    check_inputs(rows, "sources")
    provenance = tuple(line for table in tables for line in table.provenance)
    return replace(first, rows=tidy_rows(rows, Origin("sources"), {}), provenance=provenance)


def renamed(table: ScoreTable, names: Mapping[str, str]) -> ScoreTable:
    """Return a table in which some algorithms have other names."""
    for name in names:
        if name not in table.algorithms:
            raise UnknownNameError("algorithm", name, table.algorithms)
    found = [names.get(name, name) for name in table.algorithms]
    twice = [name for name in found if found.count(name) > 1]
    if twice:
        raise ScoreDataError(f"expected algorithms of different names, found {twice[0]!r} twice")
    column = Texts(table.rows["algorithm"].codes, tuple(found))
    return replace(table, rows=table.rows.with_columns({"algorithm": column}))
