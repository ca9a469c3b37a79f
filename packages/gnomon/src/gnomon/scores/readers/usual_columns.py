"""Columns of runs under their usual names: which one is the algorithm, the task, the run, the step.

Training code and trackers name the same four things in a few ways. A name that is known and comes
alone is taken, and said; of two columns that may be meant none is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

from gnomon.errors import joined, listed, shortened
from gnomon.scores.readers.reported_number import reported_number
from gnomon.scores.tidy import SPECIAL, Origin

#: What else a column of a tidy file is called, in small letters and without its prefix.
USUAL: Mapping[str, tuple[str, ...]] = {
    "algorithm": ("algorithm", "algo", "exp_name", "agent"),
    "task": ("task", "env_id", "env", "game"),
    "run": ("run", "seed"),
    "step": ("step", "_step", "global_step", "timestep", "timesteps", "total_timesteps"),
}
#: What trackers put before a name to say what it is.
_PREFIX = re.compile(r"^(?:metrics|params|config|summary|summary_metrics|tags)\.(?=.)")


def short_name(column: str) -> str:
    """Return the name of a column without what a tracker puts before it.

    Examples
    --------
    >>> short_name("params.env_id"), short_name("charts/return")
    ('env_id', 'charts/return')
    """
    return _PREFIX.sub("", column)


def role_of(column: str) -> str | None:
    """Return what a column usually holds, by its name; None for any other.

    Examples
    --------
    >>> role_of("Seed"), role_of("params.algo"), role_of("loss")
    ('run', 'algorithm', None)
    """
    name = short_name(column).lower()
    return next((role for role, names in USUAL.items() if name in names), None)


def usual_columns(
    raw: pl.DataFrame, named: Mapping[str, str], roles: Sequence[str], origin: Origin
) -> dict[str, str]:
    """Return the column that holds each of some roles: as it is named, else by its usual name.

    Parameters
    ----------
    raw : polars.DataFrame
        Columns as read.
    named : mapping
        What the user calls columns: ``{"algorithm": "Name"}``.
    roles : sequence of str
        Some of algorithm, task, run and step. One that no column seems to hold is left out.
    origin : Origin
        Where the rows come from.

    Raises
    ------
    ScoreDataError
        Two columns with different contents may be meant.
    """
    found = {}
    for role in roles:
        if role in named:
            found[role] = named[role]
            continue
        candidates = [x for x in raw.columns if role_of(x) == role and x not in named.values()]
        exact = [name for name in candidates if name == role]
        candidates = exact or candidates
        if not candidates:
            continue
        first = candidates[0]
        for other in candidates[1:]:
            if not raw[first].equals(raw[other]):
                option = "--step-column" if role == "step" else f"--column {role}="
                pick = f"{option} {first}" if role == "step" else f"{option}{first}"
                raise origin.error(
                    f"columns {first!r} and {other!r} may both be the {role}; "
                    f"{pick} chooses the first"
                )
        found[role] = first
    return found


def chosen_score(
    raw: pl.DataFrame, metric: str | None, named: Mapping[str, str], taken: Sequence[str],
    origin: Origin,
) -> str:  # fmt: skip
    """Return the column of the scores: the one that is named, or the only one with numbers.

    Parameters
    ----------
    raw : polars.DataFrame
        Columns as read.
    metric : str, optional
        The name of a score, with or without a tracker's prefix.
    named : mapping
        What the user calls columns.
    taken : sequence of str
        Columns that are something else.
    origin : Origin
        Where the rows come from.

    Raises
    ------
    ScoreDataError
        There is no such column, or there are several with numbers.
    """
    wanted = metric or named.get("score")
    if wanted is not None:
        same = [name for name in raw.columns if wanted in (name, short_name(name))]
        if len(same) == 1 or wanted in raw.columns:
            return wanted if wanted in raw.columns else same[0]
        if same:
            raise origin.error(
                f"expected one column {wanted!r}; found {joined(same)}: "
                f"--score {same[0]} names the first"
            )
        known = listed(_with_numbers(raw, taken)) or "none"
        raise origin.error(f"no column {wanted!r} to read as the score; with numbers: {known}")
    if "score" in raw.columns:
        return "score"
    found = _with_numbers(raw, taken)
    metrics = [name for name in found if name.startswith("metrics.")] or found
    if len(metrics) == 1:
        return metrics[0]
    if not metrics:
        shown = shortened(", ".join(raw.columns), 200)
        raise origin.error(f"expected a column of numbers for the score, found none among {shown}")
    shown = shortened(joined(metrics[:6]) + (", ..." if len(metrics) > 6 else ""), 160)
    raise origin.error(f"expected one score; found {shown}: --score {metrics[0]} names the first")


def _with_numbers(raw: pl.DataFrame, taken: Sequence[str]) -> list[str]:
    """Return the columns that hold numbers and nothing else, those of other roles left out."""
    kept = [x for x in raw.columns if x not in taken and x not in SPECIAL and role_of(x) is None]
    return [name for name in kept if _are_numbers(raw[name])]


def _are_numbers(column: pl.Series) -> bool:
    if column.dtype.is_numeric():
        return True
    texts = [text for text in column.unique().to_list() if not _is_infinite(text)]
    numbers = [reported_number(text) for text in texts]
    return None not in numbers and any(number == number for number in numbers)


def _is_infinite(text: object) -> bool:
    """Return whether a cell says infinity, as trackers write the score of a run that diverged."""
    return str(text).strip().lstrip("+-").lower() in ("inf", "infinity")
