"""Tables of measured series in the columns of the reference system, written and read.

A line is a series: ``#ruleSetName,precedingRules,exp,trialListId,seriesNo,playerId,learned,
total_moves,total_errors,mStar,mDagger``, and ``moveInfo`` where each attempt comes along, as
``success:p0:mu``.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon._io.atomic_file import write_atomically
from gnomon._io.text_file import read_text
from gnomon.errors import ScoreDataError
from gnomon.experiments.series.attempt_chances import NaivePlayer
from gnomon.experiments.series.measured_series import MeasuredSeries
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


def _header(line: str) -> list[str]:
    return [name.strip() for name in line.strip().lstrip("#").split(",")]


def read_series_table(path: Path, metric: str = "m_star") -> ScoreTable:
    r"""Read such a table: players are algorithms, a rule after those met before is a task.

    Parameters
    ----------
    path : Path
        Columns go by their names; all but ``ruleSetName`` and ``mStar`` may be absent. The header
        may come again, as in files put together.
    metric : {"m_star", "m_dagger"}
        Which score. Who did not learn is censored, whatever number stands there.

    Returns
    -------
    ScoreTable
        With the attributes of :func:`gnomon.experiments.score_series`, and the two numbers as they
        stand: ``recorded_m_star`` and ``recorded_m_dagger``.

    Raises
    ------
    ScoreDataError
        A number cannot be read; the message names file, row and column.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "series.csv"
    ...     _ = path.write_text("#ruleSetName,playerId,learned,mStar\nclockwise,p1,true,12\n")
    ...     read_series_table(path).runs("p1", "clockwise")
    array([12.])
    """
    if metric not in ("m_star", "m_dagger"):
        raise ScoreDataError(f"{path}: expected the score m_star or m_dagger, found {metric}")
    rows = list(_rows(path, metric))
    if not rows:
        raise ScoreDataError(f"{path}: expected series in it, found none")
    return series_table(rows, metric, provenance=(f"read from {path.name}",))


def _rows(path: Path, metric: str) -> Iterable[dict[str, Any]]:
    names: list[str] = []
    text = read_text(path, error=ScoreDataError).removeprefix("\ufeff")
    for number, values in enumerate(csv.reader(io.StringIO(text)), 1):
        joined = ",".join(values)
        if _header(joined)[0] == "ruleSetName" or not names:
            names = _header(joined)
        elif values and not values[0].startswith("#"):
            cells = dict(zip(names, (value.strip() for value in values), strict=False))
            yield _row(cells, f"{path}, row {number}", metric, number)


def _row(cells: dict[str, str], where: str, metric: str, number: int) -> dict[str, Any]:
    learned = cells.get("learned", "false").lower() in _TRUE
    m_star = _number(cells, "mStar", where)
    m_dagger = _number(cells, "mDagger", where)
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
