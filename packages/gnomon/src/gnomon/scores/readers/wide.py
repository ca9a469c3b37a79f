"""Wide tables, a row for each algorithm and a column for each task, and pivots by seed or step.

The heading shows what a column is: names, a task, or neither.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gnomon.errors import joined, listed, note, option, reading
from gnomon.scores.columns import Column, Rows, Texts
from gnomon.scores.readers.files import (
    has_deviation,
    header_names,
    is_table,
    read_csv,
    reported_number,
    reported_numbers,
)
from gnomon.scores.readers.registry import ColumnsAre, Reader, ReadRequest
from gnomon.scores.readers.tables import TIDY
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, missing_columns, role_of, tidy_rows, usual_columns

Cells = Mapping[str, Sequence[float | None]]

#: Headings of a column that names algorithms, and of one that names tasks.
ALGORITHMS = (
    "model", "algorithm", "algo", "agent", "method", "system", "name", "learner", "policy",
    "player", "approach",
)  # fmt: skip
TASKS = ("task", "env", "environment", "game", "dataset", "benchmark")
#: Headings of a column that names items of an evaluation.
ITEMS = (
    "item", "item id", "question", "question id", "sample", "sample id", "example id", "instance",
    "instance id", "doc id",
)  # fmt: skip
#: Signs in a heading that low or high scores are good.
_LOW, _HIGH = ("↓", "⬇", "lower is better", "lower better"), ("↑", "⬆", "higher is better")
#: Headings of columns that distinguish the runs of an algorithm; with one, names repeat.
RUNS = ("run", "seed", "trial", "repeat", "episode", "step", "steps", "frames")
#: Columns that summarise others, or describe an algorithm, are no tasks.
NO_TASKS = (
    "average", "avg", "mean", "median", "overall", "total", "std", "stderr", "runs",
    "#", "rank", "mean rank", "ranking", "position", "place", "index", "id",
    "params", "params b", "params m", "n params", "num params", "param count",
    "parameters", "parameters b", "n parameters", "num parameters", "number of parameters",
    "size", "size b", "size gb", "model size", "model size b", "context length", "context window",
    "hub", "likes", "downloads", "votes", "n votes", "num votes", "number of votes",
    "year", "date", "release year", "release date", "price", "cost", "co cost", "co2 cost",
)  # fmt: skip
#: Number of rows read to determine which columns are numeric.
GLANCE = 100


def _read_wide(path: Path, wanted: ReadRequest) -> ScoreTable:
    """Read a wide table; one whose column of scores is named is tidy, with other headings."""
    if wanted.metric in header_names(path):
        return TIDY.read(path, wanted)
    higher_is_better = wanted.is_higher_better
    raw, origin = read_csv(path)
    if not _are_wide(raw.names):
        raise origin.error("expected a column for each task; found one named score or task")
    layout = None if len(raw.names) < 2 or not len(raw) else wide_layout(raw, origin)
    _refuse_numbers(raw, layout, origin)
    cells = numbers(raw.but(layout.names)) if layout else {}
    columns = [
        name for name in numeric(cells) if not (is_no_task(name) or tells_runs(name, cells[name]))
    ]
    if layout is None or not columns:
        raise missing_columns(raw, origin, filter(None, map(role_of, raw.names)))
    rows = _rows(raw.texts(layout.names), layout)
    _say_what_was_done(raw, layout, columns, rows)
    keys = ("task", "algorithm") if layout.transposed else ("algorithm", "task")
    low = [name for name in columns if _has_sign(name, _LOW) or _has_sign(layout.names, _LOW)]
    if len(low) == len(columns):
        higher_is_better = False
    elif low:
        note(f"columns {listed(low)} are marked as lower is better, others not: their scores are "
              "read with the opposite sign")  # fmt: skip
    signs = {name: -1.0 if name in low and len(low) < len(columns) else 1.0 for name in columns}
    records = []
    names_of_rows = raw.texts(layout.names).tolist()
    for column in columns:
        for row in rows:
            score = cells[column][row]
            if score is None:
                found = f"expected a number, found {raw.tolist(column)[row]!r}"
                raise origin.error_at([row], column, found)
            key = dict(zip(keys, (names_of_rows[row], _without_sign(column)), strict=True))
            records.append({**key, "run": 0, "score": signs[column] * score})
    table = ScoreTable.from_records(
        records,
        metric=wanted.metric or "score",
        higher_is_better=higher_is_better,
        provenance=(f"read from {path.name} ({' x '.join(f'{key}s' for key in keys)})",),
    )
    if _plain(layout.names) in ITEMS:
        table = replace(table, units="items")
    return table


def _has_sign(heading: str, signs: Sequence[str]) -> bool:
    return any(sign in heading.lower() for sign in signs)


def _without_sign(heading: str) -> str:
    """Return a heading without what marks a direction."""
    for sign in (*_LOW, *_HIGH):
        heading = re.sub(rf"\s*\(?{sign}\ufe0f?\)?", "", heading, flags=re.IGNORECASE)
    return heading.strip()


def _refuse_numbers(raw: Rows, layout: WideLayout | None, origin: Origin) -> None:
    """Refuse rows that are named by numbers alone, which may be steps or seeds."""
    if layout is None or layout.transposed or _plain(layout.names) in ALGORITHMS:
        return
    names = layout.names
    found = [reported_number(text) for text in raw.tolist(names)]
    if None not in found:
        raise origin.error(
            f"column {names!r} holds numbers: rows may be steps, runs "
            f"({option(columns={'run': names})}) or algorithms "
            f"({option(columns={'algorithm': names})}); name one, and what columns are, as in "
            f"{reading(origin.file, step_column=names, columns_are='algorithms')}"
        )


def _are_wide(headings: Sequence[str]) -> bool:
    """Return whether the header may be that of a wide table."""
    names = [heading.lower() for heading in headings]
    # "#.nickname" and "#{" begin files of others; a column of ranks may be headed "#".
    is_other = names[0].startswith("#") and names[0] != "#"
    roles = set(map(role_of, names))
    is_tidy = {"algorithm", "task"} <= roles and not roles.isdisjoint(("run", "score"))
    return not (is_other or is_tidy) and "score" not in names and "task" not in names[1:]


def _rows(names: Texts, layout: WideLayout) -> list[int]:
    """Return the rows to read: a last row of averages is no task."""
    every = enumerate(name or "" for name in names.tolist())
    return [row for row, name in every if not (layout.transposed and is_no_task(name))]


def _say_what_was_done(
    raw: Rows, layout: WideLayout, columns: Sequence[str], rows: Sequence[int]
) -> None:
    names, noun = layout.names, "algorithms" if layout.transposed else "tasks"
    if layout.transposed:
        what = "items" if _plain(names) in ITEMS else "tasks"
        note(f"column {names!r} names {what}: rows are read as {what}, columns as algorithms")
    left_out = [name for name in raw.names if name not in (names, *columns)]
    if left_out:
        note(f"columns left out, since they are not {noun}: {listed(left_out)}")
    if len(rows) < len(raw):
        left_out = [name for row, name in enumerate(raw.tolist(names)) if row not in rows]
        note(f"rows left out, since they are not tasks: {listed(left_out)}")
    if any(has_deviation(text) for column in columns for text in raw.tolist(column)):
        note(
            "deviations are left out: each cell is read as one number, and its uncertainty is not "
            "used; estimate, compare and profile take means and deviations from a file with "
            "columns algorithm, task, mean, std, runs"
        )


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


def wide_layout(raw: Rows, origin: Origin) -> WideLayout | None:
    """Return how a table is to be read, or None if it is none with one row a name."""
    glance = numbers(raw.take(slice(GLANCE)))
    columns = numeric(glance)
    names = _column_of_names(raw, glance)
    others = [name for name in raw.names if name != names]
    transposed = _plain(names) in TASKS + ITEMS or role_of(names) == "task"
    if transposed and any(_plain(name) in ALGORITHMS + RUNS for name in others):
        return None  # a tidy file in other words
    # That very name is the tidy file's: it takes numbers in all other columns to be no such file.
    if "task" in map(_plain, others) or (_plain(names) == "task" and set(others) - set(columns)):
        return None
    twice = _repeated(raw[names])
    if not twice:
        return WideLayout(names, transposed)
    if _is_known(names, others) and sum(_is_task(x) for x in others if x in columns) > 1:
        name = raw.texts(names).tolist()[twice[0]] or ""
        found = f"expected a row for each name, found {name!r} twice; "
        message = "several runs belong in a tidy file, with columns algorithm, task, run, score"
        raise origin.error_at(twice, names, found + message)
    return None


def is_no_task(heading: str) -> bool:
    """Return whether a column has one of the :data:`NO_TASKS`, which may hold numbers."""
    return _plain(heading) in NO_TASKS


def tells_runs(heading: str, found: Sequence[float | None]) -> bool:
    """Return whether a column distinguishes runs: a seed is a whole number, SEED a benchmark."""
    known = [x for x in found if x is not None and x == x]
    return _plain(heading) in RUNS and all(x.is_integer() for x in known)


def numbers(raw: Rows) -> dict[str, list[float | None]]:
    """Return what the cells of each column report, None for what is no number."""
    return {name: [reported_number(text) for text in raw.tolist(name)] for name in raw.names}


def numeric(cells: Cells) -> list[str]:
    """Return the columns with a number in them, which NaN is not."""
    return [name for name, found in cells.items() if any(x is not None and x == x for x in found)]


def _plain(heading: str) -> str:
    """Return a heading in small letters, without what stands in brackets, and signs."""
    bare = re.sub(r"\(.*?\)", "", heading.lower())
    return " ".join(re.findall(r"[a-z0-9]+", bare)) or bare.strip()


def _column_of_names(raw: Rows, glance: Cells) -> str:
    """Return the column that names the rows: by its heading, else the first one."""
    # There are benchmarks called "Agent" and "System": these hold numbers alone.
    headed = [x for x in raw.names if _plain(x) in ALGORITHMS and None in glance[x]]
    # Ranks differ from row to row as well. A column "index" of texts may be the names.
    others = [x for x in raw.names if not (is_no_task(x) and None not in glance[x])]
    candidates = headed or (others or raw.names)[:1]
    return next((name for name in candidates if not _repeated(raw[name])), candidates[0])


def _repeated(column: Column) -> list[int]:
    """Return the first two rows with the same text, none if all are different."""
    places: dict[str, int] = {}
    for row, value in enumerate(column.tolist()):
        text = "" if value is None else str(value).strip()
        if text in places:
            return [places[text], row]
        places[text] = row
    return []


def _is_known(names: str, others: Sequence[str]) -> bool:
    """Return whether the headings alone show that rows have names, and that tasks are columns."""
    has_tasks = any(_plain(name) in TASKS for name in others)
    is_told = _plain(names) in ALGORITHMS + TASKS or role_of(names) == "task"
    return is_told and not has_tasks


def _is_task(heading: str) -> bool:
    return not is_no_task(heading) and _plain(heading) not in RUNS


def _recognises(path: Path) -> bool:
    try:
        return is_table(path) and _are_wide(header_names(path) or [""])
    except OSError:
        return False  # reading it as a tidy file gives the error


WIDE = Reader(
    "wide",
    "a CSV or TSV table with a row per algorithm and a column per task",
    recognises=_recognises,
    read=_read_wide,
    takes=frozenset({"metric"}),
    is_general=True,
)


_ROLES = ("algorithm", "task", "run", "step")
#: What a column of a pivot is called, and what one column of it is.
_ONE: dict[ColumnsAre, str] = {"algorithms": "algorithm", "tasks": "task", "runs": "run"}
#: What a column of steps is called in a table that has no other columns but curves.
_STEPS = ("steps", "frames", "total_frames", "env_steps", "iteration", "iterations", "epoch",
          "epochs", "episode", "episodes")  # fmt: skip
_SEED = re.compile(r"(?:seed|run)[\s_-]*\d+", re.IGNORECASE)
#: A first column without a heading, as data frames write their index.
_INDEX = "index"
#: Number of characters that decide whether such a column contains names.
_GLANCE = 10_000


def _recognises_pivot(path: Path) -> bool:
    if not is_table(path):
        return False
    try:
        names = header_names(path) or [""]
        return _are_pivot(names) or (not names[0] and _names_rows(names, path))
    except OSError:
        return False


def _names_rows(names: list[str], path: Path) -> bool:
    """Return whether a first column without a heading holds texts, and all others are unknown."""
    if any(_role(name) for name in names) or len(names) < 3:
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        rows = (line for line in file.readlines(_GLANCE) if line.strip(", \t\r\n"))
        cells = [re.split(r"[,\t]", line)[0].strip('"\r\n ') for line in rows][1:]
    return any(cell and reported_number(cell) is None for cell in cells)


def _are_pivot(names: list[str]) -> bool:
    """Return whether headings are those of seeds or steps and two more columns at least."""
    roles = [_role(name) for name in names]
    values = [name for name, role in zip(names, roles, strict=True) if role is None and name]
    if not values or "score" in names or {"algorithm", "task"} <= set(roles):
        return False
    if "run" in roles or "step" in roles:
        return roles[0] is not None
    return (
        len(values) > 1
        and roles[0] == "algorithm"
        and (_are_seeds(values) or all(x.isdigit() for x in values))
    )


def _role(heading: str) -> str | None:
    """Return what a column of rows' names is; a benchmark may be called SEED."""
    role = role_of(heading)
    if role == "score":
        return None
    if role == "run" and heading.isupper():
        return None
    if role is None and heading.lower() in _STEPS:
        return "step"
    return "algorithm" if role is None and heading.lower() in ALGORITHMS else role


def _are_seeds(values: list[str]) -> bool:
    return all(_SEED.fullmatch(name) for name in values)


def _read_pivot(path: Path, wanted: ReadRequest) -> ScoreTable:
    if wanted.columns and wanted.columns_are is None:
        return TIDY.read(path, wanted)  # named columns mean another layout
    raw, origin = read_csv(path, unnamed=_INDEX)
    columns = _columns_of_rows(raw, wanted, origin)
    values = [name for name in raw.names if name not in columns.values()]
    if _INDEX in values and wanted.columns_are is None and not columns:
        raise origin.error(
            "the first column has no heading: rows may be algorithms and columns tasks, or the "
            f"other way round: {reading(origin.file, columns_are='tasks')} or "
            f"{option(columns_are='algorithms')} chooses"
        )
    what = wanted.columns_are or _meaning(columns, values, origin)
    one = _ONE[what]
    if _INDEX in values:
        values.remove(_INDEX)
        rest = next(role for role in ("algorithm", "task") if role != one)
        columns.setdefault(rest, _INDEX)
    if one in columns:
        raise origin.error(f"the columns are {what}, and {columns[one]!r} is the {one} already")
    rows = _melted(raw, columns, values, one, origin)
    stem = Texts.repeated(path.stem, len(rows))
    absent = {name: stem for name in ("algorithm", "task") if name not in rows}
    return ScoreTable(
        rows=tidy_rows(rows.with_columns(absent), Origin(str(path)), {}),
        metric=wanted.metric or "score",
        higher_is_better=wanted.is_higher_better,
        provenance=(f"read from {path.name} (columns are {what})",),
    )


def _columns_of_rows(raw: Rows, wanted: ReadRequest, origin: Origin) -> dict[str, str]:
    """Return the columns that identify a row."""
    named = dict(wanted.columns)
    for name in raw.names:
        role = _role(name)
        if role in ("algorithm", "step") and role_of(name) is None and name not in named.values():
            named.setdefault(role, name)
    for theirs in named.values():
        if theirs not in raw.names:
            raise origin.error(f"no column {theirs!r}; found {listed(raw.names, 12)}")
    found = usual_columns(raw, named, _ROLES, origin)
    return {role: name for role, name in found.items() if role in wanted.columns or _role(name)}


def _meaning(columns: dict[str, str], values: list[str], origin: Origin) -> ColumnsAre:
    """Return what the columns are by their headings; refuse those that may be two things."""
    if _are_seeds(values) and "run" not in columns:
        return "runs"
    shown = f"the columns {listed(values, 4)}" if len(values) > 1 else f"the column {values[0]}"
    rows = joined([repr(name) for name in columns.values()])
    if "step" in columns:
        one, other = ("algorithms", "runs") if "run" not in columns else ("algorithms", "tasks")
    elif "run" not in columns:
        one, other = "runs", "tasks"
    else:
        one, other = "algorithms", "tasks"
    if "algorithm" in columns and one == "algorithms":
        one = "tasks"
    if "task" in columns and other == "tasks":
        other = one
    if one == other:
        raise origin.error(
            f"beside {rows} {shown} may be {one}, or different scores: "
            f"{reading(origin.file, columns_are=one)}, or {option(metric=values[0])}, chooses"
        )
    meant = f"{one} or {other}"
    if len(values) == 1:
        meant = f"that of an algorithm or of a {'run' if 'runs' in (one, other) else 'task'}"
    raise origin.error(
        f"beside {rows} {shown} may be {meant}: "
        f"{reading(origin.file, columns_are=one)} or {option(columns_are=other)} chooses"
    )


def _melted(
    raw: Rows, columns: dict[str, str], values: list[str], one: str, origin: Origin
) -> Rows:
    """Return a row for each cell; an empty one is a missing run, and on a curve it is no point."""
    parts = []
    for name in values:
        keys = {role: raw[theirs] for role, theirs in columns.items()}
        score = reported_numbers(raw, name, origin)
        parts.append(Rows(keys | {one: Texts.repeated(name, len(raw)), "score": score}))
    whole = Rows.joined(parts)
    return whole.take(~np.isnan(whole["score"])) if "step" in columns else whole


PIVOT = Reader(
    "pivot",
    "a table with a row per seed or step and a column per algorithm, task or run",
    recognises=_recognises_pivot,
    read=_read_pivot,
    takes=frozenset({"columns", "columns_are"}),
    is_general=True,
)
