"""Wide tables, as papers and leaderboards print them: a row an algorithm, a column a task.

What a column is (names, a task, or neither) is told by its heading.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from gnomon.errors import DegenerateScoresWarning, listed
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.file_contents import header_names, missing_columns, read_csv
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.reported_number import has_deviation, reported_number
from gnomon.scores.readers.tidy_files import TIDY
from gnomon.scores.readers.usual_columns import role_of
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin

Cells = Mapping[str, Sequence[float | None]]

#: Headings of a column that names algorithms, and of one that names tasks.
ALGORITHMS = (
    "model", "algorithm", "algo", "agent", "method", "system", "name", "learner", "policy",
    "player", "approach",
)  # fmt: skip
TASKS = ("task", "env", "environment", "game", "dataset", "benchmark")
#: Headings of what tells the runs of one algorithm apart: where there is one, names come twice.
RUNS = ("run", "seed", "trial", "repeat", "episode", "step", "steps", "frames")
#: Columns that sum the others up are no tasks, nor are those that tell what an algorithm is.
NO_TASKS = (
    "average", "avg", "mean", "median", "overall", "total", "std", "stderr", "runs",
    "#", "rank", "mean rank", "ranking", "position", "place", "index", "id",
    "params", "params b", "params m", "n params", "num params", "param count",
    "parameters", "parameters b", "n parameters", "num parameters", "number of parameters",
    "size", "size b", "size gb", "model size", "model size b", "context length", "context window",
    "hub", "likes", "downloads", "votes", "n votes", "num votes", "number of votes",
    "year", "date", "release year", "release date", "price", "cost", "co cost", "co2 cost",
)  # fmt: skip
#: So many rows tell which columns hold numbers, since a large file may be none of ours.
GLANCE = 100


def read_wide_table(
    path: str | os.PathLike[str], *, metric: str | None = None, higher_is_better: bool = True
) -> ScoreTable:
    r"""Read a file with a row for each algorithm and a column for each task.

    A column headed ``model``, ``algorithm`` or the like names the algorithms, else the first one.
    If that one is headed ``env``, ``game`` or the like, rows are tasks and columns algorithms.
    Cells may be empty, and are read as
    :func:`gnomon.scores.readers.reported_number.reported_number` has it; each is one run.

    Parameters
    ----------
    path : path
        A comma- or tab-separated file.
    metric : str, optional
        What the scores are.
    higher_is_better : bool

    Raises
    ------
    ScoreDataError
        The file is no such table: it has a column ``score``, or ``task`` beside others of a tidy
        file, or no column but that of names holds numbers. Or a cell among numbers is none, or a
        name comes twice; the message names line and column.

    Warns
    -----
    DegenerateScoresWarning
        Columns are left out that hold no numbers, sum up the others, or are a number of parameters
        and the like; deviations are left out; rows are tasks; or the table looks like a mistake.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "paper.csv"
    ...     _ = path.write_text("model,pong,chess\ndqn,20.1,5%\nsac,19.8,7%\n")
    ...     read_wide_table(path).tasks
    ('pong', 'chess')
    """
    path = Path(path)
    raw, origin = read_csv(path)
    if not _are_wide(raw.columns):
        raise origin.error("expected a column for each task; found one named score or task")
    layout = None if raw.width < 2 or raw.is_empty() else wide_layout(raw, origin)
    _refuse_numbers(raw, layout, origin)
    cells = numbers(raw.drop(layout.names)) if layout else {}
    columns = [
        name for name in numeric(cells) if not (is_no_task(name) or tells_runs(name, cells[name]))
    ]
    if layout is None or not columns:
        raise missing_columns(raw, origin, filter(None, map(role_of, raw.columns)))
    rows = _rows(raw[layout.names], layout)
    _say_what_was_done(raw, layout, columns, rows)
    keys = ("task", "algorithm") if layout.transposed else ("algorithm", "task")
    records = []
    for column in columns:
        for row in rows:
            score = cells[column][row]
            if score is None:
                found = f"expected a number, found {raw[column][row]!r}"
                raise origin.error_at([row], column, found)
            key = dict(zip(keys, (raw[layout.names][row], column), strict=True))
            records.append({**key, "run": 0, "score": score})
    table = ScoreTable.from_records(
        records,
        metric=metric or "score",
        higher_is_better=higher_is_better,
        provenance=(f"read from {path.name} ({' x '.join(f'{key}s' for key in keys)})",),
    )
    return warn_of_suspicions(table)


def _refuse_numbers(raw: pl.DataFrame, layout: WideLayout | None, origin: Origin) -> None:
    """Refuse rows that are named by numbers alone, which may be steps or seeds."""
    if layout is None or layout.transposed or _plain(layout.names) in ALGORITHMS:
        return
    names = layout.names
    found = [reported_number(text) for text in raw[names]]
    if None not in found:
        raise origin.error(
            f"column {names!r} holds numbers: rows may be steps (--step-column {names}), runs "
            f"(--column run={names}) or algorithms (--column algorithm={names}); one of these, and "
            "--columns-are algorithms, tasks or runs, chooses"
        )


def _are_wide(headings: Sequence[str]) -> bool:
    """Return whether the header may be that of a wide table."""
    names = [heading.lower() for heading in headings]
    # "#.nickname" and "#{" begin files of others; a column of ranks may be headed "#".
    is_other = names[0].startswith("#") and names[0] != "#"
    is_tidy = {"algorithm", "task", "run"} <= set(map(role_of, names))
    return not (is_other or is_tidy) and "score" not in names and "task" not in names[1:]


def _rows(names: pl.Series, layout: WideLayout) -> list[int]:
    """Return the rows to read: a last row of averages is no task."""
    every = enumerate(names.fill_null(""))
    return [row for row, name in every if not (layout.transposed and is_no_task(name))]


def _say_what_was_done(
    raw: pl.DataFrame, layout: WideLayout, columns: Sequence[str], rows: Sequence[int]
) -> None:
    names, noun = layout.names, "algorithms" if layout.transposed else "tasks"
    if layout.transposed:
        _warn(f"column {names!r} names tasks: rows are read as tasks, columns as algorithms")
    left_out = [name for name in raw.columns if name not in (names, *columns)]
    if left_out:
        _warn(f"columns left out, since they are no {noun}: {listed(left_out)}")
    if len(rows) < len(raw):
        left_out = [name for row, name in enumerate(raw[names]) if row not in rows]
        _warn(f"rows left out, since they are no tasks: {listed(left_out)}")
    if any(has_deviation(text) for column in columns for text in raw[column]):
        _warn(
            "deviations are left out: each cell is read as one number, and how sure it is is not "
            "used; estimate, compare and profile take means and deviations from a file with "
            "columns algorithm, task, mean, std, runs"
        )


def _warn(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=4)


@dataclass(frozen=True)
class WideLayout:
    """How a wide table is to be read.

    Parameters
    ----------
    names : str
        The column that names the rows.
    transposed : bool
        Whether rows are tasks and the other columns algorithms.
    """

    names: str
    transposed: bool


def wide_layout(raw: pl.DataFrame, origin: Origin) -> WideLayout | None:
    """Return how a table is to be read, or None if it is none with one row a name.

    Parameters
    ----------
    raw : polars.DataFrame
        At least one column, all of texts.
    origin : Origin
        Where the rows come from.

    Raises
    ------
    ScoreDataError
        A name comes twice in what is a wide table otherwise.

    Examples
    --------
    >>> wide_layout(pl.DataFrame({"rank": ["1"], "model": ["dqn"], "pong": ["20"]}), Origin())
    WideLayout(names='model', transposed=False)
    >>> wide_layout(pl.DataFrame({"game": ["pong"], "dqn": ["20"]}), Origin())
    WideLayout(names='game', transposed=True)
    """
    glance = numbers(raw.head(GLANCE))
    columns = numeric(glance)
    names = _column_of_names(raw, glance)
    others = [name for name in raw.columns if name != names]
    transposed = _plain(names) in TASKS or role_of(names) == "task"
    if transposed and any(_plain(name) in ALGORITHMS + RUNS for name in others):
        return None  # a tidy file in other words
    # That very name is the tidy file's: it takes numbers in all other columns to be no such file.
    if "task" in map(_plain, others) or (_plain(names) == "task" and set(others) - set(columns)):
        return None
    twice = _repeated(raw[names])
    if not twice:
        return WideLayout(names, transposed)
    if _is_known(names, others) and sum(_is_task(x) for x in others if x in columns) > 1:
        found = f"expected a row for each name, found {raw[names][twice[0]] or ''!r} twice; "
        message = "several runs belong in a tidy file, with columns algorithm, task, run, score"
        raise origin.error_at(twice, names, found + message)
    return None


def is_no_task(heading: str) -> bool:
    """Return whether a column has one of the :data:`NO_TASKS`, which may hold numbers.

    Examples
    --------
    >>> [is_no_task(text) for text in ("Average ⬆️", "#Params (B)", "params_b", "Rank of words")]
    [True, True, True, False]
    """
    return _plain(heading) in NO_TASKS


def tells_runs(heading: str, found: Sequence[float | None]) -> bool:
    """Return whether a column tells runs apart: a seed is a whole number, and SEED is a benchmark.

    Examples
    --------
    >>> tells_runs("seed", [1.0, 2.0]), tells_runs("SEED", [71.5, 68.2]), tells_runs("pong", [1.0])
    (True, False, False)
    """
    known = [x for x in found if x is not None and x == x]
    return _plain(heading) in RUNS and all(x.is_integer() for x in known)


def numbers(raw: pl.DataFrame) -> dict[str, list[float | None]]:
    """Return what the cells of each column report, None for what is no number."""
    return {name: [reported_number(text) for text in raw[name]] for name in raw.columns}


def numeric(cells: Cells) -> list[str]:
    """Return the columns with a number in them, which NaN is not."""
    return [name for name, found in cells.items() if any(x is not None and x == x for x in found)]


def _plain(heading: str) -> str:
    """Return a heading in small letters, without what stands in brackets, and signs."""
    bare = re.sub(r"\(.*?\)", "", heading.lower())
    return " ".join(re.findall(r"[a-z0-9]+", bare)) or bare.strip()


def _column_of_names(raw: pl.DataFrame, glance: Cells) -> str:
    """Return the column that names the rows: by its heading, else the first one."""
    # There are benchmarks called "Agent" and "System": these hold numbers alone.
    headed = [x for x in raw.columns if _plain(x) in ALGORITHMS and None in glance[x]]
    # Ranks differ from row to row as well. A column "index" of texts may be the names.
    others = [x for x in raw.columns if not (is_no_task(x) and None not in glance[x])]
    candidates = headed or (others or raw.columns)[:1]
    return next((name for name in candidates if not _repeated(raw[name])), candidates[0])


def _repeated(column: pl.Series) -> list[int]:
    """Return the first two rows with the same text, none if all are different."""
    texts = column.fill_null("").str.strip_chars()
    repeated = texts.filter(texts.is_duplicated())
    if repeated.is_empty():
        return []
    return [row for row, text in enumerate(texts) if text == repeated[0]][:2]


def _is_known(names: str, others: Sequence[str]) -> bool:
    """Return whether the headings alone say that rows have names, and that tasks are columns."""
    has_tasks = any(_plain(name) in TASKS for name in others)
    is_told = _plain(names) in ALGORITHMS + TASKS or role_of(names) == "task"
    return is_told and not has_tasks


def _is_task(heading: str) -> bool:
    return not is_no_task(heading) and _plain(heading) not in RUNS


def _recognises(path: Path) -> bool:
    if path.suffix.lower() not in (".csv", ".tsv") or not path.is_file():
        return False
    try:
        return _are_wide(header_names(path) or [""])
    except OSError:
        return False  # whoever reads it as a tidy file says what is wrong


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    """Read a wide table; one whose column of scores is named is tidy, with other headings."""
    if wanted.metric in header_names(path):
        return TIDY.read(path, wanted)
    better = wanted.is_higher_better
    return read_wide_table(path, metric=wanted.metric, higher_is_better=better)


WIDE = Reader(
    "wide",
    "a CSV or TSV table with a row an algorithm and a column a task",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric"}),
    is_general=True,
)
