"""How many runs are needed, by simulation from pilot runs, and how to stop early honestly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparison import Comparison, compare
from gnomon.stats.estimate import finite_or_none, shared_tasks
from gnomon.stats.metrics import Metric, metrics_for
from gnomon.stats.small_sample import Influences, delta_error
from gnomon.stats.strata import Strata, as_strata

__all__ = [
    "PowerPoint",
    "SequentialResult",
    "Subsamples",
    "interval_widths",
    "power_curve",
    "runs_needed",
    "sequential_compare",
    "sequential_levels",
    "subsample_table",
    "subsampled",
]


@dataclass(frozen=True, slots=True)
class PowerPoint:
    """How often a number of runs separates two algorithms.

    Parameters
    ----------
    a, b, metric : str
        What is compared.
    runs : int
        Runs per task and algorithm.
    power : float
        Share of simulated studies whose test finds the difference.
    """

    a: str
    b: str
    metric: str
    runs: int
    power: float

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON."""
        return asdict(self)


def power_curve(
    table: ScoreTable,
    a: str,
    b: str,
    metric: str | Metric = "iqm",
    *,
    runs: Sequence[int] = (3, 5, 10, 20, 40),
    level: float = 0.95,
    n_simulations: int = 400,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> list[PowerPoint]:
    """Return the power to separate two algorithms for some numbers of runs.

    Studies of that size are drawn from the pilot runs of each task, whose spread is first stretched
    by sqrt(R/(R - 1)), since few runs show too little of it; each study is tested by delta-t at the
    given level. The power is that for the difference seen in the pilot: if it is there by luck, so
    is the power.

    Parameters
    ----------
    table : ScoreTable
        Pilot runs, at least two per task.
    a, b : str
        The algorithms.
    metric : str or Metric
        One with a closed-form error (not the median).
    runs : sequence of int
        Numbers of runs to try, from 2 on.
    level : float
        1 minus the error of the two-sided test.
    n_simulations : int
        Studies per number of runs; the power's standard error is at most 0.5 / sqrt of it.
    gamma : float, optional
        Target of the optimality gap.
    rng : numpy.random.Generator
        Source of the studies.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[0.0], [1.0], [2.0]], "b": [[2.0], [3.0], [4.0]]})
    >>> points = power_curve(table, "a", "b", "mean", runs=[3, 8], rng=np.random.default_rng(0))
    >>> [(p.runs, p.power > 0.9) for p in points]
    [(3, False), (8, True)]
    """
    one = _smooth(metric, gamma, table.higher_is_better)
    tasks = shared_tasks(table, (a, b))
    pilots = [_stretched(Strata.from_table(table, name, tasks)) for name in (a, b)]
    points = []
    for n in runs:
        found = sum(
            _p_value([_study(pilot, n, rng) for pilot in pilots], one) <= 1.0 - level
            for _ in range(n_simulations)
        )
        points.append(PowerPoint(a, b, one.name, n, found / n_simulations))
    return points


def _smooth(metric: str | Metric, gamma: float | None, higher_is_better: bool) -> Metric:
    """Return a metric that has influences."""
    (one,) = metrics_for([metric], gamma=gamma, higher_is_better=higher_is_better)
    if one.influence is None:
        raise ScoreDataError(
            f"{one.name}: planning needs a metric with a standard error in closed form, such as "
            "iqm or mean"
        )
    return one


def _stretched(pilot: Strata) -> Strata:
    """Return pilot runs with the spread that an unbiased variance has."""
    if pilot.counts.min() < 2 or not np.isfinite(pilot.values).all():
        raise ScoreDataError("expected at least two finite pilot runs on every task")
    means = np.repeat(pilot.task_means, pilot.counts)
    factor = np.sqrt(pilot.counts / (pilot.counts - 1.0))
    return Strata(means + (pilot.values - means) * np.repeat(factor, pilot.counts), pilot.starts)


def _study(pilot: Strata, n_runs: int, rng: np.random.Generator) -> Strata:
    """Return a study of some runs per task, drawn from the pilot with replacement."""
    if n_runs < 2:
        raise ValueError(f"expected at least 2 runs, found {n_runs}")
    draws = rng.integers(0, pilot.counts[:, None], size=(pilot.n_tasks, n_runs))
    values = pilot.values[pilot.starts[:-1, None] + draws]
    return Strata(values.ravel(), np.arange(pilot.n_tasks + 1) * n_runs)


def _influences(study: Strata, metric: Metric) -> Influences:
    """Return the influences of a study's scores, which are finite."""
    found = metric.influences(study)
    assert found is not None, "planning takes metrics with a formula, and finite scores"
    return found


def _p_value(studies: Sequence[Strata], metric: Metric) -> float:
    """Return the delta-t p-value of the difference between two studies; 1 if none varies."""
    error = delta_error(*[_influences(study, metric) for study in studies])
    difference = metric.value(studies[0]) - metric.value(studies[1])
    if error.variance == 0.0:
        return 0.0 if difference else 1.0
    return error.p_value(difference)


def runs_needed(points: Sequence[PowerPoint], power: float = 0.8) -> int | None:
    """Return the smallest number of runs of a power curve that has the power, or None.

    Examples
    --------
    >>> runs_needed([PowerPoint("a", "b", "iqm", n, p) for n, p in ((5, 0.6), (10, 0.9))])
    10
    """
    enough = [point.runs for point in points if point.power >= power]
    return min(enough) if enough else None


def interval_widths(
    scores: Strata | npt.ArrayLike,
    metric: str | Metric = "iqm",
    *,
    runs: Sequence[int],
    level: float = 0.95,
    gamma: float | None = None,
    n_simulations: int = 200,
    rng: np.random.Generator,
) -> dict[int, float]:
    """Return the mean width of the interval for some numbers of runs, simulated from a pilot.

    The number at which it is half of the pilot's own is what halving the interval costs: about four
    times the runs, and less from two or three on, where Student's quantile falls steeply.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
        Pilot runs.
    metric, gamma, n_simulations, level, rng
        As in :func:`power_curve`.
    runs : sequence of int
        Numbers of runs to try.
    """
    one = _smooth(metric, gamma, higher_is_better=True)
    pilot = _stretched(as_strata(scores))
    widths = {}
    for n in runs:
        studies = [_study(pilot, n, rng) for _ in range(n_simulations)]
        halves = [delta_error(_influences(s, one)).half_width(level) for s in studies]
        widths[n] = 2.0 * float(np.mean(halves))
    return widths


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
    """

    algorithm: str
    metric: str
    runs: int
    value: float
    draws: FloatArray

    def as_record(self) -> dict[str, Any]:
        """Return mean, median and the middle 95 % of the draws beside the value of all runs."""
        low, middle, high = np.quantile(self.draws, [0.025, 0.5, 0.975])
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
                found.append(Subsamples(name, one.name, n, one.value(strata), draws))
    if not found:
        raise ScoreDataError(
            "subsampling: expected an algorithm with more than 2 runs on every task, or as many as "
            "asked for; found none"
        )
    return found


def sequential_levels(looks: Sequence[int], *, level: float = 0.95) -> FloatArray:
    """Return the level at which to test at each look, so that all looks together keep `level`.

    The error is spent as by O'Brien and Fleming (Lan and DeMets 1983), little at first; each look
    is tested at its own share, so that by Bonferroni's inequality the sum holds for any test, at
    the price of some power.

    Parameters
    ----------
    looks : sequence of int
        Numbers of runs at which data are looked at, ascending; the last is the end.
    level : float
        1 minus the error of the whole.

    Examples
    --------
    >>> (1 - sequential_levels([5, 10, 20])).round(4)
    array([0.0001, 0.0055, 0.0444])
    """
    from scipy import special

    shares = np.asarray(looks, dtype=np.float64) / looks[-1]
    if np.any(np.diff(shares) <= 0.0):
        raise ValueError(f"expected ascending numbers of runs, found {list(looks)}")
    z = special.ndtri(1.0 - (1.0 - level) / 2.0)
    spent = 2.0 * special.ndtr(-z / np.sqrt(shares))
    return np.asarray(1.0 - np.diff(spent, prepend=0.0))


@dataclass(frozen=True, slots=True)
class SequentialResult:
    """The outcome of a comparison that may stop early.

    Parameters
    ----------
    decided : bool
        Whether some look found a difference.
    runs : int
        Runs per task at the last look that was made.
    comparison : Comparison
        The comparison at that look, at that look's level.
    """

    decided: bool
    runs: int
    comparison: Comparison


def sequential_compare(
    table: ScoreTable,
    a: str,
    b: str,
    metric: str | Metric = "iqm",
    *,
    looks: Sequence[int],
    level: float = 0.95,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> SequentialResult:
    """Compare two algorithms look by look and stop when decided, the error controlled.

    Parameters
    ----------
    table : ScoreTable
        Runs in the order in which they were made; those not made yet may be missing.
    a, b, metric, gamma, rng
        As in :func:`~gnomon.stats.comparison.compare`.
    looks : sequence of int
        Planned numbers of runs per task, fixed beforehand; see :func:`sequential_levels`.
    level : float
        1 minus the probability of finding any difference where there is none.

    Raises
    ------
    ScoreDataError
        There are fewer runs than the first look needs.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(10, 3))
    >>> table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + 5})
    >>> result = sequential_compare(
    ...     table, "a", "b", "mean", looks=[3, 5, 10], rng=np.random.default_rng(1)
    ... )
    >>> result.decided, result.runs
    (True, 3)
    """
    tasks = shared_tasks(table, (a, b))
    made = min(table.runs(name, task).size for name in (a, b) for task in tasks)
    result = None
    for n, own in zip(looks, sequential_levels(looks, level=level), strict=True):
        if n > made:
            break
        arrays = {
            name: np.stack([table.runs(name, task)[:n] for task in tasks], axis=1)
            for name in (a, b)
        }
        part = ScoreTable.from_arrays(arrays, tasks=tasks, higher_is_better=table.higher_is_better)
        (found,) = compare(
            part, a, b, [metric], level=float(own), gamma=gamma, method="small_sample", rng=rng
        )
        decided = found.p_value <= 1.0 - float(own)
        result = SequentialResult(decided, n, found)
        if decided:
            return result
    if result is None:
        raise ScoreDataError(f"expected {looks[0]} runs per task at the first look, found {made}")
    return result
