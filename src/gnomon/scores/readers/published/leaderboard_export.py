"""Exports of a Gnomon leaderboard: the scores of every trial that counts."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from gnomon.errors import ScoreDataError
from gnomon.scores.readers.registry import Reader
from gnomon.scores.table import ScoreTable

#: Measures of a trial that are scores, lower is better; without a value it never learned.
MEASURES = ("tce", "errors_to_learn")
#: States of submissions whose trials count.
COUNTED = ("verified", "reported")


def read_leaderboard_export(
    folder: str | os.PathLike[str],
    *,
    metric: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> ScoreTable:
    """Read the trials of an exported leaderboard, with an entry for an algorithm.

    Parameters
    ----------
    folder : path
        What ``gnomon leaderboard export`` wrote.
    metric : str, optional
        ``tce`` if not given, or ``errors_to_learn``, of which trials that never got there are
        censored.
    where : mapping, optional
        ``{"season": "2027-1"}``: only such trials.

    Raises
    ------
    ScoreDataError
        The export is damaged, has no trials that count, or there is no such metric.

    Examples
    --------
    >>> import tempfile
    >>> trial = {"submission": 1, "rule": "clockwise", "tce": 40.0, "errors_to_learn": None}
    >>> entry = {"id": 1, "season": "s1", "account": "ann", "name": "dqn"}
    >>> submission = {"id": 1, "entry": 1, "state": "verified"}
    >>> tables = {"trials": [trial], "entries": [entry], "submissions": [submission]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "data").mkdir()
    ...     for name, rows in tables.items():
    ...         _ = (Path(folder) / "data" / f"{name}.json").write_text(json.dumps(rows))
    ...     read_leaderboard_export(folder).runs("dqn", "clockwise")
    array([40.])
    """
    folder = Path(folder)
    metric = metric or MEASURES[0]
    if metric not in MEASURES:
        raise ScoreDataError(f"{folder}: expected tce or errors_to_learn, found {metric!r}")
    try:
        submissions = {s["id"]: s for s in _rows(folder, "submissions")}
        entries = {e["id"]: e for e in _rows(folder, "entries")}
        trials = [
            (trial, entries[s["entry"]])
            for trial in _rows(folder, "trials")
            if (s := submissions[trial["submission"]])["state"] in COUNTED
        ]
        records = _records(trials, metric)
    except (KeyError, TypeError, ValueError) as error:
        raise ScoreDataError(f"{folder}: expected an export of a leaderboard; {error!r}") from None
    if not records:
        raise ScoreDataError(f"{folder}: expected trials that count, found none")
    return ScoreTable.from_frame(
        pl.DataFrame(records),
        metric=metric,
        unit="errors",
        higher_is_better=False,
        where=where,
        provenance=(f"read from {folder.name} (export of a leaderboard)",),
    )


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / "data" / f"{name}.json"
    try:
        rows = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ScoreDataError(f"{path}: expected a table of a leaderboard; {reason}") from None
    return rows if isinstance(rows, list) else []


def _records(
    trials: list[tuple[dict[str, Any], dict[str, Any]]], metric: str
) -> list[dict[str, Any]]:
    """Return tidy rows; the trials of all attempts of an entry on a rule are its runs."""
    names = Counter(name for _, name in {(e["id"], e["name"]) for _, e in trials})
    seen: Counter[tuple[int, str]] = Counter()
    records = []
    for trial, entry in trials:
        key = (entry["id"], trial["rule"])
        score = trial[metric]
        records.append(
            {
                "algorithm": entry["name"]
                if names[entry["name"]] == 1
                else f"{entry['name']} ({entry['season']}, {entry['account']})",
                "task": trial["rule"],
                "run": seen[key],
                "score": float("inf") if score is None else float(score),
                "censored": score is None,
                "season": entry["season"],
            }
        )
        seen[key] += 1
    return records


LEADERBOARD_EXPORT = Reader(
    "leaderboard-export",
    "the folder that gnomon leaderboard export writes",
    recognises=lambda path: (path / "data" / "trials.json").is_file(),
    read=lambda path, wanted: read_leaderboard_export(
        path, metric=wanted.metric, where=wanted.where
    ),
    takes=frozenset({"metric", "where"}),
)
