"""Tables of runs that trackers export: Weights & Biases and MLflow, last values or histories.

A table has a row for each run, or one for each run and step. Which columns there are depends on
what was shown when it was saved, so what a column is goes by its name
(:mod:`gnomon.scores.readers.usual_columns`), and what cannot be told is asked for. A run that did
not finish is a missing run.
"""

from __future__ import annotations

import warnings
from collections.abc import Set
from pathlib import Path

import polars as pl

from gnomon.errors import DegenerateScoresWarning, counted, joined, listed
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.file_contents import header_names, matching_rows, read_csv, tidy_frame
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.trackers.run_names import keys_of_runs
from gnomon.scores.readers.usual_columns import chosen_score, short_name, usual_columns
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import MISSING_TEXTS, Origin

#: Columns of which one beside ``Name`` makes a table one of Weights & Biases' runs.
_WANDB = ("State", "Runtime", "Sweep", "Created", "Tags", "Notes", "User")
#: Columns of its histories.
_HISTORY = ("_step", "_runtime", "_timestamp")
#: What a run is called, the best first; numbers of runs may repeat, and names too.
_IDENTITIES = ("Run ID", "run_id", "Name", "tags.mlflow.runName", "Run", "run_name")
_NAMES = ("Name", "tags.mlflow.runName", "Run", "run_name", "Run ID", "run_id")
_STATES = ("State", "Status", "status")
#: Columns about runs that are neither scores nor settings, though they may hold numbers.
_ABOUT = frozenset((
    *_WANDB, *_HISTORY, *_IDENTITIES, *_STATES, "Start Time", "Duration", "Source Type",
    "Source Name", "experiment_id", "artifact_uri", "start_time", "end_time", "timestamp", "ID",
    "Group", "Job Type", "GPU Count", "Host Name",
))  # fmt: skip


def _recognises(path: Path) -> bool:
    if path.suffix.lower() not in (".csv", ".tsv") or not path.is_file():
        return False
    try:
        names = set(header_names(path))
    except OSError:
        return False
    if {"algorithm", "task", "run", "score"} <= names or {"task", "score"} <= names:
        return False
    is_wandb = _has_a_row_each_run(names)
    is_mlflow = "Run ID" in names or {"run_id", "experiment_id"} <= names
    return is_wandb or is_mlflow or not names.isdisjoint(_HISTORY)


def _has_a_row_each_run(names: Set[str]) -> bool:
    """Return whether columns are those of Weights & Biases' page of runs; _step is the last one."""
    return "Name" in names and not names.isdisjoint(_WANDB)


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    raw, origin = read_csv(path)
    for theirs in wanted.columns.values():
        if theirs not in raw.columns:
            raise origin.error(f"no column {theirs!r}; found {listed(raw.columns, 12)}")
    where, metric = dict(wanted.where), wanted.metric
    if {"metric", "value"} <= set(raw.columns) and "score" not in wanted.columns:
        metric = where["metric"] = wanted.metric or _only_metric(raw, origin)
    kept = matching_rows(raw, where, origin).arg_true()
    raw, origin = raw[kept], origin.of_rows(kept.to_numpy())
    names = set(raw.columns)
    is_history = not (names.isdisjoint(_HISTORY) or _has_a_row_each_run(names))
    is_history = is_history or "metric" in names or "step" in wanted.columns
    roles = ("algorithm", "task", "run", *(["step"] if is_history else []))
    columns = usual_columns(raw, wanted.columns, roles, origin)
    score = chosen_score(
        raw, "value" if "metric" in where else metric,
        wanted.columns, [*columns.values(), *_ABOUT], origin,
    )  # fmt: skip
    keys = _keys(raw, columns, wanted, origin)
    frame = keys.with_columns(_finished(raw, raw[score]).alias("score"))
    if "step" in columns:
        frame = frame.with_columns(raw[columns["step"]].alias("step"))
        there = _points(frame["score"])
        frame, origin = frame[there], origin.of_rows(kept[there].to_numpy())
    checked = tidy_frame(frame, origin, {})
    return warn_of_suspicions(
        ScoreTable(
            checked,
            metric or short_name(score),
            None,
            wanted.is_higher_better,
            (f"read from {path.name} (table of runs of a tracker)",),
        )
    )


def _only_metric(raw: pl.DataFrame, origin: Origin) -> str:
    """Return the one metric of a history with a row for each metric and step."""
    found = [str(name) for name in raw["metric"].unique(maintain_order=True).to_list()]
    if len(found) > 1:
        raise origin.error(
            f"expected one metric, found {joined(found[:6])}: --score {found[0]} names the first"
        )
    return found[0]


def _keys(
    raw: pl.DataFrame, columns: dict[str, str], wanted: ReadRequest, origin: Origin
) -> pl.DataFrame:
    """Return algorithm, task and run of each row, of the names of runs what columns do not tell."""
    stem = Path(origin.file or "").stem
    keys = {role: raw[name] for role, name in columns.items() if role in ("algorithm", "task")}
    identity = next((name for name in _IDENTITIES if name in raw.columns), None)
    run = columns.get("run") if columns.get("run") != "Run" else None
    if "algorithm" not in keys or wanted.run_names is not None:
        names = next((name for name in _NAMES if name in raw.columns), run)
        if names is None:
            raise origin.error(
                "expected a column that names the algorithm (algorithm, algo, exp_name or agent); "
                f"found {listed(raw.columns, 12)}: --column algorithm=NAME says how it is called"
            )
        texts = raw[names].cast(pl.String).fill_null("")
        known = texts.unique(maintain_order=True).to_list()
        parts = dict(
            zip(known, keys_of_runs(known, wanted.run_names, str(origin.file)), strict=True)
        )
        for role in dict.fromkeys(role for part in parts.values() for role in part):
            keys[role] = pl.Series(role, [parts[text].get(role) for text in texts])
    if "algorithm" not in keys:
        raise origin.error("--run-names: expected {algorithm} in it, since no column tells it")
    if "task" not in keys:
        keys["task"] = pl.Series("task", [stem] * raw.height)
        _warn(f"{origin.file}: no column names the task (env_id, env, task or game): all runs are "
              f"read as of one, {stem!r}")  # fmt: skip
    if "run" not in keys:
        label = run or identity
        keys["run"] = raw[label] if label else pl.Series("run", [0] * raw.height)
    frame = pl.DataFrame([keys[role].alias(role) for role in ("algorithm", "task", "run")])
    return _told_apart(frame, raw, identity)


def _told_apart(frame: pl.DataFrame, raw: pl.DataFrame, identity: str | None) -> pl.DataFrame:
    """Return keys in which two runs with one seed keep their own names."""
    if identity is None:
        return frame
    whose = frame.with_columns(raw[identity].alias("_identity"))
    pairs = whose.unique(maintain_order=True)
    twice = pairs.select("algorithm", "task", "run").is_duplicated()
    if not twice.any():
        return frame
    shown = pairs.filter(twice)["_identity"].to_list()
    _warn(f"runs of one algorithm, task and seed are kept apart by their {identity}: "
          f"{listed([str(x) for x in shown], 4)}")  # fmt: skip
    return frame.with_columns(raw[identity].alias("run"))


def _finished(raw: pl.DataFrame, scores: pl.Series) -> pl.Series:
    """Return the scores, nothing for those of runs that did not finish, and say which."""
    state = next((name for name in _STATES if name in raw.columns), None)
    if state is None:
        return scores
    ended = raw[state].cast(pl.String).str.to_lowercase().fill_null("") == "finished"
    if ended.all():
        return scores
    label = next((name for name in _NAMES if name in raw.columns), state)
    names = [str(name) for name in raw[label].filter(~ended).unique(maintain_order=True)]
    states = sorted({str(name) for name in raw[state].filter(~ended)})
    _warn(f"{counted(len(names), 'run')} did not finish ({joined(states)}): kept as missing, "
          f"{listed(names, 4)}")  # fmt: skip
    return pl.select(pl.when(ended).then(scores).otherwise(None)).to_series()


def _points(scores: pl.Series) -> pl.Series:
    """Return the rows that hold a score, all if none does: others tell what else was logged."""
    texts = scores.cast(pl.String).str.strip_chars().str.to_lowercase().fill_null("")
    there = (~texts.is_in(MISSING_TEXTS)).arg_true()
    return there if len(there) else texts.is_in(texts).arg_true()


def _warn(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=4)


TRACKER_TABLE = Reader(
    "tracker-table",
    "runs of Weights & Biases or MLflow as CSV: a row a run, or a row a run and step",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "where", "columns", "run_names"}),
)
