"""Logs of evaluations: the samples of one model on one subtask, and the table of many logs.

A reader makes a :class:`Log` of the :class:`Sample` records of each log; :func:`table_of_logs`
makes one table of them, with one score. ``docs/gnomon/evaluations.md`` lists the columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError, counted, listed, note, several, shortened
from gnomon.scores.checks import check_inputs
from gnomon.scores.columns import (
    Flags,
    FloatArray,
    Rows,
    Texts,
    first_equal,
    group_means,
    rows_of_records,
)
from gnomon.scores.readers.registry import ReadRequest
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import SPECIAL, TRUTHS, Origin, tidy_rows

METRIC = "metrics."
#: The name of the log of a sample, while logs are put together.
_LOG = "\0log"
#: Longer texts about an item cannot be clusters, and are left out.
LONGEST_ATTRIBUTE = 200
#: Number of characters that are kept of an item's text.
LONGEST_INPUT = 500
#: Tolerance for equal means, relative above 1.
_SAME = 1e-6
#: Grades of inspect: correct, incorrect, partially correct, no answer.
_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
#: Columns that the attributes of an item may not replace.
_TAKEN = frozenset((
    *SPECIAL, "item", "epoch", "subtask", "status", "input", "input_hash", "input_tokens",
    "output_tokens", "reasoning_tokens", "total_tokens", "cost", "time_s", "working_time_s", "uuid",
))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A model's answer to an item: its scores as logged, and other data about it."""

    item: str
    #: Numbers, truth values, or words that :func:`as_score` knows, by the name of the score.
    scores: Mapping[str, Any]
    epoch: int = 1
    status: str = "ok"
    #: Values of columns whose names are the same for all readers.
    columns: Mapping[str, Any] = field(default_factory=dict)
    #: Other data about the item; short values become columns.
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Log:
    """The samples of one model on one subtask."""

    path: Path
    model: str
    subtask: str
    #: Columns ``item``, ``epoch``, ``status``, ``metrics.NAME`` and others.
    rows: Rows
    #: What was found in place of a number, by the name of the score.
    unreadable: Mapping[str, str]
    #: Settings that may differ between two logs of one model on one subtask.
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: Scores of which low values are better.
    lower_is_better: frozenset[str] = frozenset()
    #: The reason why the log has no scores, if given.
    reason: str = ""

    @classmethod
    def of(cls, samples: Iterable[Sample], **about: Any) -> Log:
        """Return the log of samples."""
        unreadable: dict[str, str] = {}
        rows = rows_of_records(_row(sample, unreadable) for sample in samples)
        if not len(rows):
            rows = Rows({"item": Texts.of([]), "epoch": np.zeros(0, np.int64)})
        return cls(rows=rows, unreadable=unreadable, **about)

    @property
    def metrics(self) -> list[str]:
        """The names of its scores."""
        named = [name.removeprefix(METRIC) for name in self.rows.names if name.startswith(METRIC)]
        return [*named, *(name for name in self.unreadable if name not in named)]

    @property
    def has_failed(self) -> bool:
        """Whether it has samples, and there is a reason why each has no score."""
        return len(self.rows) > 0 and not self.rows["status"].isin(["ok"]).any()

    def scores(self, metric: str) -> FloatArray:
        """Return the score of each sample, NaN where there is none."""
        found = self.rows.numbers(METRIC + metric) if METRIC + metric in self.rows else None
        return np.full(len(self.rows), np.nan) if found is None else found

    def mean(self, metric: str, where: Flags | None = None) -> float | None:
        """Return the mean over items of the mean over epochs, None if there is no score."""
        item, score = self.rows.texts("item"), self.scores(metric)
        own = slice(None) if where is None else where
        means = group_means(item.codes[own], score[own], len(item.names))
        known = means[~np.isnan(means)]
        return float(known.mean()) if known.size and metric not in self.unreadable else None


def _row(sample: Sample, unreadable: dict[str, str]) -> dict[str, Any]:
    """Return a sample as a row; `unreadable` gets the scores that are no numbers."""
    if not 0 <= sample.epoch < 2**31:
        raise ValueError(f"epoch {sample.epoch}")
    row = {"item": sample.item, "epoch": sample.epoch, "status": sample.status, **sample.columns}
    for name, value in sample.attributes.items():
        is_short = isinstance(value, str) and len(value) <= LONGEST_ATTRIBUTE
        if is_short or isinstance(value, bool | int | float):
            row[name if name not in row and name not in _TAKEN else f"item.{name}"] = value
    for name, value in sample.scores.items():
        score = as_score(value)
        if isinstance(score, str):
            unreadable.setdefault(name, score)
        else:
            row[METRIC + name] = score
    return row


def as_score(value: Any) -> float | str | None:
    """Return a score as a number, None if there is none, or a phrase for what is found instead."""
    if value is None:
        return None
    if isinstance(value, bool | int | float):
        return None if value != value else float(value)
    if not isinstance(value, str):
        return "a list" if isinstance(value, list) else f"a value of type {type(value).__name__}"
    known = _WORDS.get(value, TRUTHS.get(value.lower()))
    if known is not None:
        return known
    try:
        return float(value)
    except ValueError:
        return f"the text {value[:30]!r}"


def as_cost(value: object) -> float | None:
    """Return a number of tokens, seconds or money, None for anything else."""
    return float(value) if isinstance(value, int | float) and value == value else None


def input_columns(text: str, *, keeps_end: bool = False) -> dict[str, str]:
    """Return the hash of an item's text, and the text's beginning (or end)."""
    mark = blake2b(text.encode(errors="replace"), digest_size=6).hexdigest()
    shown = text
    if len(text) > LONGEST_INPUT:
        shown = "..." + text[-LONGEST_INPUT:] if keeps_end else text[:LONGEST_INPUT] + "..."
    return {"input": shown, "input_hash": mark}


@contextmanager
def reading_log(path: Path, tool: str) -> Iterator[None]:
    """Raise an error that names the file if a key is missing or a value has an unexpected type.

    This replaces a check of every single value.
    """
    try:
        yield
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        found = shortened(" ".join(str(error).split()), 100)
        is_missing = isinstance(error, KeyError)
        what = f"missing key {found}" if is_missing else f"a value has another type ({found})"
        raise ScoreDataError(f"{path}: expected a file of {tool}; {what}") from error


def read_each(files: Iterable[Path], read: Callable[[Path], Log], tool: str) -> list[Log]:
    """Return the log of each file."""
    logs = []
    for file in files:
        with reading_log(file, tool):
            logs.append(read(file))
    return logs


def compare_means(
    place: str,
    what: str,
    given: object,
    means: Sequence[float],
    by: str = "",
    remedy: str = "",
) -> None:
    """Warn if the mean stated in a log differs from every mean of its samples."""
    if not isinstance(given, int | float):
        return
    if not any(math.isclose(given, mean, rel_tol=_SAME, abs_tol=_SAME) for mean in means):
        note(
            f"{place}: {what} is {given:.6g} there{by}, and the samples give {means[0]:.6g}{remedy}"
        )


def table_of_logs(logs: Sequence[Log], wanted: ReadRequest, source: Path, tool: str) -> ScoreTable:
    """Return one table of the items of all logs.

    Items are named ``SUBTASK/ITEM``. Several logs of one model on one subtask are epochs if their
    settings are equal, and different models otherwise.
    """
    metric, chosen = _chosen(logs, wanted.metric, source)
    names = _named([log for log, _ in chosen])
    parts = [
        _rows(log, of_log, name, first)
        for (log, of_log), (name, first) in zip(chosen, names, strict=True)
    ]
    rows = _without_copies(Rows.joined(parts), source)
    if not len(rows):
        raise ScoreDataError(f"{source}: expected samples, found none")
    check_inputs(rows, str(source))
    infinite = np.isinf(rows["score"])
    if infinite.any():  # a trial that never reached the goal
        rows = rows.with_columns({"censored": infinite})
    rows = tidy_rows(rows, Origin(str(source)), wanted.where)
    higher = _direction({of_log in log.lower_is_better for log, of_log in chosen}, source, metric)
    if wanted.higher_is_better is not None:
        higher = wanted.higher_is_better
    provenance = (f"read from {source.name} ({tool})",)
    return ScoreTable(rows, metric, None, higher, provenance, units="items")


def table_of_scores(
    records: Iterable[Mapping[str, Any]],
    wanted: ReadRequest,
    source: Path,
    tool: str,
    metric: str = "score",
    within_run: str | None = None,
) -> ScoreTable:
    """Return one table of published scores, one for each model and benchmark.

    Where records state whether low scores are good (``lower``), all must agree.
    """
    rows = rows_of_records(records)
    if not len(rows):
        raise ScoreDataError(f"{source}: expected scores of {tool}, found none")
    rows = tidy_rows(rows, Origin(str(source)), wanted.where, within_run)
    higher = wanted.is_higher_better
    if "lower" in rows:
        higher = _direction({*rows.tolist("lower")}, source, metric)
    provenance = (f"read from {source.name} ({tool})",)
    return ScoreTable(rows.but("lower"), metric, None, higher, provenance)


def _direction(are_low: set[bool], source: Path, metric: str) -> bool:
    """Return whether higher is better, as all logs or scores of a source have it."""
    if len(are_low) > 1:
        raise ScoreDataError(f"{source}: {metric}: higher is better on some tasks, lower on others")
    return not are_low.pop()


def _chosen(
    logs: Sequence[Log], asked: str | None, source: Path
) -> tuple[str, list[tuple[Log, str]]]:
    """Return the name of the requested score, and the logs that have it with its name there."""
    every = list(dict.fromkeys(name for log in logs for name in log.metrics))
    if not every:
        reasons = "; ".join(log.reason for log in logs[:3] if log.reason)
        found = f"none in {listed([log.path.name for log in logs], 3)}{reasons and f' ({reasons})'}"
        raise ScoreDataError(f"{source}: expected scores of samples; found {found}")
    if asked is None and len(every) > 1:
        raise ScoreDataError(f"{source}: {several(every)}")
    metric = every[0] if asked is None else asked
    having: list[tuple[Log, str]] = []
    without = []
    for log in logs:
        # The name may be complete, without its filter, or the key alone.
        names = [x for x in log.metrics if metric in (x, x.partition(",")[0], x.rpartition("/")[2])]
        if len(names) > 1 and metric not in names:
            raise ScoreDataError(f"{log.path}: {several(names, f'score {metric!r}')}")
        if names or (not log.metrics and log.has_failed):
            having.append((log, metric if metric in names or not names else names[0]))
        else:
            without.append(f"{log.subtask} has {listed(log.metrics, 6) or 'none'}")
    if not having:
        raise ScoreDataError(f"{source}: no score {metric!r}; found {listed(every, 6)}")
    for log, name in having:
        if name in log.unreadable:
            raise ScoreDataError(
                f"{log.path}: score {name!r} is not one number per item: found "
                f"{log.unreadable[name]}; it cannot be a mean of items"
            )
    if without:
        has = "; ".join(without[:3])
        note(f"{source.name}: {counted(len(without), 'log')} without {metric!r} left out: {has}")
    return metric, having


def _named(logs: Sequence[Log]) -> list[tuple[str, int]]:
    """Return the name of the model of each log, and the number of its epochs in earlier logs."""
    alike: dict[tuple[str, str], list[Log]] = {}
    for log in logs:
        alike.setdefault((log.model, log.subtask), []).append(log)
    epochs: dict[tuple[str, str], int] = {}
    found = []
    for log in logs:
        others = alike[log.model, log.subtask]
        differing = [key for key, value in log.settings.items()
                     if any(other.settings.get(key) != value for other in others)]  # fmt: skip
        shown = ", ".join(f"{key}={log.settings[key]}" for key in differing)
        name = f"{log.model} ({shown})" if shown else log.model
        before = epochs.get((name, log.subtask), 0)
        if before:
            note(f"{log.path.name}: another log of {name} on {log.subtask}: read as further epochs")
        found.append((name, before))
        epochs[name, log.subtask] = before + int(log.rows["epoch"].max(initial=0))
    return found


def _rows(log: Log, metric: str, name: str, first: int) -> Rows:
    """Return the rows of a log under the names of a tidy table, with the name of the log."""
    score, n = log.scores(metric), len(log.rows)
    status, item = log.rows.texts("status"), log.rows.texts("item")
    is_lost = np.isnan(score) & status.isin(["ok"])
    codes = np.where(is_lost, len(status.names), status.codes).astype(np.int32)
    columns = {
        "algorithm": Texts.repeated(name, n),
        "task": Texts(item.codes, tuple(f"{log.subtask}/{x}" for x in item.names)),
        "run": log.rows["epoch"] + first,
        "score": score,
        "subtask": Texts.repeated(log.subtask, n),
        "status": Texts.merged(codes, [*status.names, "unscored"]),
        _LOG: Texts.repeated(log.path.name, n),
    }
    rest = log.rows.but("item", "epoch", "status", METRIC + metric)
    return Rows(columns | {x: rest[x] for x in rest.names})


def _without_copies(rows: Rows, source: Path) -> Rows:
    """Leave out samples that another log contains too; refuse copies with different scores.

    A retry copies samples; scoring a log again makes copies with other scores. Samples are the same
    if model and uuid are equal.
    """
    if "uuid" not in rows:
        return rows.but(_LOG)
    uuid = rows.texts("uuid")
    key = rows["algorithm"].codes.astype(np.int64) * (len(uuid.names) + 1) + uuid.codes
    key = np.where(uuid.missing, -1 - np.arange(len(rows)), key)
    first = first_equal(key)
    copies = first != np.arange(len(rows))
    if copies.any():
        score = rows["score"]
        other = copies & (np.nan_to_num(score) != np.nan_to_num(score[first]))
        if other.any():
            at = int(np.argmax(other))
            a, b = rows.take([first[at], at]).tolist(_LOG)
            raise ScoreDataError(
                f"{source}: {a} and {b} hold the same samples with different scores (of {b}, "
                f"{counted(int(other.sum()), 'sample')} differ): read one of the two files"
            )
        n = counted(int(copies.sum()), "sample")
        note(f"{source.name}: {n} left out that another log contains too")
        rows = rows.take(~copies)
    return rows.but("uuid", _LOG)
