"""Exports of trackers: tables of runs and line charts of Weights & Biases, MLflow's tables.

A table has a row for each run, or one for each run and step. Columns are known by their names; an
unknown one is asked for. A run that did not finish is a missing run. A chart has three columns a
line: ``RUN - METRIC``, and the least and greatest value of the samples in each of its points,
``__MIN`` and ``__MAX``, which are ignored. A pattern such as ``{algorithm}-{run}`` describes the
names of runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError, counted, joined, listed, note, option, reading, several
from gnomon.scores.columns import Flags, FloatArray, IntArray, Rows, Texts
from gnomon.scores.readers.files import reported_numbers
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.readers.tables import chosen_score
from gnomon.scores.readers.wide import melted
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, numbers_of, selected, short_name, tidy_rows, usual_columns

#: Fields of a pattern; ``{}`` ignores a part.
FIELDS = ("algorithm", "task", "run")

_NUMBERED = re.compile(r"(.*?)[\s_\-.:]*(?:seed|run|s)?[\s_\-.:]*\d+$", re.IGNORECASE)


def keys_of_runs(
    names: Sequence[str], pattern: str | None, file: str | None
) -> list[dict[str, str]]:
    """Return the algorithm, task and run that each name contains."""
    if pattern is None:
        _refuse_numbered(names, file)
        return [{"algorithm": name} for name in names]
    pieces = re.split(r"\{(.*?)\}", pattern)
    fields = [field for field in pieces[1::2] if field]
    if not fields or not set(fields) <= set(FIELDS) or len(set(fields)) < len(fields):
        raise ScoreDataError(
            f"run names: expected a pattern of {{algorithm}}, {{task}} and {{run}}, each at most "
            f"once, such as {{algorithm}}-{{run}}; found {pattern!r}"
        )
    parts = [re.escape(pieces[0])]
    for field, literal in zip(pieces[1::2], pieces[2::2], strict=True):
        parts += [f"(?P<{field}>.+)" if field else ".*", re.escape(literal)]
    keys = []
    for name in names:
        match = re.fullmatch("".join(parts), name)
        if match is None:
            raise Origin(file).error(f"expected names of runs like {pattern}, found {name!r}")
        keys.append(match.groupdict())
    return keys


def _refuse_numbered(names: Sequence[str], file: str | None) -> None:
    """Refuse names that differ only in a number at their end."""
    stems: dict[str, list[str]] = {}
    for name in names:
        found = _NUMBERED.fullmatch(name)
        if found and found[1]:
            stems.setdefault(found[1], []).append(name)
    for stem, alike in stems.items():
        if len(alike) > 1:
            sign = alike[0][len(stem) :].rstrip("0123456789") or "-"
            raise Origin(file).error(
                f"{listed(alike, 3)} may be runs of {stem!r} or algorithms with one run "
                f"each; use {reading(file, run_names=f'{{algorithm}}{sign}{{run}}')} or "
                f"{option(run_names='{algorithm}')}"
            )


def kept_after_restarts(run: IntArray, step: FloatArray) -> Flags:
    """Return the rows that no restart discarded: none follows with the same or an earlier step."""
    order = np.argsort(run, kind="stable")
    kept = np.ones(run.size, bool)
    for own in np.split(order, np.flatnonzero(np.diff(run[order])) + 1):
        # A row stands unless a later one has the same step or an earlier one.
        least_after = np.minimum.accumulate(step[own][::-1])[::-1]
        if (np.diff(step[own]) < 0).any():
            kept[own[:-1]] = step[own][:-1] < least_after[1:]
    return kept


_ENDS = ("__MIN", "__MAX")
#: A line of a group of runs is named for what they share: ``exp_name: dqn``.
_GROUP = re.compile(r"[\w./-]+: .+")


def _line_and_metric(heading: str) -> tuple[str, str]:
    """Return the name of a line and its metric, which has no `` - `` in it."""
    line, _, metric = heading.rpartition(" - ")
    return line, metric


def _recognises_chart(source: Source) -> bool:
    first, *others = source.names or [""]
    return bool(others) and " - " not in first and all(all(_line_and_metric(x)) for x in others)


def _read_chart(source: Source, wanted: ReadRequest) -> ScoreTable:
    raw, origin = source.table()
    metric, lines = _lines(raw.names[1:], wanted.metric, origin)
    groups = [name for name in lines if _GROUP.fullmatch(name)]
    if groups:
        raise origin.error(
            f"expected a line for each run, found means of groups ({listed(groups, 3)}): "
            "export the chart without grouping, or the history of each run"
        )
    step = raw.names[0]
    raw = raw.with_columns({step: reported_numbers(raw, step, origin, -np.inf)})
    keys = keys_of_runs(list(lines), wanted.run_names, origin.file)
    same = {"algorithm": source.stem, "task": source.stem, "run": "0"}
    values = {name: same | key for name, key in zip(lines.values(), keys, strict=True)}
    rows = melted(raw, {"step": step}, values, origin)
    # An empty cell is a line without a point at that step, not a missing run.
    rows = rows.take(~np.isnan(rows["score"]))
    if not len(rows):
        raise origin.error(f"expected numbers in the lines of {metric}, found none")
    note(
        f"{origin.name}: {counted(len(lines), 'line')} of a chart, which holds samples of the "
        "curves, perhaps smoothed; the history of each run holds all of them"
        + ("" if "task" in keys[0] else f"; no line names its task: all are of {source.stem!r}")
    )
    try:
        tidy = tidy_rows(rows, Origin(), {})
    except ScoreDataError as error:
        remedy = f"{option(run_names='{algorithm}-{run}')} or another pattern"
        raise origin.error(f"{error}; {remedy} distinguishes the lines") from None
    about = origin.provenance("Weights & Biases chart")
    return ScoreTable(tidy, metric, None, wanted.is_higher_better, about)


def _lines(
    headings: Sequence[str], metric: str | None, origin: Origin
) -> tuple[str, dict[str, str]]:
    """Return the metric, and the column of each of its lines by the line's name."""
    parted = {name: _line_and_metric(name) for name in headings if not name.endswith(_ENDS)}
    every = dict.fromkeys(metric for _, metric in parted.values())
    metrics = [name for name in every if name not in ("_step", "Step")]
    if metric is None and len(metrics) > 1:
        raise origin.error(several(metrics, "metric of the lines"))
    metric = metric or next(iter(metrics), "")
    if metric not in metrics:
        raise origin.error(f"no lines of the metric {metric!r}; found {listed(metrics)}")
    return metric, {line: name for name, (line, m) in parted.items() if m == metric}


WANDB_CHART = Reader(
    "wandb-chart",
    "a line chart of Weights & Biases as CSV: a column of steps, then RUN - METRIC for each line",
    recognises=_recognises_chart,
    read=_read_chart,
    takes=frozenset({"metric", "run_names"}),
    in_memory=True,
)

#: Columns of which one beside ``Name`` makes a table one of Weights & Biases' runs.
_WANDB = ("State", "Runtime", "Sweep", "Created", "Tags", "Notes", "User")
#: Columns of its histories.
_HISTORY = ("_step", "_runtime", "_timestamp")
#: Columns that identify a run, best first; a number or a name may not be unique.
_IDENTITIES = ("Run ID", "run_id", "Name", "tags.mlflow.runName", "Run", "run_name")
_NAMES = ("Name", "tags.mlflow.runName", "Run", "run_name", "Run ID", "run_id")
_STATES = ("State", "Status", "status")
#: Columns about runs that are neither scores nor settings, though they may hold numbers.
_ABOUT = frozenset((
    *_WANDB, *_HISTORY, *_IDENTITIES, *_STATES, "Start Time", "Duration", "Source Type",
    "Source Name", "experiment_id", "artifact_uri", "start_time", "end_time", "timestamp", "ID",
    "Group", "Job Type", "GPU Count", "Host Name",
))  # fmt: skip


def _recognises(source: Source) -> bool:
    names = set(source.names)
    is_mlflow = "Run ID" in names or {"run_id", "experiment_id"} <= names
    is_known = is_mlflow or _has_a_row_each_run(names) or not names.isdisjoint(_HISTORY)
    return is_known and not {"task", "score"} <= names


def _has_a_row_each_run(names: Set[str]) -> bool:
    """Return whether columns are those of Weights & Biases' page of runs; _step is the last one."""
    return "Name" in names and not names.isdisjoint(_WANDB)


def _read(source: Source, wanted: ReadRequest) -> ScoreTable:
    raw, origin = source.table()
    where, metric = dict(wanted.where), wanted.metric
    is_long = {"metric", "value"} <= set(raw.names) and "score" not in wanted.columns
    if is_long:
        metrics = raw.texts("metric").names
        if metric is None and len(metrics) > 1:
            raise origin.error(several(metrics, "metric"))
        metric = where["metric"] = metric or metrics[0]
    raw, origin = selected(raw, where, origin)
    names = set(raw.names)
    is_history = not (names.isdisjoint(_HISTORY) or _has_a_row_each_run(names))
    is_history = is_history or "metric" in names or "step" in wanted.columns
    roles = ("algorithm", "task", "run", *(["step"] if is_history else []))
    columns = usual_columns(raw, wanted.columns, roles, origin)
    taken = [*columns.values(), *_ABOUT]
    score = chosen_score(raw, "value" if is_long else metric, wanted.columns, taken, origin)
    rows = _keys(raw, columns, wanted, origin, source.stem)
    scores = _finished(raw, numbers_of(raw[score], "score", origin))
    rows = rows.with_columns({"score": scores})
    if "step" in columns:
        rows = rows.with_columns({"step": raw[columns["step"]]})
        if not np.isnan(scores).all():  # other metrics have rows of their own
            there = np.flatnonzero(~np.isnan(scores))
            rows, origin = rows.take(there), origin.of_rows(there)
        rows, origin = _without_discarded(rows, origin)
    checked = tidy_rows(rows, origin, {}, wanted.within_run)
    about = origin.provenance("table of runs of a tracker")
    name = metric or short_name(score)
    return ScoreTable(checked, name, None, wanted.is_higher_better, about)


def _keys(
    raw: Rows, columns: dict[str, str], wanted: ReadRequest, origin: Origin, stem: str
) -> Rows:
    """Return algorithm, task and run of each row, from the names of runs if not from columns."""
    keys = {role: raw[name] for role, name in columns.items() if role in ("algorithm", "task")}
    identity = next((name for name in _IDENTITIES if name in raw), None)
    run = columns.get("run") if columns.get("run") != "Run" else None
    if "algorithm" not in keys or wanted.run_names is not None:
        names = next((name for name in _NAMES if name in raw), run)
        if names is None:
            raise origin.error(
                "expected a column that names the algorithm (algorithm, algo, exp_name or agent); "
                f"found {listed(raw.names, 12)}; "
                f"name it by {reading(origin.file, columns={'algorithm': 'NAME'})}"
            )
        texts = raw.texts(names)
        parts = keys_of_runs(texts.names, wanted.run_names, origin.file)
        for role in dict.fromkeys(role for part in parts for role in part):
            keys[role] = Texts.merged(texts.codes, [part.get(role) for part in parts])
    if "algorithm" not in keys:
        raise origin.error("run names: expected {algorithm} in the pattern; no column names it")
    if "task" not in keys:
        keys["task"] = Texts.repeated(stem, len(raw))
        note(f"{origin.name}: no column names the task (env_id, env, task or game): all runs are "
              f"read as task {stem!r}")  # fmt: skip
    if "run" not in keys:
        label = run or identity
        keys["run"] = raw[label] if label else np.zeros(len(raw), np.int64)
    rows = Rows({role: keys[role] for role in FIELDS})
    return rows if identity is None else _kept_apart(rows, raw.texts(identity), identity)


def _kept_apart(rows: Rows, names: Texts, identity: str) -> Rows:
    """Return keys in which two runs with one seed keep their own names."""
    of_key: dict[Any, dict[str | None, None]] = {}
    for *key, name in zip(*(rows.tolist(role) for role in FIELDS), names.tolist(), strict=True):
        of_key.setdefault(tuple(key), {})[name] = None
    twice = [str(name) for own in of_key.values() if len(own) > 1 for name in own]
    if not twice:
        return rows
    note(f"runs of one algorithm, task and seed are kept apart by their {identity}: "
          f"{listed(twice, 4)}")  # fmt: skip
    return rows.with_columns({"run": names})


def _finished(raw: Rows, scores: FloatArray) -> FloatArray:
    """Return the scores, nothing for those of runs that did not finish, and name these."""
    state = next((name for name in _STATES if name in raw), None)
    if state is None:
        return scores
    states = raw.texts(state)
    ended = states.isin([name for name in states.names if name.lower() == "finished"])
    if ended.all():
        return scores
    label = next((name for name in _NAMES if name in raw), state)
    names, other = raw.texts(label).take(~ended).names, sorted(states.take(~ended).names)
    note(f"{counted(len(names), 'run')} did not finish ({joined(other)}): kept as missing, "
          f"{listed(names, 4)}")  # fmt: skip
    return np.where(ended, scores, np.nan)


def _without_discarded(rows: Rows, origin: Origin) -> tuple[Rows, Origin]:
    """Return the rows without the steps that a restart of their run discarded."""
    steps = rows.numbers("step")
    if steps is None or np.isnan(steps).any():
        return rows, origin  # the checks name the row
    keys = [rows.texts(name).codes for name in FIELDS]
    kept = kept_after_restarts(np.unique(keys, axis=1, return_inverse=True)[1].ravel(), steps)
    if kept.all():
        return rows, origin
    note(f"{origin.name}: {counted(int((~kept).sum()), 'row')} left out that a "
          "restart of the run discarded (its step goes back)")  # fmt: skip
    return rows.take(kept), origin.of_rows(np.flatnonzero(kept))


TRACKER_TABLE = Reader(
    "tracker-table",
    "runs of Weights & Biases or MLflow as CSV: a row per run, or per run and step",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "where", "columns", "run_names"}),
    in_memory=True,
)
