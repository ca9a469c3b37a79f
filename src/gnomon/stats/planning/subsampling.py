"""Subsampling: metrics of fewer runs, drawn from those at hand again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.results import finite_or_none
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap.quantiles import quantiles
from gnomon.stats.cautions import warn
from gnomon.stats.estimates import shared_tasks
from gnomon.stats.intervals import ROUNDING
from gnomon.stats.metrics import Metric, metrics_for
from gnomon.stats.strata import Strata, as_strata


def subsampled(
    scores: Strata | npt.ArrayLike,
    metric: str | Metric = "median",
    *,
    n_runs: int,
    n_draws: int = 1000,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> FloatArray:
    """Return what a metric would have been with fewer runs, again and again.

    Each draw takes `n_runs` of every task's runs without replacement. The spread and the shift
    against the metric of all runs show what reports from few runs are worth (Agarwal et al. 2021,
    figure 2).

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
    metric : str or Metric
    n_runs : int
        At most the smallest number of runs of a task.
    n_draws : int
        Number of draws.
    gamma : float, optional
        Target of the optimality gap.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray of float, shape (n_draws,)

    Examples
    --------
    >>> x = np.arange(20.0).reshape(10, 2)
    >>> subsampled(x, "mean", n_runs=10, n_draws=2, rng=np.random.default_rng(0))
    array([9.5, 9.5])
    """
    strata = as_strata(scores)
    if not 1 <= n_runs <= strata.counts.min():
        raise ValueError(f"expected 1 to {strata.counts.min()} runs, found {n_runs}")
    (one,) = metrics_for([metric], gamma=gamma, higher_is_better=True)
    starts = np.arange(strata.n_tasks + 1) * n_runs
    parts = strata.per_task()
    values = [
        one.value(Strata(np.concatenate([rng.permutation(x)[:n_runs] for x in parts]), starts))
        for _ in range(n_draws)
    ]
    return np.array(values)


@dataclass(frozen=True, eq=False)
class Subsamples:
    """What a metric of one algorithm would have been with fewer runs.

    Parameters
    ----------
    algorithm, metric : str
        What is shown.
    runs : int
        Runs per task in each draw.
    value : float
        The metric of all runs.
    draws : ndarray of float, shape (n_draws,)
        From :func:`subsampled`.

    Examples
    --------
    >>> Subsamples("dqn", "iqm", 3, 0.5, np.array([0.4, 0.6])).as_record()["mean"]
    0.5
    """

    algorithm: str
    metric: str
    runs: int
    value: float
    draws: FloatArray

    def as_record(self) -> dict[str, Any]:
        """Return mean, median and the middle 95 % of the draws beside the value of all runs."""
        low, middle, high = quantiles(self.draws, [0.025, 0.5, 0.975])
        numbers = {
            "value": self.value,
            "mean": float(self.draws.mean()),
            "median": float(middle),
            "low": float(low),
            "high": float(high),
        }
        key = {"algorithm": self.algorithm, "metric": self.metric, "runs": self.runs}
        return key | {name: finite_or_none(number) for name, number in numbers.items()}


def subsample_table(
    table: ScoreTable,
    metric: str | Metric = "median",
    *,
    runs: Sequence[int] | None = None,
    n_draws: int = 1000,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> list[Subsamples]:
    """Return what a metric of every algorithm would have been with some smaller numbers of runs.

    Parameters
    ----------
    table : ScoreTable
        One score for each run.
    metric, n_draws, gamma, rng
        As in :func:`subsampled`.
    runs : sequence of int, optional
        Numbers of runs; if not given 2, 3, 5, 10, ... below the least number of runs of a task.

    Returns
    -------
    list of Subsamples
        For each algorithm the numbers of runs in order; those that it has not enough runs for are
        left out.

    Raises
    ------
    ScoreDataError
        No algorithm has more runs than the least number asked for.

    Warns
    -----
    DegenerateScoresWarning
        Draws do not differ, or some are infinite (censored runs).

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": np.arange(20.0).reshape(10, 2)})
    >>> found = subsample_table(table, "mean", n_draws=100, rng=np.random.default_rng(0))
    >>> [(one.runs, one.value) for one in found]
    [(2, 9.5), (3, 9.5), (5, 9.5)]
    """
    (one,) = metrics_for([metric], gamma=gamma, higher_is_better=table.higher_is_better)
    tasks = shared_tasks(table)
    found = []
    for name in table.algorithms:
        strata = Strata.from_table(table, name, tasks)
        least = int(strata.counts.min())
        for n in (2, 3, 5, 10, 20, 50) if runs is None else runs:
            if 1 <= n < least or (runs is not None and n == least):
                draws = subsampled(strata, one, n_runs=n, n_draws=n_draws, rng=rng)
                if n < strata.counts.max():
                    _name_odd_draws(f"{one.name} of {name}, draws of {n} runs", draws)
                found.append(Subsamples(name, one.name, n, one.value(strata), draws))
    if not found:
        raise ScoreDataError(
            "subsampling: expected an algorithm with more than 2 runs on every task, or as many as "
            "asked for; found none"
        )
    return found


def _name_odd_draws(what: str, draws: FloatArray) -> None:
    """Say that draws are all the same, or that some have no finite value."""
    n_infinite = int(np.sum(~np.isfinite(draws)))
    if n_infinite:
        warn(f"{what}: {n_infinite} of {draws.size} not estimable, some runs are infinite")
    elif np.ptp(draws) <= ROUNDING * np.abs(draws).max():
        warn(f"{what}: they do not differ, and say nothing of chance")
