"""Copies and wild scores: what in a table makes an error look smaller, or larger, than it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.distillation.validation.cross_validation import HeldOut
from gnomon.errors import counted, listed, shortened
from gnomon.scores.table import FloatArray

#: Two algorithms are near copies if their standardised scores differ by no more than this.
_NEAR = 0.03
#: A score is wild if it is so many robust standard deviations from its task's median, and farther
#: from all others than this share of their range.
_WILD, _ALONE = 6.0, 0.75
_MOST_SHOWN, _LONGEST = 4, 40


def copies_of(data: PreparedScores) -> list[tuple[str, str]]:
    """Return pairs of algorithms whose scores are nearly the same on all tasks that both have.

    Algorithms need at least three tasks in common. Where groups are known, a copy of the same
    group is no surprise, and none is left out with the other; so pairs within a group count too.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import ScoreTable
    >>> rows = {"a": [[1, 5, 3]], "b": [[1, 5, 3]], "c": [[9, 2, 7]]}
    >>> copies_of(prepare(ScoreTable.from_arrays(rows), transform="identity"))
    [('a', 'b')]
    """
    z = data.x / np.where(data.varies(data.tasks), np.nanstd(data.x, axis=0), 1.0)
    found = []
    for i, row in enumerate(z):
        off = z[:i] - row
        n = (~np.isnan(off)).sum(axis=1)
        distance = np.sqrt(np.where(n > 0, np.nansum(off**2, axis=1) / np.maximum(n, 1), np.inf))
        for j in np.flatnonzero((distance < _NEAR) & (n >= 3)):
            found.append((data.algorithms[j], data.algorithms[i]))
    return found


def wild_scores(data: PreparedScores) -> list[tuple[str, str]]:
    """Return the algorithm and the task of each score far from all others of its task.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import ScoreTable
    >>> rows = {f"a{i}": [[i, i + 1]] for i in range(9)} | {"b": [[5, 900]]}
    >>> wild_scores(prepare(ScoreTable.from_arrays(rows), transform="identity"))
    [('b', 'task_1')]
    """
    found = []
    for task, column in zip(data.tasks, data.x.T, strict=True):
        seen = np.flatnonzero(~np.isnan(column))
        x = column[seen]
        middle = np.median(x) if x.size else 0.0
        scale = 1.4826 * np.median(np.abs(x - middle)) if x.size else 0.0
        if x.size < 5 or not scale:
            continue
        far = np.abs(x - middle) / scale > _WILD
        for i in np.flatnonzero(far):
            others = np.delete(x, i)
            if np.abs(others - x[i]).min() > _ALONE * np.ptp(others):
                found.append((data.algorithms[seen[i]], task))
    return found


@dataclass(frozen=True)
class _Doubt:
    text: str
    without: PreparedScores


def doubts(
    data: PreparedScores, held: HeldOut, held_of: Callable[[PreparedScores], HeldOut]
) -> list[str]:
    """Return in words what is odd in a table, and what the error would be without it.

    Parameters
    ----------
    data : PreparedScores
    held : HeldOut
        Nested validation of the whole table.
    held_of : function of PreparedScores
        The same of another table.
    """
    lines = []
    for doubt in _doubts(data):
        word, found = _said(held, data)
        without = _said(held_of(doubt.without), data)[1]
        lines.append(f"{doubt.text}: the nested {word} is {found}, and {without} without")
    return lines


def _said(held: HeldOut, data: PreparedScores) -> tuple[str, str]:
    """Return what tells how good the predictions are; R2 where a relative error may mean little."""
    if data.transform.log_base is None:
        return "R2", f"{held.r2:.3f}"
    return "error", f"{held.relative_error:.1%}"


def _doubts(data: PreparedScores) -> list[_Doubt]:
    found = []
    copies = copies_of(data)
    if copies:
        second = {b for _, b in copies}
        names = listed([_copy_in_words(a, b) for a, b in copies], _MOST_SHOWN)
        kept = data.rows(np.array([name not in second for name in data.algorithms]))
        text = f"{counted(len(second), 'algorithm')} a copy or nearly ({names})"
        found.append(_Doubt(text, kept))
    wild = wild_scores(data)
    if wild:
        names = listed([f"{shortened(a, _LONGEST)} on {task}" for a, task in wild], _MOST_SHOWN)
        text = f"{counted(len(wild), 'score')} far from all others ({names})"
        found.append(_Doubt(text, replace(data, x=_without(data, wild))))
    return found


def _copy_in_words(a: str, b: str) -> str:
    """Return that one is a copy of the other, long names shortened where they are alike.

    Examples
    --------
    >>> same = "learner " + "x=1, " * 20
    >>> _copy_in_words(f"{same}y=1, z=2", f"{same}y=3, z=2")
    'learner x=1, x=1, x=1, x=...y=3, z=2 of ...y=1, z=2'
    """
    if len(b) <= _LONGEST:
        return f"{b} of {shortened(a, _LONGEST)}"
    # A name of settings differs from its copy's in few of them: these are the words to show.
    differs = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    word = b.rfind(" ", 0, differs) + 1
    if not word:
        return f"{shortened(b, _LONGEST)} of {shortened(a, _LONGEST)}"
    begins = f"{b[: min(word, 25)]}..."
    return f"{begins}{shortened(b[word:], _LONGEST)} of ...{shortened(a[word:], _LONGEST)}"


def _without(data: PreparedScores, cells: list[tuple[str, str]]) -> FloatArray:
    x = data.x.copy()
    for algorithm, task in cells:
        x[data.algorithms.index(algorithm), data.tasks.index(task)] = np.nan
    return x
