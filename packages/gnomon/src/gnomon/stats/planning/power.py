"""Power and widths of intervals for numbers of runs, by simulation from pilot runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import draw_key
from gnomon.stats.cautions import shared_tasks
from gnomon.stats.comparison import metrics_to_compare
from gnomon.stats.comparisons.improvement import Improvement, placements
from gnomon.stats.difference import IMPROVEMENT, on_tasks
from gnomon.stats.intervals import satterthwaite, standard_error
from gnomon.stats.medians import MedianProfile
from gnomon.stats.metrics import Metric, metric_named
from gnomon.stats.planning.noncentral_t import noncentrality
from gnomon.stats.samples import Strata, as_strata

#: Resamples that the standard error of a pilot is from, where it takes any.
N_RESAMPLES = 2000
#: The normal probability of lying below one standard deviation.
NORMAL_TAIL = 0.8413447460685429
#: Share of pilots after which the conservative number of runs has the power.
ASSURANCE = 0.8


@dataclass(frozen=True, slots=True)
class PowerPoint(FieldRecord):
    """How often a number of runs separates two algorithms.

    Parameters
    ----------
    a, b, metric : str
        What is compared.
    runs : int
        Runs per task and algorithm.
    power : float
        Share of simulated studies whose test finds the difference that the pilot shows.
    low, high : float
        The same at both ends of the interval of the true difference; NaN if not computed.
    assured : float
        What the power is at least after 80 % of all pilots.

    Examples
    --------
    >>> PowerPoint("dqn", "ppo", "iqm", 10, 0.8, 0.3, 1.0, 0.6).as_record()["assured"]
    0.6
    """

    a: str
    b: str
    metric: str
    runs: int
    power: float
    low: float = math.nan
    high: float = math.nan
    assured: float = math.nan


@dataclass(frozen=True, slots=True)
class IntervalWidth(FieldRecord):
    """How wide the interval of a metric is with a number of runs.

    Parameters
    ----------
    algorithm, metric : str
        Of what.
    runs : int
        Runs per task.
    width : float
        Mean width of the intervals of simulated studies.
    relative_width : float
        The same as a share of the width with the pilot's number of runs; NaN if that is 0.

    Examples
    --------
    >>> IntervalWidth("dqn", "iqm", 10, 0.3, 0.5).as_record()["relative_width"]
    0.5
    """

    algorithm: str
    metric: str
    runs: int
    width: float
    relative_width: float


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
    by sqrt(R/(R - 1)), since few runs show too little of it; each study is judged by its
    small-sample interval at the given level. The power is that for the difference seen in the
    pilot: if it is there by luck, so is the power. So each point has the power for the ends of the
    true difference's interval too, in units of its standard error and by the noncentral t, and that
    for the lower limit that 80 % of pilots respect (Taylor and Muller 1996): the number of runs
    that reaches it is the conservative choice.

    Parameters
    ----------
    table : ScoreTable
        Pilot runs, at least two per task.
    a, b : str
        The algorithms.
    metric : str or Metric
        Any, and ``probability_of_improvement``.
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

    Raises
    ------
    ScoreDataError
        The pilot has too few runs, or none of them vary.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[0.0], [1.0], [2.0]], "b": [[2.0], [3.0], [4.0]]})
    >>> points = power_curve(table, "a", "b", "mean", runs=[3, 8], rng=np.random.default_rng(0))
    >>> [(p.runs, p.power > 0.9) for p in points]
    [(3, False), (8, True)]
    """
    (one,) = metrics_to_compare([metric], gamma, table.higher_is_better)
    name = one.name
    tasks = shared_tasks(table, (a, b))
    one = on_tasks(one, len(tasks))
    pilots = [_stretched(Strata.from_table(table, name, tasks)) for name in (a, b)]
    if not any(_varies(pilot) for pilot in pilots):
        raise ScoreDataError(f"{a} and {b}: expected pilot runs that vary; on each task all agree")
    draw_key(rng), draw_key(rng)  # not used, but what is drawn after them stays
    neutral = 0.5 if one.name == IMPROVEMENT else 0.0
    plain = [Strata.from_table(table, name, tasks) for name in (a, b)]
    shifts = _shifts(plain[0], plain[1], one, level, higher=table.higher_is_better)
    points = []
    for n in runs:
        studies = _studies(pilots, n, n_simulations, rng)
        if one.name == IMPROVEMENT:
            both = zip(*(study.tables() for study in studies), strict=True)
            of_pairs = (Improvement.of(*p, higher_is_better=table.higher_is_better) for p in both)
            ends = np.array([(e.low, e.high) for e in (f.interval(level) for f in of_pairs)]).T
        else:
            ends = np.array(_study_intervals(studies, one, level))
        # Had the difference been another one, every interval would lie so much elsewhere.
        low, high = (end[:, None] + shifts for end in ends)
        found = np.mean((low > neutral) | (high < neutral), axis=0)
        points.append(PowerPoint(a, b, name, n, *map(float, found)))
    return points


def _study_intervals(
    studies: Sequence[Strata], metric: Metric, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of a metric, or of its difference, in every study of a batch.

    Where the standard error of a metric is not known without resamples, it is that of the mean,
    times the ratio of the standard deviations over studies: so it varies as those of studies do.
    """
    from scipy import special

    values, squares, dfs = [], [], []
    for study in studies:
        found = np.asarray(metric.values(study))
        of_means = study.task_variances / study.counts
        each = of_means
        if metric.each is not None:
            each = study.variances_of(metric.each(study.values)) / study.counts
        variance = each.sum(axis=-1) / study.n_tasks**2
        typical = float(variance.mean())
        if metric.each is None and typical > 0.0:
            variance = variance * float(found.var(ddof=1)) / typical
        values.append(found)
        squares.append(variance)
        dfs.append(satterthwaite(of_means, np.maximum(study.counts - 1.0, 1.0)))
    value = values[0] - values[1] if len(values) > 1 else values[0]
    total = np.sum(squares, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.square(total) / sum(v * v / d for v, d in zip(squares, dfs, strict=True))
    half = special.stdtrit(np.fmax(df, 1.0), (1.0 + level) / 2.0) * np.sqrt(total)
    return value - half, value + half


def _shifts(x: Strata, y: Strata, metric: Metric, level: float, *, higher: bool) -> FloatArray:
    """Return by how much other true differences differ from the pilot's.

    Itself; the two ends of its interval, of which the one nearer to none is none if beyond; and its
    lower limit at :data:`ASSURANCE`.
    """
    key, mean = np.uint64(0), metric_named("mean")
    if metric.name == IMPROVEMENT:
        x, y = placements(x, y, higher_is_better=higher)
        distance, metric = float(x.task_means.mean()) - 0.5, mean
    else:
        distance = metric.value(x) - metric.value(y)
    if metric.name == "median" and x.n_tasks > 2:
        profile = MedianProfile.of(x).minus(MedianProfile.of(y))
        normal = profile.interval(2.0 * NORMAL_TAIL - 1.0)
        metric, error = mean, (normal.high - normal.low) / 2.0
    else:
        error = math.nan
    of_x, of_y = (
        standard_error(one, metric, one.task_variances, n_resamples=N_RESAMPLES, key=key)
        for one in (x, y)
    )
    found = of_x.minus(of_y)
    error = found.error if math.isnan(error) else error
    if not error > 0.0 or not math.isfinite(distance):
        return np.array([0.0, np.nan, np.nan, np.nan])
    tail = (1.0 - level) / 2.0
    limits = [
        max(noncentrality(abs(distance) / error, found.df, share), 0.0) * error
        for share in (1.0 - tail, tail, ASSURANCE)
    ]
    sign = -1.0 if distance < 0.0 else 1.0
    return np.array([0.0, *(sign * (limit - abs(distance)) for limit in limits)])


def _stretched(pilot: Strata) -> Strata:
    """Return pilot runs with the spread that an unbiased variance has."""
    if pilot.counts.min() < 2 or not np.isfinite(pilot.values).all():
        raise ScoreDataError("expected at least two finite pilot runs on every task")
    means = np.repeat(pilot.task_means, pilot.counts)
    factor = np.sqrt(pilot.counts / (pilot.counts - 1.0))
    return Strata(means + (pilot.values - means) * np.repeat(factor, pilot.counts), pilot.starts)


def _varies(pilot: Strata) -> bool:
    """Return whether the runs of some task differ."""
    return bool(pilot.task_variances.any())


def _studies(
    pilots: Sequence[Strata], n_runs: int, n_studies: int, rng: np.random.Generator
) -> list[Strata]:
    """Return studies of some runs per task, drawn from each pilot with replacement: batches."""
    if n_runs < 2:
        raise ValueError(f"expected at least 2 runs, found {n_runs}")
    n_tasks = pilots[0].n_tasks
    counts = np.stack([pilot.counts for pilot in pilots])[..., None]
    # The same draws: a single bound makes three of them in the time of one.
    bound = counts if np.ptp(counts) else counts.flat[0]
    draws = rng.integers(0, bound, size=(n_studies, len(pilots), n_tasks, n_runs))
    starts = np.arange(n_tasks + 1) * n_runs
    draws += np.stack([pilot.starts[:-1, None] for pilot in pilots])
    return [
        Strata(pilot.values.take(of).reshape(n_studies, -1), starts)
        for pilot, of in zip(pilots, np.moveaxis(draws, 1, 0), strict=True)
    ]


def runs_needed(
    points: Sequence[PowerPoint],
    power: float = 0.8,
    *,
    by: Literal["power", "low", "high", "assured"] = "power",
) -> int | None:
    """Return the smallest number of runs of a power curve that has the power, or None.

    `by` names the field of the points: the power for the difference seen, or for another one.

    Examples
    --------
    >>> runs_needed([PowerPoint("a", "b", "iqm", n, p) for n, p in ((5, 0.6), (10, 0.9))])
    10
    """
    enough = [point.runs for point in points if getattr(point, by) >= power]
    return min(enough) if enough else None


def interval_widths(
    scores: Strata | npt.ArrayLike,
    metric: str | Metric = "iqm",
    *,
    runs: Sequence[int],
    level: float = 0.95,
    gamma: float | None = None,
    higher_is_better: bool = True,
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
        As in :func:`power_curve`, without ``probability_of_improvement``, which takes two.
    runs : sequence of int
        Numbers of runs to try.
    higher_is_better : bool
        Direction of the scores.

    Raises
    ------
    ScoreDataError
        The pilot's runs are too few, or agree on every task.

    Examples
    --------
    >>> pilot = [[0.1, 0.9], [0.3, 0.4], [0.2, 0.7]]
    >>> widths = interval_widths(pilot, "median", runs=[3, 12], rng=np.random.default_rng(0))
    >>> widths[12] < widths[3] / 2
    True
    """
    (one,) = metrics_to_compare([metric], gamma, higher_is_better)
    if one.name == IMPROVEMENT:
        raise ScoreDataError(f"{IMPROVEMENT}: expected a metric of one algorithm")
    pilot = _stretched(as_strata(scores))
    if not _varies(pilot):
        raise ScoreDataError("expected pilot runs that vary; on each task all agree")
    draw_key(rng)  # of no draws any more, but what is drawn after it stays
    widths = {}
    for n in runs:
        (studies,) = _studies([pilot], n, n_simulations, rng)
        low, high = _study_intervals([studies], one, level)
        widths[n] = float(np.mean(high - low))
    return widths
