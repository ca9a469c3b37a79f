"""Tables with a row for each score, tidy ones and those of items; and files of arrays.

Columns are known by their usual names. A table with a column of models and one of items is of
items; any other is of tasks. Arrays are those of rliable: runs in lists, by algorithm or by task.
"""

from __future__ import annotations

import csv
import io
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import (
    GnomonError,
    ScoreDataError,
    either,
    joined,
    listed,
    note,
    several,
    shortened,
)
from gnomon.files import write_atomically
from gnomon.scores.columns import Column, Rows, Texts, rows_of_arrays, rows_of_records
from gnomon.scores.readers.files import (
    ERRORS,
    JSON_LINES,
    N_ITEMS,
    are_summaries,
    json_object,
    reported_number,
)
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import (
    PERHAPS_ITEMS,
    REQUIRED,
    SPECIAL,
    Origin,
    are_numbers,
    are_truths,
    is_marked_low,
    missing_columns,
    renamed_columns,
    role_of,
    short_name,
    tidy_rows,
    with_usual_names,
)

#: Columns that describe the whole table; a tidy file may carry them, with one value each.
_ABOUT = ("metric", "unit", "direction", "units", "cluster_column")

#: What the columns of a file of items are called, in small letters; the first that is there counts.
_OF_ITEMS: Mapping[str, tuple[str, ...]] = {
    "algorithm": ("algorithm", "model", "model_name", "model_id", "system"),
    "task": (
        "item", "item_id", "question_id", "sample_id", "example_id", "instance_id", "doc_id",
        "problem_id", *PERHAPS_ITEMS, "task", "id",
    ),
    "run": ("run", "epoch", "repeat", "trial", "seed"),
    "score": ("score", "correct", "is_correct", "accuracy", "acc", "exact_match", "passed", "pass"),
}  # fmt: skip
#: A table of tasks has none of these; "task" and "id" alone are ambiguous.
_ITEMS = [x for x in _OF_ITEMS["task"][:-2] if x not in PERHAPS_ITEMS]
#: Names of scores that are right or wrong.
_RIGHT_OR_WRONG = ("correct", "is_correct", "exact_match", "passed", "pass")


def write_scores(table: ScoreTable, path: str | os.PathLike[str]) -> None:
    """Write a table of scores to a file that :func:`gnomon.scores.read_scores` reads back the same.

    The file appears complete or not at all: it is written beside its place and then moved there.

    Parameters
    ----------
    table : ScoreTable
    path : path
        A name that ends in ``.csv``, ``.tsv`` or ``.parquet``; the last needs Polars.

    Raises
    ------
    ScoreDataError
        The name ends otherwise.
    OSError
        The file cannot be written; the error names the path.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gnomon.scores import read_scores
    >>> table = ScoreTable.from_arrays({"a": [[1.5, 2.0]]}, metric="tce", higher_is_better=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "scores.csv"
    ...     write_scores(table, path)
    ...     print(path.read_text(), end="")
    ...     read_scores(path).higher_is_better
    algorithm,task,run,score,metric,direction
    a,task_0,0,1.5,tce,lower
    a,task_1,0,2.0,tce,lower
    False
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", ".parquet"):
        raise ScoreDataError(f"{path}: expected a name that ends in .csv, .tsv or .parquet")
    facts = {"metric": table.metric if table.metric != "score" else None, "unit": table.unit}
    facts["direction"] = None if table.higher_is_better else "lower"
    facts |= {"units": None if table.units == "tasks" else "items", "cluster_column": table.cluster}
    known = {name: Texts.repeated(x, len(table)) for name, x in facts.items() if x is not None}
    rows = table.rows.with_columns(known)
    if suffix == ".parquet":
        out = io.BytesIO()
        try:
            replace(table, rows=rows).to_polars().write_parquet(out)
        except ImportError:
            raise GnomonError(f"{path}: Parquet needs Polars: pip install polars") from None
        write_atomically(path, out.getvalue())
        return
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerow(rows.names)
    writer.writerows(zip(*(_cells(rows[name]) for name in rows.names), strict=True))
    write_atomically(path, text.getvalue().encode())


def _cells(column: Column) -> Iterator[Any]:
    """Return the cells of a column as a file has them: nothing for NaN."""
    if not isinstance(column, Texts) and column.dtype.kind == "b":
        return iter(np.where(column, "true", "false").tolist())
    return ("" if x is None or x != x else x for x in column.tolist())


def _are_items(names: Sequence[str]) -> bool:
    """Return whether headings name models and items."""
    lower = {name.strip().lower() for name in names}
    if lower.issuperset(REQUIRED):
        return False  # a tidy file, which may contain other names of items
    known = _ITEMS if lower.isdisjoint(_RIGHT_OR_WRONG) else (*_ITEMS, *PERHAPS_ITEMS)
    return not (lower.isdisjoint(_OF_ITEMS["algorithm"]) or lower.isdisjoint(known))


def read_tidy(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Return a tidy table; the columns of :data:`_ABOUT`, if they hold one value, describe it.

    A file with a column ``metric`` of several values holds several scores, of which one is named.
    """
    raw, origin = source.table()
    named, where, metric = dict(wanted.columns), dict(wanted.where), wanted.metric
    is_column = metric in raw
    if metric is not None and is_column and metric not in SPECIAL:
        named["score"] = metric
    elif metric is not None and not is_column:
        if "metric" not in raw:
            raise origin.error(
                f"a score file has one score; expected no name of a score, found {metric}"
            )
        where["metric"] = metric
    if are_summaries(raw.names) and "score" not in (*raw.names, *named):
        raise origin.error(
            "expected runs, found means and standard deviations; estimate and compare take these, "
            + either(
                "and profile takes what read_summaries returns",
                "and so does profile --kind ratio or likelihood",
            )
        )
    known = [name for name in raw.names if name.lower() in (*ERRORS, *N_ITEMS)]
    if not {name.lower() for name in known}.isdisjoint(ERRORS) and "score" not in (
        *named,
        *map(role_of, raw.names),
    ):
        metric = named["score"] = chosen_score(raw, None, named, known, origin)
        is_column = True
    rows = with_usual_names(raw, named, origin)
    if is_column:
        rows = _with_single(rows, source)
    if not {"algorithm", "task", "score"} <= set(rows.names):
        raise missing_columns(raw, origin, rows.names)
    roles = [x for x in ("algorithm", "task", "run", "step", "score") if x in rows]
    called = {role: origin.called[role] for role in roles if role in origin.called}
    _say({x: y for x, y in called.items() if x not in (*raw.names, *named)}, origin)
    rows = tidy_rows(rows, origin, where, wanted.within_run)
    if not len(rows):
        raise origin.error("expected rows of scores, found none")
    about, rows = _about(rows, origin)
    better = wanted.higher_is_better
    direction = "lower" if is_marked_low(called.get("score", "")) else "higher"
    table = ScoreTable(
        rows,
        about.get("metric", metric if is_column and metric else "score"),
        about.get("unit"),
        about.get("direction", direction) == "higher" if better is None else better,
        origin.provenance(),
    )
    if origin.file and np.isnan(rows["score"]).all():
        raise origin.error(f"column 'score': all {len(rows):,} scores are empty")
    if about.get("units") == "items":
        table = replace(table, units="items", cluster=about.get("cluster_column"))
    return table


def _with_single(raw: Rows, source: Source) -> Rows:
    """Return rows with the name of the file for an algorithm or a task that no column gives.

    Only where the score is named: else a table of tasks may look so.
    """
    absent = [name for name in ("algorithm", "task") if name not in raw]
    if len(absent) != 1 or "run" not in raw:
        return raw
    name = source.table()[1].name
    note(f"{name}: no column names the {absent[0]}: all rows are read as of one, {source.stem!r}")
    return raw.with_columns({absent[0]: Texts.repeated(source.stem, len(raw))})


def _say(columns: Mapping[str, str], origin: Origin) -> None:
    """Note which columns were recognised by usual names, by what they are read as."""
    if columns:
        shown = joined([repr(name) for name in columns.values()])
        what = f"column {shown} is" if len(columns) == 1 else f"columns {shown} are"
        note(f"{origin.name}: {what} read as {joined([*columns])}")


def _about(rows: Rows, origin: Origin) -> tuple[dict[str, str], Rows]:
    """Return the attributes of the whole table, and the rows without those columns."""
    about = {}
    for name in _ABOUT:
        if name not in rows:
            continue
        texts = rows.texts(name)
        found = [*texts.names, *([None] if texts.missing.any() else [])]
        if len(found) == 1 and found[0] is not None:
            about[name] = found[0]
            rows = rows.but(name)
        elif name == "direction" and len(found) > 1:
            shown = " and ".join("nothing" if each is None else each for each in found[:2])
            raise origin.error(f"column 'direction': expected the same in all rows, found {shown}")
    direction = about.get("direction", "higher")
    if direction not in ("higher", "lower"):
        raise origin.error(f"column 'direction': expected higher or lower, found {direction!r}")
    return about, rows


def _read_items(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Return the table of items that columns hold, by the names that such columns usually have.

    Without a column of epochs there is one. Beside a column of items, one that is called ``task``
    becomes the attribute ``subtask``; where items of two subtasks have one name, the subtask is
    put before it.
    """
    raw, origin = source.table()
    named = dict(wanted.columns)
    lower = {name.strip().lower(): name for name in reversed(raw.names)}
    for role in ("algorithm", "task", "run"):
        found = [lower[name] for name in _OF_ITEMS[role] if name in lower]
        if role not in named and found:
            named[role] = found[0]
    usual = [lower[name] for name in _OF_ITEMS["score"] if name in lower]
    if wanted.metric or "score" in named or not usual:
        score = chosen_score(raw, wanted.metric, named, list(named.values()), origin)
    elif len(usual) > 1 and usual[0] != "score":
        raise origin.error(several(usual))
    else:
        score = usual[0]
    named["score"] = score
    if not {"algorithm", "task"} <= named.keys():
        raise missing_columns(raw, origin, named)
    rows = renamed_columns(_with_subtasks(raw, named), named, origin)
    rows = tidy_rows(rows, origin, wanted.where, wanted.within_run)
    if "run" not in named:
        rows = rows.with_columns({"run": np.ones(len(rows), np.int64)})
    plain = {"algorithm": "model", "task": "item", "run": "epoch", "score": "score"}
    known = (*SPECIAL, *plain.values(), "correct", *wanted.columns.values(), wanted.metric)
    _say({plain[role]: x for role, x in named.items() if x not in known}, origin)
    if not len(rows):
        raise origin.error("expected rows of scores, found none")
    about = origin.provenance("items")
    return ScoreTable(rows, score, None, wanted.is_higher_better, about, units="items")


def _with_subtasks(raw: Rows, named: dict[str, str]) -> Rows:
    """Return the columns with the task of an item as an attribute, and before names that repeat."""
    if named["task"] == "task" or "task" not in raw:
        return raw
    raw = Rows({"subtask" if name == "task" else name: raw[name] for name in raw.names})
    named.update({role: "subtask" for role, name in named.items() if name == "task"})
    items, subtasks = raw.texts(named["task"]).tolist(), raw.texts("subtask").tolist()
    pairs = {*zip(items, subtasks, strict=True)}
    if len(pairs) > len({item for item, _ in pairs}):
        names = [f"{subtask}/{item}" for item, subtask in zip(items, subtasks, strict=True)]
        raw = raw.with_columns({named["task"]: Texts.of(names)})
    return raw


def chosen_score(
    raw: Rows, metric: str | None, named: Mapping[str, str], taken: Sequence[str], origin: Origin
) -> str:
    """Return the column of the scores: the one that is named, or the only one with numbers."""
    wanted = metric or named.get("score")
    if wanted is not None:
        same = [name for name in raw.names if wanted in (name, short_name(name))]
        if len(same) == 1 or wanted in raw:
            return wanted if wanted in raw else same[0]
        if same:
            raise origin.error(several(same, f"column {wanted!r}"))
        known = listed(_with_numbers(raw, taken)) or "none"
        raise origin.error(f"no column {wanted!r} to read as the score; with numbers: {known}")
    if "score" in raw:
        return "score"
    found = _with_numbers(raw, taken)
    metrics = [name for name in found if name.startswith("metrics.")] or found
    if len(metrics) == 1:
        return metrics[0]
    if not metrics:
        shown = shortened(", ".join(raw.names), 200)
        raise origin.error(f"expected a column of numbers for the score, found none among {shown}")
    raise origin.error(several(metrics))


def _with_numbers(raw: Rows, taken: Sequence[str]) -> list[str]:
    """Return the columns of numbers alone, else of true and false, without those of other roles."""
    kept = [x for x in raw.names if x not in taken and x not in SPECIAL]
    kept = [x for x in kept if role_of(x) in (None, "score")]
    found = [name for name in kept if are_numbers(raw[name]) or _are_reported(raw[name])]
    return found or [name for name in kept if are_truths(raw[name])]


def _are_reported(column: Column) -> bool:
    """Return whether texts are numbers as papers print them."""
    if not isinstance(column, Texts):
        return False
    found = [reported_number(text) for text in column.names]
    return None not in found and any(number == number for number in found)


TIDY = Reader(
    "tidy",
    "a table with the columns algorithm, task, run and score: CSV, TSV, Parquet, a data frame, or "
    "records in JSON, a list of objects in any wrapping, or lines",
    recognises=lambda source: (
        bool(source.names)
        or not (
            source.is_folder
            or source.json is not None
            or source.ending in (".json", *JSON_LINES, ".npz", ".npy")
        )
    ),
    read=read_tidy,
    takes=frozenset({"metric", "where", "columns", "within_run"}),
    is_general=True,
    in_memory=True,
)

ITEM_FILE = Reader(
    "items",
    "a table with a row per model and item: model, item, correct",
    recognises=lambda source: _are_items(source.names),
    read=_read_items,
    takes=frozenset({"metric", "where", "columns", "within_run"}),
    is_general=True,
    units="items",
    in_memory=True,
)

_BINARY = (".npz", ".npy")


def _read_arrays(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a file of arrays, or a folder of files with one algorithm each.

    An ``.npz`` file has an array (runs, tasks) or (runs, tasks, steps) for each algorithm, and
    perhaps a list ``tasks`` of their names; an ``.npy`` file has the array of one algorithm. JSON
    has ``{algorithm: [[score, ...], ...]}``, ``{algorithm: {task: [score, ...]}}``, or ``{task:
    [score, ...]}`` of one algorithm. A file of one algorithm is named for it.
    """
    origin = Origin(None if source.path is None else str(source.path))
    files = _files(source.place) if source.is_folder else []
    if source.is_folder and not files:
        raise origin.error("expected files named ALGORITHM.json or .npz; found none")
    try:
        parts = [_rows_of(_loaded(file), file.stem, is_alone=True) for file in files]
        if not source.is_folder:
            content = source.content() if source.path is None else _loaded(source.place)
            parts = [_rows_of(content, source.stem, is_alone=False)]
        rows = tidy_rows(Rows.joined(parts), Origin(), {})
    except ScoreDataError as error:
        raise origin.error(str(error).removeprefix(f"{source}: ")) from None
    except OverflowError:
        raise origin.error("expected numbers of at most 1e308") from None
    metric, about = wanted.metric or "score", origin.provenance("arrays")
    return ScoreTable(rows, metric, None, wanted.is_higher_better, about)


def _files(folder: Path) -> list[Path]:
    return [file for ending in (".json", *_BINARY) for file in sorted(folder.glob(f"*{ending}"))]


def _rows_of(content: Mapping[str, Any], stem: str, *, is_alone: bool) -> Rows:
    """Return the rows of one file; `is_alone`, its algorithm has the name of the file."""
    tasks = content.get("tasks") if isinstance(content.get("tasks"), np.ndarray) else None
    content = {name: x for name, x in content.items() if tasks is None or name != "tasks"}
    if _are_runs(content):
        content = {stem: content}
    values = list(content.values())
    if not all(isinstance(value, Mapping) for value in values):
        if is_alone and len(values) == 1 and isinstance(values[0], np.ndarray):
            content = {stem: values[0]}
        return rows_of_arrays(content, None if tasks is None else [*map(str, tasks.ravel())])
    for algorithm, of_task in content.items():
        if not _are_runs(of_task):
            raise ScoreDataError(
                "expected for each algorithm an array (runs, tasks) or a list of runs per task; "
                f"found neither for {algorithm}"
            )
    return rows_of_records(
        {"algorithm": algorithm, "task": task, "run": run, "score": score}
        for algorithm, of_task in content.items()
        for task, scores in of_task.items()
        for run, score in enumerate(np.atleast_1d(np.asarray(scores, np.float64)).tolist())
    )


def _loaded(path: Path) -> dict[str, Any]:
    """Return the content of a file by names; an array of one dimension is of runs on one task."""
    if path.suffix.lower() not in _BINARY:
        return json_object(path)
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {path.stem: loaded[:, None] if loaded.ndim == 1 else loaded}
        with loaded as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a file of scores; there is none") from None
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        why = " without Python objects" if "pickle" in str(error).lower() else ""
        kind = path.suffix.lower()
        raise ScoreDataError(f"{path}: expected an {kind} file of arrays of numbers{why}") from None


def _are_runs(content: object) -> bool:
    """Return whether an object holds the runs of each task: lists of numbers, or single ones."""
    return isinstance(content, Mapping) and bool(content) and all(map(_is_runs, content.values()))


def _is_runs(scores: object) -> bool:
    if isinstance(scores, np.ndarray):
        return scores.ndim == 1 and scores.dtype.kind in "iufb"
    values = scores if isinstance(scores, list) else [scores]
    return all(
        x is None or (isinstance(x, int | float) and not isinstance(x, bool)) for x in values
    )


def _are_arrays(content: Any) -> bool:
    """Return whether JSON holds runs by algorithm and task, or nothing but lists."""
    values = list(content.values()) if isinstance(content, Mapping) else []
    return bool(values) and (
        all(map(_are_runs, values)) or all(isinstance(value, list) for value in values)
    )


def _are_files_of_arrays(source: Source) -> bool:
    if source.is_folder:
        files = _files(source.place)
        return bool(files) and all(
            file.suffix.lower() in _BINARY or _are_arrays(Source(file).json) for file in files
        )
    if source.is_file and source.ending in _BINARY:
        return True
    return not source.names and _are_arrays(source.json)


ARRAYS = Reader(
    "arrays",
    "arrays or lists of runs in rliable's layout: .npz, .npy, .json, or a folder with one file "
    "per algorithm",
    recognises=_are_files_of_arrays,
    read=_read_arrays,
    takes=frozenset({"metric"}),
    is_general=True,
    in_memory=True,
)
