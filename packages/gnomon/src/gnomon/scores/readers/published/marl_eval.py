"""Results of marl-eval: one JSON file with the evaluations of every run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.file_contents import json_object
from gnomon.scores.readers.registry import Reader
from gnomon.scores.table import ScoreTable

_KEYS = "environment, task, algorithm, run, step_N with step_count"


def read_marl_eval(
    path: str | os.PathLike[str], *, metric: str | None = None, higher_is_better: bool = True
) -> ScoreTable:
    """Read marl-eval's JSON: environment, task, algorithm, run, step.

    A score is the mean over the evaluation episodes of one step; tasks are named
    ``environment/task``.

    Parameters
    ----------
    path : path
    metric : str, optional
        Which of the metrics that each step holds, if there are several.
    higher_is_better : bool
        The direction, which the file does not tell.

    Raises
    ------
    ScoreDataError
        No step holds the metric, or it has to be named.

    Examples
    --------
    >>> import json, tempfile
    >>> run = {"step_0": {"step_count": 10, "return": [1.0, 3.0]}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "results.json"
    ...     _ = path.write_text(json.dumps({"smac": {"3m": {"qmix": {"seed_0": run}}}}))
    ...     read_marl_eval(path).curves("qmix", "smac/3m")
    (array([10.]), array([[2.]]))
    """
    path = Path(path)
    content = json_object(path)
    metric = metric or _only_metric(content, path)
    records = list(_rows(content, metric, path))
    if not records:
        raise ScoreDataError(f"{path}: no step holds the metric {metric!r}")
    table = ScoreTable.from_records(
        records,
        metric=metric,
        higher_is_better=higher_is_better,
        provenance=(f"read from {path.name} (marl-eval)",),
    )
    return warn_of_suspicions(table)


def _only_metric(content: dict[str, Any], path: Path) -> str:
    """Return the one metric that the steps of a file hold."""
    found: dict[str, None] = {}
    for tasks in content.values():
        for algorithms in _inner(tasks):
            for runs in _inner(algorithms):
                for steps in _inner(runs):
                    for name, step in steps.items() if isinstance(steps, dict) else ():
                        if name.startswith("step_") and isinstance(step, dict):
                            found |= dict.fromkeys(key for key in step if key != "step_count")
    if not found:
        raise ScoreDataError(f"{path}: expected {_KEYS}, as marl-eval has them; found none")
    if len(found) > 1:
        shown = ", ".join(found)
        raise ScoreDataError(f"{path}: expected a metric to be named; found {shown}")
    return next(iter(found))


def _inner(value: object) -> Iterator[Any]:
    """Yield what a JSON object holds, and of anything else nothing."""
    yield from value.values() if isinstance(value, dict) else ()


def _rows(content: dict[str, Any], metric: str, path: Path) -> Iterator[dict[str, Any]]:
    try:
        for environment, tasks in content.items():
            for task, algorithms in tasks.items():
                for algorithm, runs in algorithms.items():
                    for run, steps in runs.items():
                        for name, step in steps.items():
                            if name.startswith("step_") and metric in step:
                                yield {
                                    "algorithm": algorithm,
                                    "task": f"{environment}/{task}",
                                    "run": run,
                                    "step": step["step_count"],
                                    "score": float(np.mean(step[metric])),
                                }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ScoreDataError(f"{path}: expected {_KEYS}; {error}") from None


MARL_EVAL = Reader(
    "marl-eval",
    "JSON of marl-eval: environment, task, algorithm, run, step",
    recognises=lambda path: path.suffix.lower() == ".json" and path.is_file(),
    read=lambda path, wanted: read_marl_eval(
        path, metric=wanted.metric, higher_is_better=wanted.is_higher_better
    ),
    takes=frozenset({"metric"}),
    is_general=True,
)
