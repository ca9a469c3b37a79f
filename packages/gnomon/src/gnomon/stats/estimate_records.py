"""Records of estimates: a number about an algorithm with its interval, in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from gnomon.results import FieldRecord, Results, Row


@dataclass(frozen=True, slots=True)
class Estimate(FieldRecord):
    """One number about one algorithm, with its interval and how it was made.

    A number that does not exist is NaN here and None in :meth:`as_record`.

    Parameters
    ----------
    algorithm, metric : str
        What was estimated, for example ``"iqm"``.
    value : float
        The estimate.
    low, high : float
        Ends of the interval.
    level : float
        Its confidence level.
    method : str
        How the interval was made.
    n_runs : int or (int, int)
        Runs per task; the least and the most where tasks differ.
    n_tasks : int
        Number of tasks.
    n_resamples : int
        Number of resamples; 0 for an interval in closed form.
    mc_error : float
        Monte Carlo error of the worse end, about one standard deviation; 0 in closed form.
    task : str, optional
        The task, for an estimate of one task by itself.

    Examples
    --------
    >>> one = Estimate("dqn", "iqm", 0.5, float("nan"), 0.6, 0.95, "percentile", 5, 6, 2000, 0.01)
    >>> one.as_record()["low"] is None
    True
    """

    algorithm: str
    metric: str
    value: float
    low: float
    high: float
    level: float
    method: str
    n_runs: int | tuple[int, int]
    n_tasks: int
    n_resamples: int
    mc_error: float
    task: str | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON, None for what is not a finite number.

        The task, if there is one, comes first.
        """
        record = FieldRecord.as_record(self)
        task = record.pop("task")
        return record if task is None else {"task": task, **record}


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Results[Estimate]):
    """Estimates of every algorithm of a table; see :func:`estimate`.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import estimate
    >>> scores = ScoreTable.from_arrays({"dqn": [[1.0, 2.0], [2.0, 4.0], [3.0, 3.0]]})
    >>> print(estimate(scores, ["mean", "iqm"]).where(metric="mean"))
    score, higher is better
    <BLANKLINE>
     algorithm   metric   value     low    high   n_runs   n_tasks
     ─────────────────────────────────────────────────────────────
     dqn         mean       2.5   1.367   3.633        3         2
    """

    columns: ClassVar[tuple[str, ...]] = (
        "algorithm",
        "metric",
        "value",
        "low",
        "high",
        "n_runs",
        "n_tasks",
    )
    drawn_by = "gnomon.plot.dots:estimate_figure"

    @property
    def title(self) -> str | None:
        """What was measured, and which direction is better."""
        return self.settings.get("title")

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        return ("task", *self.columns[:-1]) if rows and "task" in rows[0] else self.columns
