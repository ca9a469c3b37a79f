"""Line charts of Weights & Biases: a column of steps, and a column for each line.

The file has three columns a line: ``RUN - METRIC``, and the least and greatest value of the samples
in each of its points, ``__MIN`` and ``__MAX``, which are no runs.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, counted, joined, listed
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.file_contents import header_names, read_csv
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.reported_number import reported_number
from gnomon.scores.readers.trackers.run_names import keys_of_runs
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin

_ENDS = ("__MIN", "__MAX")
#: A line of a group of runs is named for what they share: ``exp_name: dqn``.
_GROUP = re.compile(r"[\w./-]+: .+")


def _line_and_metric(heading: str) -> tuple[str, str]:
    """Return the name of a line and its metric: names of runs contain what parts the two."""
    line, _, metric = heading.rpartition(" - ")
    return line, metric


def _recognises(path: Path) -> bool:
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    try:
        first, *others = header_names(path)
    except (OSError, ValueError):  # no file, or no line in it
        return False
    named = [name for name in others if all(_line_and_metric(name))]
    return bool(others) and " - " not in first and len(named) == len(others)


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    raw, origin = read_csv(path)
    lines = _lines(raw.columns[1:], wanted.metric, origin)
    metric = _line_and_metric(next(iter(lines.values())))[1]
    _refuse_groups(lines, raw, origin)
    steps = _numbers(raw, raw.columns[0], origin)
    if any(step != step for step in steps):
        at = next(at for at, step in enumerate(steps) if step != step)
        raise origin.error_at([at], raw.columns[0], "expected a step, found nothing")
    keys = keys_of_runs(list(lines), wanted.run_names, str(path))
    records = []
    for key, column in zip(keys, lines.values(), strict=True):
        for step, score in zip(steps, _numbers(raw, column, origin), strict=True):
            # An empty cell says that the line has no point at that step, which is no missing run.
            if score == score:
                whole = {"algorithm": path.stem, "task": path.stem, "run": 0} | key
                records.append(whole | {"step": step, "score": score})
    if not records:
        raise origin.error(f"expected numbers in the lines of {metric}, found none")
    warnings.warn(
        f"{path.name}: {counted(len(lines), 'line')} of a chart, which holds samples of the "
        "curves, perhaps smoothed; the history of each run holds all of them"
        + ("" if "task" in keys[0] else f"; no line names its task: all are of {path.stem!r}"),
        DegenerateScoresWarning,
        stacklevel=2,
    )
    try:
        table = ScoreTable.from_records(
            records,
            metric=metric,
            higher_is_better=wanted.is_higher_better,
            provenance=(f"read from {path.name} (Weights & Biases chart)",),
        )
    except ScoreDataError as error:
        raise origin.error(f"{error}; --run-names has to tell the lines apart") from None
    return warn_of_suspicions(table)


def _lines(headings: Sequence[str], metric: str | None, origin: Origin) -> dict[str, str]:
    """Return the column of each line, by the line's name."""
    kept = [name for name in headings if not name.endswith(_ENDS)]
    parted = {name: _line_and_metric(name) for name in kept}
    metrics = dict.fromkeys(m for _, m in parted.values() if m not in ("_step", "Step"))
    if metric is None and len(metrics) > 1:
        raise origin.error(
            f"expected lines of one metric, found {joined(list(metrics)[:6])}: "
            f"--score {next(iter(metrics))} names the first"
        )
    metric = metric or next(iter(metrics), None)
    if metric not in metrics:
        raise origin.error(f"no lines of the metric {metric!r}; found {listed(metrics)}")
    return {line: name for name, (line, m) in parted.items() if m == metric}


def _refuse_groups(lines: dict[str, str], raw: pl.DataFrame, origin: Origin) -> None:
    """Refuse lines of groups, which are means of runs, and no runs."""
    groups = [name for name in lines if _GROUP.fullmatch(name)]
    if groups:
        raise origin.error(
            f"expected a line for each run, found means of groups ({listed(groups, 3)}): "
            "export the chart without grouping, or the history of each run"
        )


def _numbers(raw: pl.DataFrame, column: str, origin: Origin) -> list[float]:
    """Return the numbers of a column, NaN for empty cells."""
    found = [reported_number(text) for text in raw[column]]
    if None in found:
        at = found.index(None)
        raise origin.error_at([at], column, f"expected a number, found {raw[column][at]!r}")
    return [float("nan") if number is None else number for number in found]


WANDB_CHART = Reader(
    "wandb-chart",
    "a line chart of Weights & Biases as CSV: a column of steps, then RUN - METRIC for each line",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "run_names"}),
)
