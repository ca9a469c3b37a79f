"""Small tables of scores for tests, and calls whose warnings are left aside or returned."""

from __future__ import annotations

import warnings

import numpy as np

from gnomon.errors import GnomonWarning
from gnomon.scores import ScoreTable


def censored(arrays, tasks=None, *, higher_is_better=False):
    """Return the table of arrays (runs, tasks), in which runs without an end are infinite."""
    rows = [
        {"algorithm": name, "task": tasks[t] if tasks else f"t{t}", "run": r, "score": float(score)}
        | {"censored": bool(np.isinf(score))}
        for name, scores in arrays.items()
        for (r, t), score in np.ndenumerate(scores)
    ]
    return ScoreTable(rows, higher_is_better=higher_is_better)


def votes_of(rows, **columns):
    """Return the table of votes (first, second, share of the first)."""
    first, second, share = zip(*rows, strict=True)
    table = {
        "algorithm": [*first, *second],
        "opponent": [*second, *first],
        "task": [*range(len(first))] * 2,
        "score": [*share, *(1.0 - x for x in share)],
    }
    table |= {name: [*column] * 2 for name, column in columns.items()}
    return ScoreTable(table, units="items", cluster=next(iter(columns), None))


def with_notes(function, *arguments, **options):
    """Return the result of a call, and the texts of its warnings; those of others are errors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", GnomonWarning)
        found = function(*arguments, **options)
    return found, [str(each.message) for each in caught]


def quietly(function, *arguments, **options):
    """Return the result of a call."""
    return with_notes(function, *arguments, **options)[0]
