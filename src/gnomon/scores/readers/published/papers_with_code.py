"""Evaluation tables of Papers with Code: tasks, their data sets, and what models report on them."""

from __future__ import annotations

import gzip
import math
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, listed
from gnomon.scores.readers.file_contents import json_content
from gnomon.scores.readers.registry import Reader
from gnomon.scores.readers.reported_number import reported_number
from gnomon.scores.table import ScoreTable

#: So much of a file tells what it is.
_GLANCE = 100_000


def read_papers_with_code(
    path: str | os.PathLike[str],
    *,
    metric: str | None = None,
    higher_is_better: bool = True,
    where: Mapping[str, Any] | None = None,
) -> ScoreTable:
    """Read a dump of evaluation tables: a list of tasks, each with data sets and sub-tasks.

    A model is an algorithm, a data set a task of the table, a second report of the same model on
    the same data set a second run.

    Parameters
    ----------
    path : path
        A ``.json`` file, or ``.json.gz``.
    metric : str, optional
        Which of the metrics that the tables report; by default the one that most data sets have.
    higher_is_better : bool
        Direction of that metric, which the dump does not tell.
    where : mapping, optional
        ``{"area": "Atari Games"}``: only such data sets. The area is the dump's task.

    Raises
    ------
    ScoreDataError
        The file is no JSON, or no list of tasks with data sets; or nothing in it reports that
        metric.

    Warns
    -----
    DegenerateScoresWarning
        Reports are left out, since they are no numbers; or a metric was chosen among several.

    Examples
    --------
    >>> import json, tempfile
    >>> rows = [{"model_name": "DQN", "metrics": {"Score": "20.1"}}]
    >>> area = {"task": "Atari Games", "datasets": [{"dataset": "Pong", "sota": {"rows": rows}}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "evaluation-tables.json"
    ...     _ = path.write_text(json.dumps([area]))
    ...     read_papers_with_code(path).runs("DQN", "Pong")
    array([20.1])
    """
    path = Path(path)
    content = json_content(path)
    if not (isinstance(content, list) and content and all(_is_area(area) for area in content)):
        raise ScoreDataError(f"{path}: expected a list of tasks, each with a list of datasets")
    wanted = (where or {}).get("area")
    reports = [r for area in content for r in _reports(area) if wanted in (None, r["area"])]
    chosen = metric or _commonest(reports)
    of_metric = [report for report in reports if report["metric"] == chosen]
    scores = [r | {"score": reported_number(r["score"])} for r in of_metric]
    usable = [r for r in scores if r["score"] is not None and not math.isnan(r["score"])]
    if not usable:
        found = listed(sorted({r["metric"] for r in reports})) or "none"
        raise ScoreDataError(f"{path}: expected reports of {chosen or 'a metric'}; found {found}")
    _say_what_was_chosen(reports, chosen, None if metric else chosen, len(scores) - len(usable))
    return ScoreTable.from_frame(
        pl.DataFrame(_numbered(usable)).select("algorithm", "task", "run", "score", "area"),
        metric=chosen,
        higher_is_better=higher_is_better,
        where=where,
        provenance=(f"read from {path.name} (evaluation tables of Papers with Code)",),
    )


def _is_area(area: Any) -> bool:
    return isinstance(area, dict) and "task" in area and isinstance(area.get("datasets"), list)


def _reports(area: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what each model reports on each data set, in each metric, of an area and its parts."""
    for dataset in _list(area.get("datasets")):
        for row in _list(_mapping(_mapping(dataset).get("sota")).get("rows")):
            for metric, score in _mapping(_mapping(row).get("metrics")).items():
                yield {
                    "algorithm": str(row.get("model_name") or "?"),
                    "task": str(dataset.get("dataset") or "?"),
                    "area": str(area.get("task") or "?"),
                    "metric": metric,
                    "score": score,
                }
    for part in _list(area.get("subtasks")):
        if isinstance(part, Mapping):
            yield from _reports(part)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _commonest(reports: list[dict[str, Any]]) -> str:
    """Return the metric that most data sets have, the first of equal ones; nothing if none has."""
    pairs = dict.fromkeys((r["metric"], r["area"], r["task"]) for r in reports)
    counts = Counter(metric for metric, _, _ in pairs)
    return counts.most_common(1)[0][0] if counts else ""


def _numbered(reports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return reports with runs, and data sets of one name told apart by their areas."""
    areas: dict[str, set[str]] = {}
    for r in reports:
        areas.setdefault(r["task"], set()).add(r["area"])
    seen: Counter[tuple[str, str]] = Counter()
    rows = []
    for r in reports:
        task = r["task"] if len(areas[r["task"]]) == 1 else f"{r['area']}: {r['task']}"
        key = (r["algorithm"], task)
        rows.append(r | {"task": task, "run": seen[key]})
        seen[key] += 1
    return rows


def _say_what_was_chosen(
    reports: list[dict[str, Any]], metric: str, chosen: str | None, n_left_out: int
) -> None:
    others = {r["metric"] for r in reports} - {metric}
    if chosen is not None and others:
        _warn(f"of {len(others) + 1} metrics the one that most data sets have was read: {chosen}")
    if n_left_out:
        _warn(f"{n_left_out} reports of {metric} left out, since they are no numbers")


def _warn(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=3)


def _recognises(path: Path) -> bool:
    name = path.name.lower()
    if not (name.endswith((".json", ".json.gz")) and path.is_file()):
        return False
    try:
        with gzip.open(path) if name.endswith(".gz") else path.open("rb") as file:
            head = file.read(_GLANCE)
    except (OSError, EOFError):
        return name.endswith(".gz")  # to be told what is wrong with it
    return bool(re.match(rb"\s*\[\s*\{", head)) and b'"datasets"' in head


PAPERS_WITH_CODE = Reader(
    "papers-with-code",
    "evaluation tables of Papers with Code, .json or .json.gz",
    recognises=_recognises,
    read=lambda path, wanted: read_papers_with_code(
        path,
        metric=wanted.metric,
        higher_is_better=wanted.is_higher_better,
        where=wanted.where,
    ),
    takes=frozenset({"metric", "where"}),
)
