"""What the columns of a wide table are, told by their headings: names, tasks, or neither."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from gnomon.scores.readers.reported_number import reported_number
from gnomon.scores.tidy import Origin

__all__ = ["WideLayout", "is_no_task", "numbers", "numeric", "wide_layout"]

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
    transposed = _plain(names) in TASKS
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
    return _plain(names) in ALGORITHMS + TASKS and not has_tasks


def _is_task(heading: str) -> bool:
    return not is_no_task(heading) and _plain(heading) not in RUNS
