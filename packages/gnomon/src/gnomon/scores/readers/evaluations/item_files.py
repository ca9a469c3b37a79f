"""Files of items, one row for each model and item: CSV, TSV, Parquet or JSON lines."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, joined
from gnomon.scores.readers.evaluations.json_stream import json_lines
from gnomon.scores.readers.file_contents import (
    header_names,
    missing_columns,
    read_columns,
    renamed_columns,
    tidy_frame,
)
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.usual_columns import chosen_score
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import REQUIRED, SPECIAL, Origin

#: What the columns of such a file are called, in small letters; the first that is there counts.
USUAL: Mapping[str, tuple[str, ...]] = {
    "algorithm": ("algorithm", "model", "model_name", "model_id", "system"),
    "task": (
        "item", "item_id", "question_id", "sample_id", "example_id", "instance_id", "doc_id",
        "task", "id",
    ),
    "run": ("run", "epoch", "repeat", "trial", "seed"),
    "score": ("score", "correct", "is_correct", "accuracy", "acc", "exact_match", "passed", "pass"),
}  # fmt: skip
#: A table of tasks has none of these; "task" and "id" alone tell nothing.
_ITEMS = USUAL["task"][:-2]
_LINES = (".jsonl", ".ndjson")
_TRUTHS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def read_item_rows(raw: pl.DataFrame, wanted: ReadRequest, origin: Origin) -> ScoreTable:
    """Return the table of items that columns hold, by the names that such columns usually have.

    Without a column of epochs there is one. Beside a column of items, one that is called ``task``
    becomes the attribute ``subtask``; where items of two subtasks have one name, the subtask is
    put before it.

    Parameters
    ----------
    raw : polars.DataFrame
        Columns as read.
    wanted : ReadRequest
        Which score, and what columns are called.
    origin : Origin
        Where the rows come from.

    Raises
    ------
    ScoreDataError
        A column is missing, or a value is not of its column's kind.
    """
    named = dict(wanted.columns)
    lower = {name.strip().lower(): name for name in reversed(raw.columns)}
    for role in ("algorithm", "task", "run"):
        found = [lower[name] for name in USUAL[role] if name in lower]
        if role not in named and found:
            named[role] = found[0]
    named["score"] = _score(raw, wanted, named, lower, origin)
    missing = [role for role in ("algorithm", "task") if role not in named]
    if missing:
        raise missing_columns(raw, origin, [*named, "run"])
    raw = _with_subtasks(raw, named)
    rows = renamed_columns(raw, named, origin)
    if "run" not in rows.columns:
        rows = rows.with_columns(pl.lit(1).alias("run"))
    rows = rows.with_columns(_as_numbers(rows["score"]))
    _say(named, wanted, origin)
    frame = tidy_frame(rows, origin, wanted.where)
    if not len(frame):
        raise origin.error("expected rows of scores, found none")
    provenance = (f"read from {Path(origin.file or '').name} (items)",)
    better = wanted.is_higher_better
    return ScoreTable(frame, named["score"], None, better, provenance, units="items")


def _score(
    raw: pl.DataFrame, wanted: ReadRequest, named: Mapping[str, str], lower: Mapping[str, str],
    origin: Origin,
) -> str:  # fmt: skip
    """Return the column of scores: as it is named, else by its usual name, else by its numbers."""
    usual = [lower[name] for name in USUAL["score"] if name in lower]
    if wanted.metric is None and "score" not in named and usual:
        if len(usual) > 1 and usual[0] != "score":
            message = f"expected one score; found {joined(usual)}: --score {usual[0]} names the"
            raise origin.error(f"{message} first")
        return usual[0]
    return chosen_score(raw, wanted.metric, named, list(named.values()), origin)


def _with_subtasks(raw: pl.DataFrame, named: dict[str, str]) -> pl.DataFrame:
    """Return the columns with the task of an item as an attribute, and before names that repeat."""
    if named["task"] == "task" or "task" not in raw.columns:
        return raw
    raw = raw.rename({"task": "subtask"})
    named.update({role: "subtask" for role, name in named.items() if name == "task"})
    item, subtask = (pl.col(name).cast(pl.String) for name in (named["task"], "subtask"))
    pairs = raw.select(item.alias("item"), subtask.alias("subtask")).unique()
    if pairs["item"].is_duplicated().any():
        raw = raw.with_columns((subtask + "/" + item).alias(named["task"]))
    return raw


def _as_numbers(score: pl.Series) -> pl.Series:
    """Return a column of truth values as 1 and 0, and any other as it is."""
    if score.dtype == pl.Boolean:
        return score.cast(pl.Float64)
    if score.dtype != pl.String:
        return score
    texts = score.str.strip_chars().str.to_lowercase()
    if not texts.is_in(list(_TRUTHS)).any():
        return score
    return texts.replace({text: f"{number:g}" for text, number in _TRUTHS.items()}).alias("score")


def _say(named: Mapping[str, str], wanted: ReadRequest, origin: Origin) -> None:
    """Say which columns were taken by names that are not the plain ones."""
    plain = {"algorithm": "model", "task": "item", "run": "epoch", "score": "score"}
    said = (*SPECIAL, *plain.values(), "correct", *wanted.columns.values(), wanted.metric)
    odd = [f"{name!r} as {plain[role]}" for role, name in named.items() if name not in said]
    if odd:
        message = f"{Path(origin.file or '').name}: columns read by their names: {joined(odd)}"
        warnings.warn(message, DegenerateScoresWarning, stacklevel=4)


def _recognises(path: Path) -> bool:
    """Return whether the header names models and items."""
    try:
        names = {name.lower() for name in _header(path)}
    except (OSError, ScoreDataError, pl.exceptions.PolarsError):
        return False
    if names.issuperset(REQUIRED):
        return False  # a tidy file, which may tell of items what they are called elsewhere
    return not (names.isdisjoint(USUAL["algorithm"]) or names.isdisjoint(_ITEMS))


def _header(path: Path) -> list[str]:
    """Return the names of the columns, by the first bytes of a file alone."""
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq") and path.is_file():
        return list(pl.read_parquet_schema(path))
    if suffix in _LINES and path.is_file():
        return list(next(json_lines(path), {}))
    return header_names(path) if suffix in (".csv", ".tsv") and path.is_file() else []


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    raw, origin = _of_lines(path) if path.suffix.lower() in _LINES else read_columns(path)
    return read_item_rows(raw, wanted, origin)


def _of_lines(path: Path) -> tuple[pl.DataFrame, Origin]:
    """Return the columns of a file of JSON lines; what holds lists or objects is left out."""
    try:
        raw = pl.read_ndjson(path, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        for _ in json_lines(path):
            pass  # the line is named, if one is wrong by itself
        raise ScoreDataError(f"{path}: expected JSON lines; {error}") from None
    nested = [name for name, dtype in raw.schema.items() if dtype.is_nested()]
    return raw.drop(nested), Origin(str(path), lines=lambda: range(1, 1 + raw.height))


ITEM_FILE = Reader(
    "items",
    "a CSV, TSV, Parquet or .jsonl file with a row a model and item: model, item, correct",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "where", "columns"}),
    units="items",
)
