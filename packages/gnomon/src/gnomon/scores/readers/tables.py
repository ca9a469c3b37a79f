"""Tables with a row for each score: tidy ones, and those of items.

Columns are known by their usual names. A table with a column of models and one of items is of
items; any other is of tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gnomon.errors import joined, listed, note, several, shortened
from gnomon.scores.columns import Column, Rows, Texts
from gnomon.scores.readers.files import ERRORS, JSON_LINES, N_ITEMS, reported_number
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import (
    KEY,
    PERHAPS_ITEMS,
    REQUIRED,
    SPECIAL,
    Origin,
    are_numbers,
    are_truths,
    is_marked_low,
    is_setting,
    missing_columns,
    refuse_decimal_commas,
    refuse_setting,
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
    is_column = metric in raw and metric not in (*KEY, "censored")
    if metric is not None and is_column:
        named["score"] = metric
    elif metric is not None:
        if "metric" not in raw:
            raise origin.error(
                f"a score file has one score; expected no name of a score, found {metric}"
            )
        where["metric"] = metric
    known = [name for name in raw.names if name.lower() in (*ERRORS, *N_ITEMS)]
    if not {name.lower() for name in known}.isdisjoint(ERRORS) and "score" not in (
        *named,
        *map(role_of, raw.names),
    ):
        metric = named["score"] = chosen_score(raw, None, named, known, origin)
        is_column = True
    rows = with_usual_names(raw, named, origin)
    rows = _with_single(rows, source, is_named=is_column)
    if not {"algorithm", "task", "score"} <= set(rows.names):
        raise missing_columns(raw, origin, rows.names)
    roles = [x for x in ("algorithm", "task", "run", "step", "score") if x in rows]
    called = {role: origin.called[role] for role in roles if role in origin.called}
    _note_columns({x: y for x, y in called.items() if x not in (*raw.names, *named)}, origin)
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


def _with_single(raw: Rows, source: Source, *, is_named: bool) -> Rows:
    """Return rows with the name of the file for an algorithm or a task that no column gives.

    Any other column may be or name one, unless the score is named.
    """
    absent = [name for name in ("algorithm", "task") if name not in raw]
    others = [name for name in raw.names if name not in SPECIAL and role_of(name) != "step"]
    if len(absent) != 1 or "score" not in raw or (others and not is_named):
        return raw
    name = source.table()[1].name
    note(f"{name}: no column names the {absent[0]}: all rows are read as one, {source.stem!r}")
    return raw.with_columns({absent[0]: Texts.repeated(source.stem, len(raw))})


def _note_columns(columns: Mapping[str, str], origin: Origin) -> None:
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
    _note_columns({plain[role]: x for role, x in named.items() if x not in known}, origin)
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
        same = [wanted] if wanted in raw else [x for x in raw.names if short_name(x) == wanted]
        if len(same) == 1:
            refuse_setting(same[0], origin)
            return same[0]
        if same:
            raise origin.error(several(same, f"column {wanted!r}"))
        known = listed(_with_numbers(raw, taken)) or "none"
        raise origin.error(f"no column {wanted!r} to read as the score; with numbers: {known}")
    if "score" in raw:
        return "score"
    refuse_decimal_commas(raw, _perhaps_scores(raw, taken), origin)
    found = _with_numbers(raw, taken)
    metrics = [name for name in found if name.startswith("metrics.")] or found
    if len(metrics) == 1:
        return metrics[0]
    usual = [name for name in metrics if role_of(name) == "score"]
    if len(usual) == 1:
        note(f"{origin.name}: column {usual[0]!r} is read as the score")
        return usual[0]
    if not metrics:
        shown = shortened(", ".join(raw.names), 200)
        raise origin.error(f"expected a column of numbers for the score, found none among {shown}")
    raise origin.error(several(metrics))


def _perhaps_scores(raw: Rows, taken: Sequence[str]) -> list[str]:
    """Return the columns without those of other roles."""
    kept = [x for x in raw.names if not (x in taken or x in SPECIAL or is_setting(x))]
    return [x for x in kept if role_of(x) in (None, "score")]


def _with_numbers(raw: Rows, taken: Sequence[str]) -> list[str]:
    """Return the columns of numbers alone, else of true and false, without those of other roles."""
    kept = _perhaps_scores(raw, taken)
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
