"""Tables of measured series in the columns of the reference system, written and read.

A line is a series: ``#ruleSetName,precedingRules,exp,trialListId,seriesNo,playerId,learned,
total_moves,total_errors,mStar,mDagger``, and ``moveInfo`` where each attempt comes along, as
``success:p0:mu``. In its ``playerStats.csv`` a line is a series, too. Its other tables of results
are of rules, and hold no series any more: they are known, and refused.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gnomon._io.atomic_file import write_atomically
from gnomon._io.text_file import read_text
from gnomon.errors import ScoreDataError
from gnomon.experiments.game_log_rows import SERIES_SCORES, TABLES_OF_RULES, header_names
from gnomon.experiments.series.attempt_chances import NaivePlayer
from gnomon.experiments.series.measured_series import REFERENCE_M_STAR, MeasuredSeries
from gnomon.experiments.series.series_scores import series_table

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

_COLUMNS = (
    "ruleSetName", "precedingRules", "exp", "trialListId", "seriesNo", "playerId", "learned",
    "total_moves", "total_errors", "mStar", "mDagger",
)  # fmt: skip
_TRUE = ("true", "1")


def write_series_table(
    measured: Iterable[MeasuredSeries],
    path: str | os.PathLike[str],
    *,
    p0: NaivePlayer = "random",
    with_moves: bool = False,
) -> None:
    """Write measured series in the columns of the reference system.

    Parameters
    ----------
    measured : iterable of MeasuredSeries
        Who did not learn has an m* of ``Infinity``, unless it was measured ``as_reference``.
    path : path
        The file appears whole or not at all.
    p0 : {"random", "mcp1"}
        Whose chances stand in ``moveInfo``.
    with_moves : bool
        Write ``moveInfo``, too; it is empty where the chances are not known.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from gnomon.experiments import PlayedSeries
    >>> series = PlayedSeries("p1", "clockwise", 0, ())
    >>> one = MeasuredSeries(series, np.array([False, True]), math.inf, False, None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_series_table([one], f"{folder}/a.csv")
    ...     print(Path(f"{folder}/a.csv").read_text().splitlines()[1])
    clockwise,,,,0,p1,false,2,1,Infinity,NaN
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = (*_COLUMNS, "moveInfo") if with_moves else _COLUMNS
    writer.writerow([f"#{columns[0]}", *columns[1:]])
    for one in measured:
        series = one.series
        line = [series.rule, ":".join(one.preceding), series.plan, series.trial_list]
        line += [str(series.number), series.player, str(one.is_learned).lower()]
        line += [str(one.accepted.size), str(int((~one.accepted).sum()))]
        line += [_number_text(one.m_star), _number_text(one.m_dagger)]
        writer.writerow([*line, _moves(one, p0)] if with_moves else line)
    write_atomically(Path(path), out.getvalue().encode())


def _number_text(value: float) -> str:
    """Write a number as Java does, in whose words the table is read."""
    return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(
        value, "NaN" if math.isnan(value) else repr(float(value))
    )


def _moves(one: MeasuredSeries, p0: NaivePlayer) -> str:
    if one.chances is None:
        return ""
    pairs = zip(one.accepted, (chances.of(p0) for chances in one.chances), strict=True)
    return ";".join(
        f"{int(good)}:{_number_text(chance)}:{_number_text(mu)}" for good, (chance, mu) in pairs
    )


def read_series_table(path: Path, metric: str | None = None) -> ScoreTable:
    r"""Read such a table: players are algorithms, a rule after those met before is a task.

    Parameters
    ----------
    path : Path
        Columns go by their names; all but ``ruleSetName`` and ``mStar`` may be absent. The header
        may come again, as in files put together. Without ``playerId`` all are runs of one
        algorithm, ``people``; without ``learned``, an m* of 300 or more was not reached.
    metric : {"m_star", "m_dagger", "errors"}, optional
        Which score: the first, unless it is told; the last, and only this one, of
        ``playerStats.csv``: attempts less removed pieces. Who did not learn is censored, whatever
        number stands there.

    Returns
    -------
    ScoreTable
        With the attributes of :func:`gnomon.experiments.score_series`, and the two numbers as they
        stand: ``recorded_m_star`` and ``recorded_m_dagger``.

    Raises
    ------
    ScoreDataError
        A number cannot be read; the message names file, row and column. Or it is a table of rules,
        such as ``ranking.csv``, in which no series stands any more.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "series.csv"
    ...     _ = path.write_text("#ruleSetName,playerId,learned,mStar\nclockwise,p1,true,12\n")
    ...     read_series_table(path).runs("p1", "clockwise")
    array([12.])
    """
    text = read_text(path, error=ScoreDataError).removeprefix("\ufeff")
    first, _, _ = text.partition("\n")
    names = frozenset(header_names(first))
    metrics = next((known for columns, known in SERIES_SCORES.items() if columns <= names), None)
    if metrics is None:
        raise ScoreDataError(f"{path}: {_why_not(names)}")
    if metric not in (None, *metrics):
        raise ScoreDataError(f"{path}: expected the score {' or '.join(metrics)}, found {metric}")
    metric = metric or metrics[0]
    made = _row if metric != "errors" else _stats_row
    rows = [made(cells, f"{path}, row {n}", metric, n) for n, cells in _cells(text)]
    if not rows:
        raise ScoreDataError(f"{path}: expected series in it, found none")
    by: Literal["player", "people"] = "player" if "playerId" in names else "people"
    return series_table(rows, metric, by=by, provenance=(f"read from {path.name}",))


def _why_not(names: frozenset[str]) -> str:
    what = next(
        (each for columns, each in TABLES_OF_RULES.items() if columns <= names), "no series"
    )
    return (
        f"expected a line for each series, found {what}, which has no scores of runs; what can be "
        "scored and ranked is what it was made from: transcripts, or a table with the columns "
        "ruleSetName and mStar"
    )


def _cells(text: str) -> Iterable[tuple[int, dict[str, str]]]:
    """Yield the number of each line that is no header, and its cells by their names."""
    names: list[str] = []
    for number, values in enumerate(csv.reader(io.StringIO(text)), 1):
        header = header_names(",".join(values))
        if not names or header[0] == names[0]:
            names = header
        elif values and not values[0].startswith("#"):
            yield number, dict(zip(names, (value.strip() for value in values), strict=False))


def _row(cells: dict[str, str], where: str, metric: str, number: int) -> dict[str, Any]:
    m_star = _number(cells, "mStar", where)
    m_dagger = _number(cells, "mDagger", where)
    learned = m_star < REFERENCE_M_STAR
    if "learned" in cells:
        learned = cells["learned"].lower() in _TRUE
    score = m_star if metric == "m_star" else m_dagger
    preceding = cells.get("precedingRules", "").replace(";", ":")
    rule, moves = cells.get("ruleSetName", ""), _count(cells, "total_moves", where)
    return {
        "player": cells.get("playerId") or f"row-{number}",
        "task": f"{preceding}:{rule}" if preceding else rule,
        "series": _count(cells, "seriesNo", where),
        "rule": rule,
        "preceding": preceding or None,
        "plan": cells.get("exp") or None,
        "trial_list": cells.get("trialListId") or None,
        "learned": learned,
        "attempts": moves,
        "errors": _count(cells, "total_errors", where),
        "at_least": _at_least(cells.get("moveInfo", ""), moves),
        "recorded_m_star": m_star,
        "recorded_m_dagger": m_dagger,
        "score": score if learned or math.isnan(score) else math.inf,
    }


def _stats_row(cells: dict[str, str], where: str, metric: str, number: int) -> dict[str, Any]:
    """Return a line of ``playerStats.csv``; of a pick that is accepted it makes an error, too."""
    for name in ("rule", "attempts", "removed"):
        if not cells.get(name):
            raise ScoreDataError(f"{where}, column {name!r}: expected a value, found none")
    attempts, removed = (_count(cells, name, where) for name in ("attempts", "removed"))
    if not 0 <= removed <= attempts:
        raise ScoreDataError(f"{where}: expected 0 to {attempts} pieces removed, found {removed}")
    return {
        "player": cells.get("playerId") or f"row-{number}",
        "task": cells["rule"],
        "series": _count(cells, "seriesNo", where),
        "trial_list": cells.get("trialListId") or None,
        "attempts": attempts,
        metric: attempts - removed,
        "score": float(attempts - removed),
    }


def _at_least(moves: str, n_attempts: int) -> int:
    """Return the attempts before the last streak; without the moves, all are taken to be."""
    good = [move.partition(":")[0] == "1" for move in moves.split(";") if move]
    failures = [index for index, success in enumerate(good) if not success]
    return (failures[-1] + 1 if failures else 0) if good else n_attempts


def _count(cells: dict[str, str], name: str, where: str) -> int:
    """Return a cell that counts; 0 if it is absent."""
    number = _number(cells, name, where) if cells.get(name) else 0.0
    if not number.is_integer():
        raise ScoreDataError(
            f"{where}, column {name!r}: expected a whole number, found {cells[name]!r}"
        )
    return int(number)


def _number(cells: dict[str, str], name: str, where: str) -> float:
    text = cells.get(name, "")
    try:
        return float(text) if text else math.nan
    except ValueError:
        raise ScoreDataError(
            f"{where}, column {name!r}: expected a number, found {text!r}"
        ) from None
