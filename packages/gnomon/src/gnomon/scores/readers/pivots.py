"""Pivots: a row a seed or a step, and a column for each algorithm, task or run.

What the columns are does not stand in such a file: of ``seed,a,b`` they may be algorithms on one
task or tasks of one algorithm. So it has to be said (``columns_are``), unless their headings do, as
``seed 0, seed 1`` do.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from gnomon.errors import joined, listed
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.file_contents import header_names, read_csv
from gnomon.scores.readers.registry import ColumnsAre, Reader, ReadRequest
from gnomon.scores.readers.reported_number import reported_number
from gnomon.scores.readers.tidy_files import TIDY
from gnomon.scores.readers.usual_columns import role_of, usual_columns
from gnomon.scores.readers.wide_table import ALGORITHMS
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin

_ROLES = ("algorithm", "task", "run", "step")
#: What a column of a pivot is called, and what one column of it is.
_ONE: dict[ColumnsAre, str] = {"algorithms": "algorithm", "tasks": "task", "runs": "run"}
#: What a column of steps is called in a table that has no other columns but curves.
_STEPS = ("steps", "frames", "total_frames", "env_steps", "iteration", "iterations", "epoch",
          "epochs", "episode", "episodes")  # fmt: skip
_SEED = re.compile(r"(?:seed|run)[\s_-]*\d+", re.IGNORECASE)
#: A first column without a heading, as data frames write their index.
_INDEX = "index"
#: So many characters tell whether such a column holds names.
_GLANCE = 10_000


def _recognises(path: Path) -> bool:
    if path.suffix.lower() not in (".csv", ".tsv") or not path.is_file():
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
    if role == "run" and heading.isupper():
        return None
    if role is None and heading.lower() in _STEPS:
        return "step"
    return "algorithm" if role is None and heading.lower() in ALGORITHMS else role


def _are_seeds(values: list[str]) -> bool:
    return all(_SEED.fullmatch(name) for name in values)


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    if wanted.columns and wanted.columns_are is None:
        return TIDY.read(path, wanted)  # whoever names columns has another reading
    raw, origin = read_csv(path, unnamed=_INDEX)
    columns = _columns(raw, wanted, origin)
    values = [name for name in raw.columns if name not in columns.values()]
    if _INDEX in values and wanted.columns_are is None and not columns:
        raise origin.error(
            "the first column has no heading: rows may be algorithms and columns tasks, or the "
            "other way round: --columns-are tasks or --columns-are algorithms chooses"
        )
    what = wanted.columns_are or _meaning(columns, values, origin)
    one = _ONE[what]
    if _INDEX in values:
        values.remove(_INDEX)
        rest = next(role for role in ("algorithm", "task") if role != one)
        columns.setdefault(rest, _INDEX)
    if one in columns:
        raise origin.error(f"the columns are {what}, and {columns[one]!r} is the {one} already")
    frame = _melted(raw, columns, values, one, origin)
    stem = pl.lit(path.stem)
    defaults = {"algorithm": stem, "task": stem, "run": pl.lit(0)}
    absent = [x.alias(name) for name, x in defaults.items() if name not in frame.columns]
    table = ScoreTable.from_frame(
        frame.with_columns(absent),
        metric=wanted.metric or "score",
        higher_is_better=wanted.is_higher_better,
        provenance=(f"read from {path.name} (columns are {what})",),
    )
    return warn_of_suspicions(table)


def _columns(raw: pl.DataFrame, wanted: ReadRequest, origin: Origin) -> dict[str, str]:
    """Return the columns that tell what a row is."""
    named = dict(wanted.columns)
    for name in raw.columns:
        role = _role(name)
        if role in ("algorithm", "step") and role_of(name) is None and name not in named.values():
            named.setdefault(role, name)
    for theirs in named.values():
        if theirs not in raw.columns:
            raise origin.error(f"no column {theirs!r}; found {listed(raw.columns, 12)}")
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
            f"--columns-are {one}, or --score {values[0]}, chooses"
        )
    meant = f"{one} or {other}"
    if len(values) == 1:
        meant = f"that of an algorithm or of a {'run' if 'runs' in (one, other) else 'task'}"
    raise origin.error(
        f"beside {rows} {shown} may be {meant}: "
        f"--columns-are {one} or --columns-are {other} chooses"
    )


def _melted(
    raw: pl.DataFrame, columns: dict[str, str], values: list[str], one: str, origin: Origin
) -> pl.DataFrame:
    """Return a row for each cell; an empty one is a missing run, and on a curve it is no point."""
    parts = []
    for name in values:
        found = [reported_number(text) for text in raw[name]]
        if None in found:
            at = found.index(None)
            raise origin.error_at([at], name, f"expected a number, found {raw[name][at]!r}")
        keys = [raw[theirs].alias(role) for role, theirs in columns.items()]
        part = pl.DataFrame([*keys, pl.Series("score", found, pl.Float64)])
        parts.append(part.with_columns(pl.lit(name).alias(one)))
    whole = pl.concat(parts)
    return whole.filter(~pl.col("score").is_nan()) if "step" in columns else whole


PIVOT = Reader(
    "pivot",
    "a table with a row a seed or a step and a column an algorithm, task or run",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"columns", "columns_are"}),
    is_general=True,
)
