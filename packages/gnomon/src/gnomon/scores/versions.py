"""Two versions of one algorithm or model: one table of both, and the scores missing in NEW."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from gnomon.errors import ScoreDataError, check_word, counted, either, listed, note, option
from gnomon.printing import percent
from gnomon.scores.checks import check_inputs
from gnomon.scores.columns import IntArray, Rows, Texts, looked_up
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import ScoreTable

Missing = Literal["refuse", "wrong", "drop"]
#: Two sets of scores of items whose largest differ by this factor are on different scales.
OTHER_SCALE = 10.0
#: The two versions, as tables and messages name them.
PAIR = NEW, BASE = "NEW", "BASE"


def version_of(scores: Scores, name: str) -> ScoreTable:
    """Return the table of one algorithm."""
    table = table_of(scores, summaries=True)
    if len(table.algorithms) != 1:
        first = table.algorithms[0]
        one = either(f"select(algorithms=[{first!r}])", option(where={"algorithm": first}))
        raise ScoreDataError(
            f"{name}: expected one algorithm, found {listed(table.algorithms)}; {one} selects one"
        )
    if not table.shared_tasks():
        raise ScoreDataError(f"{name}: expected scores, found none")
    return table


def _expect_alike(new: ScoreTable, base: ScoreTable) -> None:
    """Refuse another scorer or direction, and items with other texts or on another scale."""
    for field, name in (("scale", "scorer"), ("higher_is_better", "direction")):
        one, two = getattr(new, field), getattr(base, field)
        if one != two:
            raise ScoreDataError(f"expected one {name}; NEW has {name} {one!r}, BASE {two!r}")
    if base.units == "tasks":
        return
    check_inputs(Rows.joined([new.rows, base.rows]), "NEW and BASE")
    free = [not within_unit(table) for table in (new, base)]
    ours, theirs = (
        float(np.nanmax(np.abs(table.rows["score"]), initial=0.0)) for table in (new, base)
    )
    low, high = sorted([ours, theirs])
    if low > 0.0 and (free[0] != free[1] or (all(free) and high >= OTHER_SCALE * low)):
        raise ScoreDataError(
            f"expected one scale; scores of NEW reach {ours:g}, those of BASE {theirs:g}"
        )


def within_unit(table: ScoreTable) -> bool:
    """Return whether all scores lie between 0 and 1."""
    score = table.effective_scores
    return bool(np.all(np.isnan(score) | ((score >= 0.0) & (score <= 1.0))))


def put_together(
    new: ScoreTable,
    base: ScoreTable,
    missing: Missing,
    worst: float | None,
    require: float | None,
) -> tuple[ScoreTable, set[str]]:
    """Return one table of both on the tasks that they share, and the tasks NEW lacks scores on.

    `missing`, `worst` and `require` are those of :func:`gnomon.gate`.
    """
    check_word("missing", missing, get_args(Missing))
    if require is not None and not 0.0 < require <= 1.0:
        raise ScoreDataError(f"require: expected a share above 0, at most 1, found {require:g}")
    if worst is not None and missing != "wrong":
        raise ScoreDataError(f"a worst score needs {option(missing='wrong')}")
    _expect_alike(new, base)
    one = "item" if base.units == "items" else "task"
    place = {name: i for i, name in enumerate(base.tasks)}
    if place.keys().isdisjoint(new.tasks):
        raise ScoreDataError(f"expected {one}s that NEW and BASE share; found none")
    others = [name for name in new.tasks if name not in place]
    if others and missing != "drop":
        raise ScoreDataError(
            f"NEW has {counted(len(others), one)} that BASE lacks ({listed(others, 4)}); "
            f"{option(missing='drop')} compares the shared ones"
        )
    ours, theirs = (_rows_of(table, name, base) for table, name in ((new, NEW), (base, BASE)))
    at, of_base = (_places(rows, place) for rows in (ours, theirs))
    n, n_base = (np.bincount(each, minlength=len(place)) for each in (at, of_base))
    scored, known = (
        np.bincount(each[~np.isnan(rows["score"])], minlength=len(place))
        for each, rows in ((at, ours), (of_base, theirs))
    )
    # As many runs as BASE has, in proportion to the runs per task of the two, none without a score.
    planned = np.maximum(n, np.minimum(n_base, -(-n.max() * n_base // n_base.max())))
    short = (known > 0) & (scored < planned)
    names = [base.tasks[i] for i in np.flatnonzero(short)]
    n_known, lacking = int((known > 0).sum()), len(names)
    what = f"{lacking} of {counted(n_known, one)} of BASE are missing in NEW or lack scores"
    if lacking and missing == "refuse" and require is None:
        raise ScoreDataError(
            f"{what} ({listed(names, 4)}); {option(missing='wrong')}, {option(missing='drop')} or "
            f"{option(require=0.99)} decides without them"
        )
    if require is not None and lacking > (1.0 - require) * n_known + 1e-9:
        raise ScoreDataError(f"{what}; {option(require=require)} allows {percent(1.0 - require)}")
    if lacking and missing == "wrong":
        if worst is None and not (within_unit(new) and within_unit(base)):
            raise ScoreDataError(
                f"{what}; scores are not between 0 and 1: {option(worst=0)} gives the worst"
            )
        least = float(not base.higher_is_better) if worst is None else worst
        ours = _filled(ours, theirs, of_base, np.where(short, planned - n, 0), least)
    if lacking:
        how = "counted as the worst score" if missing == "wrong" else "left out"
        note(f"{what}: missing scores are {how}")
    if unlike := len(place) - n_known + len(others):
        note(f"{counted(unlike, one)} without a score in BASE left out")
    rows = Rows.joined([ours, theirs])
    rows = rows.take(~np.isnan(rows["score"]))
    whole = replace(base, rows=rows, provenance=(*base.provenance, *new.provenance))
    if not (shared := whole.shared_tasks() if len(whole.algorithms) == 2 else ()):
        raise ScoreDataError(f"{what}: none is left to compare")
    return whole.select(tasks=shared), {*names}


def _rows_of(table: ScoreTable, name: str, base: ScoreTable) -> Rows:
    """Return rows under a name, on tasks of BASE, with the clusters that BASE has."""
    own = table.select(tasks=[task for task in table.tasks if task in base.rows_of_task])
    rows = own.rows.only("task", "run").with_columns({"score": own.effective_scores})
    rows = rows.with_columns({"algorithm": Texts.repeated(name, len(own))})
    if base.cluster is None:
        return rows
    first = np.array([base.rows_of_task[task][0] for task in own.tasks], np.int64)
    of_task = base.rows.texts(base.cluster).take(first[rows["task"].codes])
    return rows.with_columns({base.cluster: of_task})


def _places(rows: Rows, place: Mapping[str, int]) -> IntArray:
    """Return the number of each row's task in BASE."""
    at = np.array([place[name] for name in rows["task"].names], np.int64)
    return looked_up(at, rows["task"].codes)


def _filled(ours: Rows, theirs: Rows, at: IntArray, lacking: IntArray, worst: float) -> Rows:
    """Return the rows of NEW with the worst score for each that is missing.

    On each task, `lacking` rows are added: the first runs of BASE that NEW lacks.
    """
    own = {*zip(ours.tolist("task"), ours.tolist("run"), strict=True)}
    left, added = lacking.copy(), []
    for row, pair in enumerate(zip(theirs.tolist("task"), theirs.tolist("run"), strict=True)):
        if left[at[row]] > 0 and pair not in own:
            left[at[row]] -= 1
            added.append(row)
    rows = theirs.take(np.array(added, np.int64))
    rows = rows.with_columns({"algorithm": Texts.repeated(NEW, len(rows))})
    filled = Rows.joined([ours, rows.with_columns({"score": np.full(len(rows), np.nan)})])
    score = np.where(np.isnan(filled["score"]), worst, filled["score"])
    return filled.with_columns({"score": score})
