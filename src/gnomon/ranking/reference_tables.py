"""Ranking of rules by people in the files of the reference system: two matrices and a table."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np

from gnomon._io.atomic_file import write_atomically
from gnomon.ranking.task_mastery import TaskMasteries, TaskMastery, TaskSample
from gnomon.scores.table import FloatArray

#: Files of the reference system, in which m stands for m* or m!, which is m-dagger.
_RANKING = (
    "#Rule set name", "Learned", "Not learned", "EV score", "Difficulty", "Transfer",
    "Avg {m} on learners", "Avg {m} on all", "min {m}", "med {m}", "max {m}",
    "Harmonic mean {m} on learners", "Harmonic mean {m} on all", "Avg error rate",
)  # fmt: skip


def write_ranking_tables(found: TaskMasteries, folder: str | Path) -> tuple[Path, ...]:
    """Write ``raw-wm.csv``, ``ratio-wm.csv`` and ``ranking.csv`` as the reference system does.

    Parameters
    ----------
    found : TaskMasteries
        Made ``as_reference``, the numbers are those of the reference system; else who did not
        learn counts as infinite in means over all.
    folder : path
        It is made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> from gnomon.ranking import mastery
    >>> table = gn.ScoreTable.from_arrays({"people": [[3, 9], [0, 7]]}, higher_is_better=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_ranking_tables(mastery(table), folder)]
    ['raw-wm.csv', 'ratio-wm.csv', 'ranking.csv']
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    ratios = (found.wins + 1.0) / (found.wins.T + 1.0)
    np.fill_diagonal(ratios, 1.0)
    tables = {
        "raw-wm.csv": _matrix(found, found.wins),
        "ratio-wm.csv": _matrix(found, ratios),
        "ranking.csv": ranking_rows(found),
    }
    for name, rows in tables.items():
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        write_atomically(folder / name, out.getvalue().encode())
    return tuple(folder / name for name in tables)


def _matrix(found: TaskMasteries, values: FloatArray) -> list[list[str]]:
    names = [one.task for one in found]
    lines = zip(names, values.tolist(), strict=True)
    return [["#key", *names], *([name, *map(_text, line)] for name, line in lines)]


def ranking_rows(found: TaskMasteries) -> list[list[str]]:
    """Return the cells of ``ranking.csv``, the header first.

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.ranking import mastery
    >>> table = gn.ScoreTable.from_arrays({"people": [[3, 9], [0, 7]]}, higher_is_better=False)
    >>> ranking_rows(mastery(table))[1][:3]
    ['task_0', '2', '0']
    """
    m = "m!" if found.settings["metric"] == "m_dagger" else "m*"
    header = [name.format(m=m) for name in _RANKING]
    return [header, *(_row(one, found.samples[one.task]) for one in found)]


def _row(one: TaskMastery, sample: TaskSample) -> list[str]:
    learned = sample.learned
    # A player without a value, by m-dagger, has no place in a mean of all.
    everyone = sample.values if sample.values.size == sample.n else np.array([math.nan])
    spread = (learned.min(), np.median(learned), learned.max()) if learned.size else ()
    numbers = [one.ease, one.difficulty, one.transfer, _mean(learned), _mean(everyone)]
    harmonic = [_harmonic_mean(learned), _harmonic_mean(everyone)]
    return [
        one.task,
        str(one.n_learned),
        str(one.n - one.n_learned),
        *map(_text, numbers),
        *(map(_text, spread) if spread else [""] * 3),
        *map(_text, [*harmonic, sample.error_rate]),
    ]


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if values.size else math.nan


def _harmonic_mean(values: FloatArray) -> float:
    """Return the number of values over the sum of their reciprocals: 0 as soon as one is 0."""
    if not values.size:
        return math.nan
    with np.errstate(divide="ignore"):
        return float(values.size / (1.0 / values).sum())


def _text(value: float) -> str:
    """Write a number as the reference system does."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return "NaN" if math.isnan(value) else repr(float(value))
