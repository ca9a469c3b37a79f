"""What a table of scores holds and what is missing in it, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

__all__ = ["description"]

#: Names that a line shows before it says that there are more.
MOST_NAMES = 8


def description(table: ScoreTable) -> str:
    """Return one fact a line: what there is, then each kind of thing that is missing or uneven."""
    direction = "higher" if table.higher_is_better else "lower"
    unit = f", {table.unit}" if table.unit else ""
    scale = f", normalised by {table.normalization.name}" if table.normalization else ""
    head = f"{_count(len(table), 'score')} ({table.metric}{unit}, {direction} is better{scale}): "
    n_algorithms, n_tasks = len(table.algorithms), len(table.tasks)
    head += f"{_count(n_algorithms, 'algorithm')}, {_count(n_tasks, 'task')}"
    if table.n_steps > 1:
        last = table.last_step()
        return "\n".join([f"{head}, {table.n_steps} steps", *_gaps(last), *_uneven(last)])
    counts = table.run_counts
    if counts.any():
        least, most = int(counts[counts > 0].min()), int(counts.max())
        head += f", {least} to {most} runs" if least < most else f", {_count(most, 'run')}"
    return "\n".join([head, *_gaps(table), *_uneven(table)])


def _gaps(table: ScoreTable) -> list[str]:
    """Return a line for each kind of thing that is missing."""
    lines = []
    n_missing = int(table.effective_scores()["score"].is_nan().sum())
    if n_missing:
        lines.append(f"{_count(n_missing, 'missing run')} (empty score)")
    if "censored" in table.frame.columns and table.frame["censored"].any():
        lines.append(_count(int(table.frame["censored"].sum()), "censored run"))
    for algorithm, counts in zip(table.algorithms, table.run_counts, strict=True):
        absent = [task for task, n in zip(table.tasks, counts, strict=True) if n == 0]
        if absent:
            lines.append(f"{algorithm}: no score on {_count(len(absent), 'task')} {_named(absent)}")
    return lines


def _uneven(table: ScoreTable) -> list[str]:
    """Return a line for each algorithm with unequal numbers of runs, or with single ones."""
    lines = []
    everywhere = int(table.run_counts.max(initial=0))
    for algorithm, counts in zip(table.algorithms, table.run_counts, strict=True):
        present = counts[counts > 0]
        if not present.size or present.min() == everywhere:
            continue
        least, most = int(present.min()), int(present.max())
        few = "a single run" if least == 1 else f"{least} runs"
        fewest = [task for task, n in zip(table.tasks, counts, strict=True) if n == least]
        if least == most:
            lines.append(f"{algorithm}: {few} a task, where others have up to {everywhere}")
        else:
            where = f"on {_count(len(fewest), 'task')} {_named(fewest)}"
            lines.append(f"{algorithm}: {few} {where}, up to {most} on others")
    return lines


def _named(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > MOST_NAMES else ""
    return f"({', '.join(names[:MOST_NAMES])}{more})"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
