"""Wide tables: a column of scores for each task, algorithm or run.

The heading shows what a column is: a key of the rows, scores, or neither. Where two readings are
possible, the error names both. :func:`melted` makes a row of each cell of scores.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gnomon.errors import ScoreDataError, either, joined, listed, note, option, reading
from gnomon.scores.columns import Column, Rows, Texts, rows_of_columns
from gnomon.scores.readers.files import has_deviation, reported_number, reported_numbers
from gnomon.scores.readers.registry import ColumnsAre, Reader, ReadRequest, Source
from gnomon.scores.readers.tables import read_tidy
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import (
    HIGH_SIGNS,
    LOW_SIGNS,
    Origin,
    is_marked_low,
    is_setting,
    missing_columns,
    refuse_decimal_commas,
    role_of,
    tidy_rows,
    usual_columns,
)

#: Headings of a column that names algorithms, tasks or items, beside the usual ones of tidy tables.
ALGORITHMS = ("system", "name", "player", "approach")
ITEMS = (
    "item", "item id", "question", "question id", "sample", "sample id", "example id", "instance",
    "instance id", "doc id",
)  # fmt: skip
#: Headings of steps in a table that has no other columns but curves.
STEPS = ("epoch", "epochs", "episode", "episodes")
#: Columns that summarise others, or describe an algorithm, are no tasks.
NO_TASKS = (
    "average", "avg", "mean", "median", "overall", "total", "std", "stderr", "runs",
    "#", "rank", "mean rank", "ranking", "position", "place", "index", "level 0", "id",
    "params", "params b", "params m", "n params", "num params", "param count",
    "parameters", "parameters b", "n parameters", "num parameters", "number of parameters",
    "size", "size b", "size gb", "model size", "model size b", "context length", "context window",
    "hub", "likes", "downloads", "votes", "n votes", "num votes", "number of votes",
    "year", "date", "release year", "release date", "price", "cost", "co cost", "co2 cost",
)  # fmt: skip
_SEED = re.compile(r"(?:seed|run)[\s_-]*\d+", re.IGNORECASE)
#: A name that Markdown prints bold or slanted; A* is none.
_EMPHASIZED = re.compile(r"^\s*(\*+)([^*]+)\1\s*$")
#: The name of a first column without a heading, as data frames write their index.
_INDEX = ""
#: What the columns of scores are, and what one of them is.
_ONE: dict[ColumnsAre, str] = {"algorithms": "algorithm", "tasks": "task", "runs": "run"}


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


def _read(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a wide table; one whose columns are named is tidy, with other headings."""
    if {"commit", "status"} <= {*source.names} - {*wanted.columns.values()}:
        verb = either("gnomon.stats.Loop decides", f"gnomon gate --loop STATE {source} decides")
        raise ScoreDataError(
            f"{source}: expected scores of algorithms on tasks, found the runs of a research loop; "
            f"{verb} on its candidates"
        )
    is_other = bool(wanted.columns) or not _recognises(source)
    if wanted.metric in source.names or (is_other and wanted.columns_are is None):
        return read_tidy(source, wanted)
    raw, origin = source.table(with_index=True)
    if wanted.columns_are or _has_keys(raw.names):
        keys = _keys_of_rows(raw, wanted, origin)
        values = [name for name in raw.names if name not in keys.values()]
        if settings := list(filter(is_setting, values)):
            note(f"columns left out, since they are settings of runs: {listed(settings)}")
            values = [name for name in values if name not in settings]
        what = wanted.columns_are or _meaning(keys, values, origin)
        if _INDEX in values:
            values.remove(_INDEX)
            keys.setdefault("task" if what == "algorithms" else "algorithm", _INDEX)
        if not keys and what == "algorithms":  # each row is a run
            raw = raw.with_columns({"run": np.arange(len(raw))})
            keys["run"] = "run"
        if _ONE[what] in keys:
            key = keys[_ONE[what]]
            raise origin.error(
                f"the columns are {what}, but {key!r} already names the {_ONE[what]}"
            )
    else:
        name, values = _named_rows(raw, origin)
        of_tasks = _names_tasks(name)
        keys, what = {"task" if of_tasks else "algorithm": name}, "tasks"
        if of_tasks:  # a last row of averages is no task
            what = "algorithms"
            kept = [at for at, x in enumerate(raw.tolist(name)) if not _is_no_task(str(x or ""))]
            raw, origin = raw.take(kept), origin.of_rows(np.array(kept, np.int64))
    rows = melted(raw, keys, {x: {_ONE[what]: _without_sign(x)} for x in values}, origin)
    marked = {x: is_marked_low(f"{x} {' '.join(keys.values())}") for x in values}
    is_mixed = len({*marked.values()}) > 1
    if is_mixed:
        low = listed([x for x in values if marked[x]])
        note(f"columns {low} are marked as lower is better, others not: their scores are read with "
             "the opposite sign")  # fmt: skip
        signs = np.repeat([-1.0 if marked[x] else 1.0 for x in values], len(raw))
        rows = rows.with_columns({"score": rows["score"] * signs})
    for role in {"algorithm", "task"}.intersection(rows.names):
        texts = rows.texts(role)
        plain = [_EMPHASIZED.sub(r"\2", name) for name in texts.names]
        rows = rows.with_columns({role: Texts.merged(texts.codes, plain)})
    if "step" in keys:  # an empty cell is no point of a curve
        rows = rows.take(~np.isnan(rows["score"]))
    stem = Texts.repeated(source.stem, len(rows))
    absent = {role: stem for role in ("algorithm", "task") if role not in rows}
    table = ScoreTable(
        tidy_rows(rows.with_columns(absent), Origin(origin.file), {}),
        metric=wanted.metric or "score",
        higher_is_better=wanted.is_higher_better and (is_mixed or not any(marked.values())),
        provenance=origin.provenance(f"columns are {what}"),
    )
    return replace(table, units="items") if _plain(keys.get("task", "")) in ITEMS else table


def _recognises(source: Source) -> bool:
    """Return whether the headings may be those of a wide table."""
    names, roles = [name.lower() for name in source.names], set(map(role_of, source.names))
    # "#.nickname" and "#{" begin files of others; a column of ranks may be headed "#".
    if not names or "score" in names or (names[0].startswith("#") and names[0] != "#"):
        return False
    if {"algorithm", "task"} <= roles:
        return roles.isdisjoint(("run", "score")) and _are_runs(_values(source.names))
    values = _values(source.names)
    if roles.isdisjoint(("algorithm", "task")):  # perhaps the log of one run
        return not ({"score", "step"} <= roles and _role(source.names[0]) is None)
    if len(values) == 1 and role_of(values[0]) == "score":
        return False  # of one task or algorithm
    if {"algorithm", "task", "run"} <= {*map(_role, source.names)}:
        return False
    return "task" not in names[1:] or _has_keys(source.names)


def _has_keys(names: Sequence[str]) -> bool:
    """Return whether rows are seeds or steps, have no heading, or columns are runs."""
    roles = list(map(_role, names))
    if "run" in roles or "step" in roles:
        return roles[0] is not None and bool(_values(names))
    of_runs = "algorithm" in roles and (roles[0] == "algorithm" or "task" in roles)
    return _INDEX in names or (of_runs and _are_runs(_values(names)))


def _role(heading: str) -> str | None:
    """Return what a column that is a key of rows holds; a benchmark may be called SEED."""
    role = role_of(heading)
    if role == "score" or (role == "run" and heading.isupper()):
        return None
    if role is None and heading.lower() in STEPS:
        return "step"
    return "algorithm" if role is None and _plain(heading) in ALGORITHMS else role


def _values(names: Sequence[str]) -> list[str]:
    return [name for name in names if name and _role(name) is None and not is_setting(name)]


def _are_runs(values: Sequence[str]) -> bool:
    """Return whether all headings, two or more, are those of seeds or numbers."""
    are_seeds = all(map(_SEED.fullmatch, values))
    return len(values) > 1 and (are_seeds or all(name.isdigit() for name in values))


def _keys_of_rows(raw: Rows, wanted: ReadRequest, origin: Origin) -> dict[str, str]:
    """Return the columns that identify a row, by their roles."""
    named = dict(wanted.columns)
    for name in raw.names:
        role = _role(name)
        if role in ("algorithm", "step") and role_of(name) is None and name not in named.values():
            named.setdefault(role, name)
    kept = [x for x in raw.names if _role(x) == role_of(x) or x in named.values()]
    return usual_columns(raw.only(*kept), named, ("algorithm", "task", "run", "step"), origin)


def _meaning(keys: Mapping[str, str], values: Sequence[str], origin: Origin) -> ColumnsAre:
    """Return what columns of scores are; refuse two readings, with both remedies."""
    if _INDEX in values and not keys:
        raise origin.error(
            "the first column has no heading: rows may be algorithms and columns tasks, or the "
            f"other way round; use {reading(origin.file, columns_are='tasks')} or "
            f"{option(columns_are='algorithms')}"
        )
    are_seeds = all(map(_SEED.fullmatch, values))
    if "run" not in keys and (are_seeds or ("task" in keys and _are_runs(values))):
        return "runs"
    shown = f"the columns {listed(values, 4)}" if len(values) > 1 else f"the column {values[0]}"
    rows = joined([repr(name) for name in keys.values()])
    possible = ["runs"] if "run" not in keys else []
    possible = [*(["algorithms"] if "algorithm" not in keys else []), *possible]
    if "task" not in keys and ("step" not in keys or len(possible) < 2):
        possible.append("tasks")
    one, *others = possible[:2]
    chosen = reading(origin.file, columns_are=one)
    if not others:
        raise origin.error(
            f"beside {rows} {shown} may be {one}, or different scores; use {chosen} or "
            f"{option(metric=values[0])}"
        )
    meant = f"{one} or {others[0]}"
    if len(values) == 1:
        meant = f"that of an algorithm or of a {'run' if 'runs' in possible[:2] else 'task'}"
    raise origin.error(
        f"beside {rows} {shown} may be {meant}; use {chosen} or {option(columns_are=others[0])}"
    )


def _named_rows(raw: Rows, origin: Origin) -> tuple[str, list[str]]:
    """Return the column that names the rows, and those of scores; note what is left out."""
    name = _column_of_names(raw, origin) if len(raw.names) > 1 and len(raw) else None
    values = [x for x in raw.names if x != name and not _is_no_task(x)]
    refuse_decimal_commas(raw, values, origin)
    values = [x for x in values if _has_number(_numbers(raw[x]))]
    if name is None or not values:
        raise missing_columns(raw, origin, filter(None, map(role_of, raw.names)))
    of_tasks = _names_tasks(name)
    if not (of_tasks or _names_algorithms(name)) and None not in _numbers(raw[name]):
        as_runs = reading(origin.file, columns_are="algorithms")
        named = option(columns={"run": name}, columns_are="algorithms")
        raise origin.error(
            f"no column names the rows, and {name!r} holds numbers: {as_runs} reads each row as a "
            f"run and each column as an algorithm; if {name!r} holds runs, steps or algorithms, "
            f"name it, as in {named}"
        )
    if of_tasks:
        noun = "items" if _plain(name) in ITEMS else "tasks"
        note(f"column {name!r} names {noun}: rows are read as {noun}, columns as algorithms")
    left_out = [x for x in raw.names if x not in (name, *values)]
    if left_out:
        others = "algorithms" if of_tasks else "tasks"
        note(f"columns left out, since they are not {others}: {listed(left_out)}")
    rows = [str(x) for x in raw.tolist(name) if x is not None and _is_no_task(str(x))]
    if rows and of_tasks:
        note(f"rows left out, since they are not tasks: {listed(rows)}")
    if any(has_deviation(text) for x in values for text in raw.tolist(x)):
        note(
            "deviations are left out: each cell is read as one number, and its uncertainty is not "
            "used; estimate, compare and profile take means and deviations from a file with "
            "columns algorithm, task, mean, std, runs"
        )
    return name, values


def _column_of_names(raw: Rows, origin: Origin) -> str | None:
    """Return the column that names the rows: by its heading, else the first; None if none does."""
    first = raw.take(slice(100))
    glance = {name: _numbers(first[name]) for name in raw.names}
    texts = [name for name in raw.names if None in glance[name]]
    # There are benchmarks called "Agent" and "System": these hold numbers alone.
    headed = [name for name in texts if _names_algorithms(name)]
    # Ranks differ from row to row as well. A column "index" of texts may be the names.
    others = [name for name in raw.names if name in texts or not _is_no_task(name)]
    candidates = headed or (others or list(raw.names))[:1]
    names = next((name for name in candidates if not _repeated(raw[name])), candidates[0])
    rest = [name for name in raw.names if name != names]
    numeric = [name for name in rest if _has_number(glance[name])]
    if _names_tasks(names) and any(map(_names_algorithms, rest)):
        return None  # a tidy file in other words
    # That very name is the tidy file's: it takes numbers in all other columns to be no such file.
    if "task" in map(_plain, rest) or (_plain(names) == "task" and len(numeric) < len(rest)):
        return None
    twice = _repeated(raw[names])
    if not twice:
        return names
    is_known = _names_tasks(names) or _names_algorithms(names)
    tasks = [name for name in numeric if not _is_no_task(name)]
    if is_known and len(tasks) > 1 and not any(map(_names_tasks, rest)):
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


def _is_no_task(heading: str) -> bool:
    return _plain(heading) in NO_TASKS or is_setting(heading)


def _names_algorithms(heading: str) -> bool:
    return _plain(heading) in ALGORITHMS or role_of(heading) == "algorithm"


def _names_tasks(heading: str) -> bool:
    return _plain(heading) in ITEMS or role_of(heading) == "task"


def _plain(heading: str) -> str:
    """Return a heading in small letters, without signs and what is in brackets."""
    bare = re.sub(r"\(.*?\)", "", heading.lower())
    return " ".join(re.findall(r"[a-z0-9]+", bare)) or bare.strip()


def _without_sign(heading: str) -> str:
    """Return a heading without what marks a direction."""
    for sign in map(re.escape, (*LOW_SIGNS, *HIGH_SIGNS)):
        heading = re.sub(rf"\s*[($]*{sign}\ufe0f?[)$]*", "", heading, flags=re.IGNORECASE)
    return heading.strip()


def _repeated(column: Column) -> list[int]:
    """Return the first two rows with the same text, none if all are different."""
    places: dict[str, int] = {}
    for row, value in enumerate(column.tolist()):
        first = places.setdefault("" if value is None else str(value).strip(), row)
        if first < row:
            return [first, row]
    return []


WIDE = Reader(
    "wide",
    "a table with a row per algorithm, task, seed or step and a column per task, algorithm or run",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "columns", "columns_are"}),
    is_general=True,
    in_memory=True,
)

#: A heading: who, which project, which experiment, and how its runs were filtered.
_HEADING = re.compile(r"(?:[^/]*/[^/]*/)?(.*?)\s*\((\{.*\})\)")


def _is_openrlbenchmark(source: Source) -> bool:
    is_file = source.ending == ".csv" and source.names[:1] == [_INDEX]
    return is_file and any("({" in name for name in source.names)


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
        "deviations are left out, since openrlbenchmark does not state the number of runs: "
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
