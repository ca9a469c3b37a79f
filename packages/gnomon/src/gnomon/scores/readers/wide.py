"""Wide tables, a row for each algorithm and a column for each task, and pivots by seed or step.

The heading shows what a column is: a key of the rows, scores, or neither. :func:`melted` makes a
row of each cell of scores.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gnomon.errors import ScoreDataError, joined, listed, note, option, reading
from gnomon.scores.columns import Column, Rows, Texts, rows_of_columns
from gnomon.scores.readers.files import (
    has_deviation,
    header_line,
    reported_number,
    reported_numbers,
)
from gnomon.scores.readers.registry import ColumnsAre, Reader, ReadRequest
from gnomon.scores.readers.source import Source
from gnomon.scores.readers.tables import read_tidy
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, missing_columns, role_of, tidy_rows, usual_columns

#: Headings of a column that names algorithms, tasks, or items of an evaluation.
ALGORITHMS = (
    "model", "algorithm", "algo", "agent", "method", "system", "name", "learner", "policy",
    "player", "approach",
)  # fmt: skip
TASKS = ("task", "env", "environment", "game", "dataset", "benchmark")
ITEMS = (
    "item", "item id", "question", "question id", "sample", "sample id", "example id", "instance",
    "instance id", "doc id",
)  # fmt: skip
#: Headings of columns that distinguish the runs of an algorithm; with one, names repeat.
RUNS = ("run", "seed", "trial", "repeat", "episode", "step", "steps", "frames")
#: Headings of columns of steps in a table that has no other columns but curves.
STEPS = ("epoch", "epochs", "episode", "episodes")
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
#: Signs in a heading that low or high scores are good.
_LOW, _HIGH = ("↓", "⬇", "lower is better", "lower better"), ("↑", "⬆", "higher is better")
_SEED = re.compile(r"(?:seed|run)[\s_-]*\d+", re.IGNORECASE)
#: The name of a first column without a heading, as data frames write their index.
_INDEX = ""
#: What the columns of a pivot are, and what one column of it is.
_ONE: dict[ColumnsAre, str] = {"algorithms": "algorithm", "tasks": "task", "runs": "run"}
#: Number of rows that show what a column holds.
_ROWS = 100


def melted(
    raw: Rows, keys: Mapping[str, str], values: Mapping[str, Mapping[str, str]], origin: Origin
) -> Rows:
    """Return a row for each cell of some columns.

    `keys` maps roles to the columns that hold them, `values` each column of scores to what it is.
    """
    same = {role: raw[name] for role, name in keys.items()}
    parts = []
    for name, about in values.items():
        own = {role: Texts.repeated(text, len(raw)) for role, text in about.items()}
        parts.append(Rows(same | own | {"score": reported_numbers(raw, name, origin)}))
    return Rows.joined(parts)


def _read_wide(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a wide table; one whose column of scores is named is tidy, with other headings."""
    if wanted.metric in source.names:
        return read_tidy(source, wanted)
    raw, origin = source.table()
    if not _are_wide(raw.names):
        raise origin.error("expected a column for each task; found one named score or task")
    names = _column_of_names(raw, origin) if len(raw.names) > 1 and len(raw) else None
    columns = [name for name in raw.names if name != names and _is_scores(name, raw[name])]
    if names is None or not columns:
        raise missing_columns(raw, origin, filter(None, map(role_of, raw.names)))
    noun = "items" if _plain(names) in ITEMS else "tasks" if _names_tasks(names) else "algorithms"
    if noun == "algorithms" and _plain(names) not in ALGORITHMS:
        _refuse_numbers(raw, names, origin)
    _say_what_is_left_out(raw, names, columns, noun)
    if noun != "algorithms":  # a last row of averages is no task
        kept = [at for at, x in enumerate(raw.tolist(names)) if not _is_no_task(str(x or ""))]
        raw, origin = raw.take(kept), origin.of_rows(np.array(kept, np.int64))
    row, column = ("algorithm", "task") if noun == "algorithms" else ("task", "algorithm")
    values = {name: {column: _without_sign(name)} for name in columns}
    rows = melted(raw, {row: names}, values, origin)
    low = [name for name in columns if any(x in f"{name}\n{names}".lower() for x in _LOW)]
    is_mixed = 0 < len(low) < len(columns)
    if is_mixed:
        note(f"columns {listed(low)} are marked as lower is better, others not: their scores are "
              "read with the opposite sign")  # fmt: skip
        signs = np.repeat([-1.0 if name in low else 1.0 for name in columns], len(raw))
        rows = rows.with_columns({"score": rows["score"] * signs})
    table = ScoreTable(
        tidy_rows(rows, Origin(origin.file), {}),
        metric=wanted.metric or "score",
        higher_is_better=wanted.is_higher_better and (not low or is_mixed),
        provenance=origin.provenance(f"{row}s x {column}s"),
    )
    return replace(table, units="items") if noun == "items" else table


def _are_wide(headings: Sequence[str]) -> bool:
    """Return whether the header may be that of a wide table."""
    names = [heading.lower() for heading in headings]
    # "#.nickname" and "#{" begin files of others; a column of ranks may be headed "#".
    is_other = names[0].startswith("#") and names[0] != "#"
    roles = set(map(role_of, names))
    is_tidy = {"algorithm", "task"} <= roles and not roles.isdisjoint(("run", "score"))
    return not (is_other or is_tidy) and "score" not in names and "task" not in names[1:]


def _column_of_names(raw: Rows, origin: Origin) -> str | None:
    """Return the column that names the rows: by its heading, else the first; None if none does."""
    glance = raw.take(slice(_ROWS))
    texts = [name for name in raw.names if None in _numbers(glance[name])]
    # There are benchmarks called "Agent" and "System": these hold numbers alone.
    headed = [name for name in texts if _plain(name) in ALGORITHMS]
    # Ranks differ from row to row as well. A column "index" of texts may be the names.
    others = [name for name in raw.names if name in texts or not _is_no_task(name)]
    candidates = headed or (others or list(raw.names))[:1]
    names = next((name for name in candidates if not _repeated(raw[name])), candidates[0])
    rest = [name for name in raw.names if name != names]
    plain = [_plain(name) for name in rest]
    numeric = [name for name in rest if _has_number(_numbers(glance[name]))]
    if _names_tasks(names) and any(name in ALGORITHMS + RUNS for name in plain):
        return None  # a tidy file in other words
    # That very name is the tidy file's: it takes numbers in all other columns to be no such file.
    if "task" in plain or (_plain(names) == "task" and len(numeric) < len(rest)):
        return None
    twice = _repeated(raw[names])
    if not twice:
        return names
    is_known = _names_tasks(names) or _plain(names) in ALGORITHMS + TASKS
    tasks = [name for name in numeric if not _is_no_task(name) and _plain(name) not in RUNS]
    if is_known and len(tasks) > 1 and not any(name in TASKS for name in plain):
        name = raw.texts(names).tolist()[twice[0]] or ""
        found = f"expected a row for each name, found {name!r} twice; "
        message = "several runs belong in a tidy file, with columns algorithm, task, run, score"
        raise origin.error_at(twice, names, found + message)
    return None


def _numbers(column: Column) -> list[float | None]:
    """Return what the cells of a column report, None for what is no number."""
    return [reported_number(cell) for cell in column.tolist()]


def _has_number(found: Sequence[float | None]) -> bool:
    return any(x is not None and x == x for x in found)


def _is_scores(name: str, column: Column) -> bool:
    """Return whether a column holds scores: numbers, of a task, and no labels of runs."""
    found = _numbers(column)
    # A seed is a whole number, SEED a benchmark.
    is_run = _plain(name) in RUNS and all(x.is_integer() for x in found if x is not None and x == x)
    return _has_number(found) and not is_run and not _is_no_task(name)


def _is_no_task(heading: str) -> bool:
    return _plain(heading) in NO_TASKS


def _names_tasks(heading: str) -> bool:
    return _plain(heading) in TASKS + ITEMS or role_of(heading) == "task"


def _plain(heading: str) -> str:
    """Return a heading in small letters, without signs and what is in brackets."""
    bare = re.sub(r"\(.*?\)", "", heading.lower())
    return " ".join(re.findall(r"[a-z0-9]+", bare)) or bare.strip()


def _without_sign(heading: str) -> str:
    """Return a heading without what marks a direction."""
    for sign in (*_LOW, *_HIGH):
        heading = re.sub(rf"\s*\(?{sign}\ufe0f?\)?", "", heading, flags=re.IGNORECASE)
    return heading.strip()


def _repeated(column: Column) -> list[int]:
    """Return the first two rows with the same text, none if all are different."""
    places: dict[str, int] = {}
    for row, value in enumerate(column.tolist()):
        text = "" if value is None else str(value).strip()
        if text in places:
            return [places[text], row]
        places[text] = row
    return []


def _refuse_numbers(raw: Rows, names: str, origin: Origin) -> None:
    """Refuse rows that are named by numbers alone, which may be steps or seeds."""
    if None not in _numbers(raw[names]):
        raise origin.error(
            f"column {names!r} holds numbers: rows may be steps, runs "
            f"({option(columns={'run': names})}) or algorithms "
            f"({option(columns={'algorithm': names})}); name one, and what columns are, as in "
            f"{reading(origin.file, columns={'step': names}, columns_are='algorithms')}"
        )


def _say_what_is_left_out(raw: Rows, names: str, columns: Sequence[str], noun: str) -> None:
    """Note how a table is read, and which columns, rows and deviations are left out."""
    others = "tasks" if noun == "algorithms" else "algorithms"
    if others == "algorithms":
        note(f"column {names!r} names {noun}: rows are read as {noun}, columns as algorithms")
    left_out = [name for name in raw.names if name not in (names, *columns)]
    if left_out:
        note(f"columns left out, since they are not {others}: {listed(left_out)}")
    rows = [str(x) for x in raw.tolist(names) if x is not None and _is_no_task(str(x))]
    if rows and noun != "algorithms":
        note(f"rows left out, since they are not tasks: {listed(rows)}")
    if any(has_deviation(text) for name in columns for text in raw.tolist(name)):
        note(
            "deviations are left out: each cell is read as one number, and its uncertainty is not "
            "used; estimate, compare and profile take means and deviations from a file with "
            "columns algorithm, task, mean, std, runs"
        )


WIDE = Reader(
    "wide",
    "a table with a row per algorithm and a column per task",
    recognises=lambda source: bool(source.names) and _are_wide(source.names),
    read=_read_wide,
    takes=frozenset({"metric"}),
    is_general=True,
    in_memory=True,
)


def _recognises_pivot(source: Source) -> bool:
    names = source.names
    return bool(names) and (_are_pivot(names) or (not names[0] and _has_index(source)))


def _has_index(source: Source) -> bool:
    """Return whether a first column without a heading holds texts, and all others are unknown."""
    if any(map(_role, source.names)) or len(source.names) < 3:
        return False
    try:
        return "" in source.table(with_index=True)[0]
    except ScoreDataError:
        return False  # reading it gives the error


def _are_pivot(names: list[str]) -> bool:
    """Return whether headings are those of seeds or steps and two more columns at least."""
    roles = [_role(name) for name in names]
    values = [name for name, role in zip(names, roles, strict=True) if role is None and name]
    is_full = {"algorithm", "task"} <= set(roles)
    if not values or "score" in names or (is_full and {"run", "score"} & set(map(role_of, names))):
        return False
    if "run" in roles or "step" in roles:
        return roles[0] is not None
    are_runs = _are_seeds(values) or all(x.isdigit() for x in values)
    return len(values) > 1 and (roles[0] == "algorithm" or is_full) and are_runs


def _role(heading: str) -> str | None:
    """Return what a column that is a key of rows holds; a benchmark may be called SEED."""
    role = role_of(heading)
    if role == "score" or (role == "run" and heading.isupper()):
        return None
    if role is None and heading.lower() in STEPS:
        return "step"
    return "algorithm" if role is None and heading.lower() in ALGORITHMS else role


def _are_seeds(values: Sequence[str]) -> bool:
    return all(_SEED.fullmatch(name) for name in values)


def _read_pivot(source: Source, wanted: ReadRequest) -> ScoreTable:
    if wanted.columns and wanted.columns_are is None:
        return read_tidy(source, wanted)  # named columns mean another layout
    raw, origin = source.table(with_index=True)
    keys = _keys_of_rows(raw, wanted, origin)
    values = [name for name in raw.names if name not in keys.values()]
    what = wanted.columns_are
    if what is None:
        if _INDEX in values and not keys:
            raise origin.error(
                "the first column has no heading: rows may be algorithms and columns tasks, or the "
                f"other way round: {reading(origin.file, columns_are='tasks')} or "
                f"{option(columns_are='algorithms')} chooses"
            )
        is_full = {"algorithm", "task"} <= keys.keys() and all(x.isdigit() for x in values)
        if not (_are_seeds(values) or is_full) or "run" in keys:
            raise _two_readings(keys, values, origin)
        what = "runs"
    one = _ONE[what]
    if _INDEX in values:
        values.remove(_INDEX)
        keys.setdefault("task" if one == "algorithm" else "algorithm", _INDEX)
    if one in keys:
        raise origin.error(f"the columns are {what}, and {keys[one]!r} is the {one} already")
    rows = melted(raw, keys, {name: {one: name} for name in values}, origin)
    if "step" in keys:  # an empty cell is no point of a curve
        rows = rows.take(~np.isnan(rows["score"]))
    stem = Texts.repeated(source.stem, len(rows))
    absent = {name: stem for name in ("algorithm", "task") if name not in rows}
    return ScoreTable(
        rows=tidy_rows(rows.with_columns(absent), Origin(origin.file), {}),
        metric=wanted.metric or "score",
        higher_is_better=wanted.is_higher_better,
        provenance=origin.provenance(f"columns are {what}"),
    )


def _keys_of_rows(raw: Rows, wanted: ReadRequest, origin: Origin) -> dict[str, str]:
    """Return the columns that identify a row, by their roles."""
    named = dict(wanted.columns)
    for name in raw.names:
        role = _role(name)
        if role in ("algorithm", "step") and role_of(name) is None and name not in named.values():
            named.setdefault(role, name)
    found = usual_columns(raw, named, ("algorithm", "task", "run", "step"), origin)
    return {role: name for role, name in found.items() if role in wanted.columns or _role(name)}


def _two_readings(keys: dict[str, str], values: list[str], origin: Origin) -> ScoreDataError:
    """Return the error about columns that may be two things, with the two remedies."""
    shown = f"the columns {listed(values, 4)}" if len(values) > 1 else f"the column {values[0]}"
    rows = joined([repr(name) for name in keys.values()])
    one, other = "algorithms", "runs" if "step" in keys and "run" not in keys else "tasks"
    if "step" not in keys and "run" not in keys:
        one = "runs"
    if "algorithm" in keys and one == "algorithms":
        one = "tasks"
    if "task" in keys and other == "tasks":
        other = one
    chosen = f"{reading(origin.file, columns_are=one)}"
    if one == other:
        return origin.error(
            f"beside {rows} {shown} may be {one}, or different scores: {chosen}, or "
            f"{option(metric=values[0])}, chooses"
        )
    meant = f"{one} or {other}"
    if len(values) == 1:
        meant = f"that of an algorithm or of a {'run' if 'runs' in (one, other) else 'task'}"
    return origin.error(
        f"beside {rows} {shown} may be {meant}: {chosen} or {option(columns_are=other)} chooses"
    )


PIVOT = Reader(
    "pivot",
    "a table with a row per seed or step and a column per algorithm, task or run",
    recognises=_recognises_pivot,
    read=_read_pivot,
    takes=frozenset({"columns", "columns_are"}),
    is_general=True,
    in_memory=True,
)

#: A heading: who, which project, which experiment, and how its runs were filtered.
_HEADING = re.compile(r"(?:[^/]*/[^/]*/)?(.*?)\s*\((\{.*\})\)")


def _is_openrlbenchmark(source: Source) -> bool:
    if source.ending != ".csv" or not source.is_file:
        return False
    line = header_line(source.place)
    return line.startswith((",", '"",')) and "({" in line


def _read_openrlbenchmark(source: Source, wanted: ReadRequest) -> ScoreTable:
    path = source.place
    try:
        text = path.read_text(encoding="utf-8-sig")
        header, *rows = [row for row in csv.reader(text.splitlines()) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        raise ScoreDataError(f"{path}: expected a table of openrlbenchmark; {error}") from None
    names = _headings(header[1:])
    for line, row in enumerate(rows, start=2):
        if len(row) != len(names) + 1:
            raise ScoreDataError(
                f"{path}, line {line}: expected a task and {len(names)} cells, found {len(row)} "
                "fields"
            )
    if not rows:
        raise ScoreDataError(f"{path}: expected rows of tasks, found none")
    tasks, *columns = zip(*rows, strict=True)
    # A missing mean comes with a missing deviation.
    cells = [["nan" if x.strip().startswith("nan") else x for x in column] for column in columns]
    raw = rows_of_columns({"task": tasks} | dict(zip(names, cells, strict=True)))
    origin = Origin(str(path), lines=lambda: range(2, 2 + len(rows)))
    melt = melted(raw, {"task": "task"}, {name: {"algorithm": name} for name in names}, origin)
    note(
        "deviations are left out, since openrlbenchmark does not state of how many runs they are: "
        "each cell is read as one number"
    )
    return ScoreTable(
        tidy_rows(melt, Origin(str(path)), {}),
        metric=wanted.metric or "score",
        higher_is_better=wanted.is_higher_better,
        provenance=origin.provenance("openrlbenchmark"),
    )


def _headings(cells: list[str]) -> list[str]:
    """Return the names of the columns; published headers hold commas that are not quoted."""
    whole: list[str] = []
    for cell in cells:
        if whole and any(whole[-1].count(a) > whole[-1].count(b) for a, b in ("()", "[]", "{}")):
            whole[-1] += f",{cell}"
        else:
            whole.append(cell)
    short = []
    for text in whole:
        found = _HEADING.fullmatch(text.strip())
        tags = "" if found is None or found[2] == "{}" else f" ({found[2]})"
        short.append(f"{found[1]}{tags}" if found else text.strip())
    return short if len(set(short)) == len(short) else [text.strip() for text in whole]


OPENRLBENCHMARK = Reader(
    "openrlbenchmark",
    "a table of openrlbenchmark: a row per task, a column per set of runs, means and deviations",
    recognises=_is_openrlbenchmark,
    read=_read_openrlbenchmark,
    takes=frozenset({"metric"}),
)
