"""Planning: how many runs separate two algorithms.

With R runs per task, a pilot shows a difference d with a standard error s and df degrees of
freedom. A study of n runs has the error s sqrt(R/n) and df (n - 1)/(R - 1) degrees of freedom, so
the power of its two-sided t test is that of the noncentral t distribution. The observed difference
is itself uncertain: the number of runs at which it would have power 0.8 has a true power of 57 to
79 % after pilots of 3 to 10 runs. So the power is that for the lower confidence limit of d/s that
80 % of pilots respect (Taylor and Muller 1996).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import combinations, groupby
from operator import attrgetter

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, Row, made_by, recorded
from gnomon.scores.checks import check_scales
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import shared_tasks, warn_of_missing_runs
from gnomon.stats.comparison import chosen_pair, metrics_to_compare
from gnomon.stats.difference import IMPROVEMENT, minus
from gnomon.stats.estimates import spread_of
from gnomon.stats.improvement import placements, share_variance, variance_parts
from gnomon.stats.intervals import Noise, Rule, Student
from gnomon.stats.metrics import Metric, Metrics, metric_list, metric_named
from gnomon.stats.strata import Strata

#: Runs to try.
DEFAULT_RUNS = (3, 5, 10, 20, 40)
#: Share of pilots that respect the limit of the difference for which the power is.
ASSURANCE = 0.8
#: The error of a pilot is by its own variances.
RULE = Rule(0.95, "auto", 2000, np.uint64(0), "own")
#: The normal probability within one standard deviation.
ONE_DEVIATION = 0.6826894921370859
#: A power this close to the error of the test is that error.
ROUNDING = 1e-9
#: Nodes of an integral over the standard deviation: exact to 1e-7 from one degree of freedom on.
N_NODES = 160


@dataclass(frozen=True, slots=True)
class PowerPoint(FieldRecord):
    """The power of a number of runs; the fields are those of :class:`Plan`."""

    a: str
    b: str
    metric: str
    runs: int
    power: float
    low: float
    high: float
    needed: int | None = None
    needed_low: int | None = None
    needed_high: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Results[PowerPoint]):
    """The powers of numbers of runs; see :func:`plan`.

    Records have the fields `a`, `b`, `metric`, `runs` (per task and algorithm) and

    * `power`: if the true difference is the lower limit of its one-sided 80 % interval;
    * `low`, `high`: for the ends of the confidence interval of the difference;
    * `needed`, `needed_low`, `needed_high`: the smallest number of runs with the power wanted, for
      each of the three, the same for all records of a pair; if it is the smallest tried, at most
      that many. None if it is more than the largest tried.
    """

    drawn_by = "gnomon.plot.lines:plan_figure"

    @property
    def notes(self) -> tuple[str, ...]:
        """How many runs each pair needs, and for which difference."""
        power, level = self.settings.get("power", 0.8), self.settings.get("level", 0.95)
        pairs = groupby(self, attrgetter("a", "b", "metric"))
        return (
            *(
                f"{a} and {b} ({metric}): {runs_in_words([*records], power, level)}."
                for (a, b, metric), records in pairs
            ),
            "power: the probability of detecting the difference if the true one is the lower limit "
            f"of its one-sided {100 * ASSURANCE:g} % interval; "
            f"low, high: if it is an end of its {100 * level:.4g} % interval.",
        )

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        return [name for name in rows[0] if not name.startswith("needed")]


def runs_in_words(points: Sequence[PowerPoint], power: float, level: float) -> str:
    """Return how many runs separate a pair, from its powers."""
    one, least, most = points[0], points[0].runs, points[-1].runs

    def end(n: int | None) -> str:
        return f"more than {most}" if n is None else f"at most {n}" if n == least else f"{n}"

    if one.needed is None and points[-1].power <= 1.0 - level + ROUNDING:
        text = (
            f"no number of runs gives power {power:g}, since the lower limit of the difference is "
            "0: this pilot does not show which of the two is better"
        )
    elif one.needed is None:
        text = f"more than {most} runs per task are needed for power {power:g}"
    elif one.needed == least:
        text = f"at most {least} runs per task, the smallest tried, give power {power:g}"
    else:
        text = f"{one.needed} runs per task give power {power:g}"
    ends = dict.fromkeys(map(end, (one.needed_low, one.needed_high)))
    return f"{text} ({100.0 * level:.4g} % interval: {' to '.join(ends)})"


def plan(
    scores: Scores,
    a: str | None = None,
    b: str | None = None,
    metrics: Metrics | None = None,
    *,
    runs: Sequence[int] | None = None,
    power: float = 0.8,
    level: float = 0.95,
    gamma: float | None = None,
) -> Plan:
    """Estimate how many runs are needed to separate algorithms.

    Runs are assumed to vary as those at hand. The power is that of the two-sided test of
    :func:`gnomon.stats.compare` of a pair if the true difference is the lower limit of its
    one-sided 80 % interval, as the observed difference may be chance; `low` and `high` are those
    for the ends of its confidence interval. The error of the difference is by the algorithms' own
    variances. The notes name the smallest number of runs with the power wanted, between the
    smallest and the largest of `runs`.

    Parameters
    ----------
    scores : ScoreTable
        Runs at hand (a pilot), at least two per task.
    a, b : str, optional
        Two algorithms; all pairs if not given.
    metrics : str, Metric or sequence of them, optional
        ``probability_of_improvement`` if not given, as in :func:`gnomon.rank` and in reports.
    runs : sequence of int, optional
        Runs per task to try; if not given 3, 5, 10, 20, 40.
    power : float
        The power to reach, between 0 and 1.
    level : float
        Confidence level.
    gamma : float, optional
        Target of the optimality gap.

    Returns
    -------
    Plan
        Metric by metric and pair by pair, a record for each number of runs.

    Raises
    ------
    ScoreDataError
        There are too few algorithms or runs, or runs do not vary; raw scores of tasks lie on unlike
        scales; or the table holds items or votes.
    ValueError
        The level or the power is not between 0 and 1.

    References
    ----------
    Taylor and Muller (1996), Bias in linear model power and sample size calculation due to
    estimating noncentrality, Communications in Statistics 25.

    Examples
    --------
    >>> from gnomon.stats import plan
    >>> scores = ScoreTable.from_arrays({"a": [[0.0], [1.0], [2.0]], "b": [[3.0], [4.0], [5.0]]})
    >>> print(plan(scores, "a", "b", "mean", runs=[3, 5, 10, 30]).notes[0])
    a and b (mean): 7 runs per task give power 0.8 (95 % interval: at most 3 to more than 30).
    """
    scores = table_of(scores)
    for name, share in (("level", level), ("power", power)):
        if not 0.0 < share < 1.0:
            raise ValueError(f"expected a {name} between 0 and 1, found {share:g}")
    if scores.units == "items":
        raise ScoreDataError(
            "plan applies to runs on tasks, not to items or votes; compare gives the smallest "
            "difference that they detect, which is inversely proportional to the square root of "
            "their number"
        )
    pair = chosen_pair(scores, a, b)
    pairs = [pair] if pair else [*combinations(scores.algorithms, 2)]
    if len(scores.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    tried = sorted(set(runs or DEFAULT_RUNS))
    if tried[0] < 2:
        raise ScoreDataError(f"expected at least 2 runs of each task to try, found {tried[0]}")
    with recorded() as notes:
        warn_of_missing_runs(scores)
        wanted = metric_list(metrics or IMPROVEMENT)
        tasks = scores.shared_tasks(pair) if pair else None
        check_scales(scores, wanted, tasks=tasks, gamma=gamma)
        kinds = metrics_to_compare(wanted, gamma, scores.higher_is_better)
        records = tuple(_powers(scores, pairs, kinds, tried, power, level))
    settings = made_by(
        None,
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        power=power,
        level=level,
        gamma=gamma,
    )
    return Plan(records, settings, tuple(notes))


@dataclass(frozen=True)
class _Pilot:
    """What a pilot shows of a difference, with the mean number of its runs."""

    seen: Student
    runs: float
    #: Tasks, where the rank sums bound the error from below.
    n_tasks: int = 0

    def study(self, runs: int) -> Student:
        """Return the expected result of a study with this number of runs."""
        error = self.seen.error * math.sqrt(self.runs / runs)
        if self.n_tasks:
            even = share_variance(0.5, variance_parts(runs, runs) / self.n_tasks)
            error = max(error, math.sqrt(even))
        df = self.seen.df * (runs - 1.0) / max(self.runs - 1.0, 1.0)
        return replace(self.seen, error=error, df=max(df, runs - 1.0))

    def powers(self, distances: FloatArray, runs: int, level: float) -> FloatArray:
        """Return the power of a study to find each of some true differences."""
        study = self.study(runs)
        return power_of_t(distances / study.error, study.df, level)


def _powers(
    scores: ScoreTable,
    pairs: Sequence[tuple[str, str]],
    metrics: Sequence[Metric],
    runs: Sequence[int],
    wanted: float,
    level: float,
) -> Iterator[PowerPoint]:
    """Yield the powers of every pair."""
    tail = (1.0 - level) / 2.0
    for metric in metrics:
        for a, b in pairs:
            pilot = _pilot_of_pair(scores, a, b, metric)
            error, df = pilot.seen.error, pilot.seen.df
            t = abs(pilot.seen.value) / error
            limits = [noncentrality(t, df, share) for share in (ASSURANCE, 1.0 - tail, tail)]
            distances = np.maximum(limits, 0.0) * error
            tried = {n: pilot.powers(distances, n, level) for n in runs}
            needed, most, least = _needed(pilot, distances, tried, wanted, level)
            for n, (power, low, high) in tried.items():
                powers = float(power), float(low), float(high)
                yield PowerPoint(a, b, metric.name, n, *powers, needed, least, most)


def _needed(
    pilot: _Pilot,
    distances: FloatArray,
    tried: Mapping[int, FloatArray],
    wanted: float,
    level: float,
) -> Iterator[int | None]:
    """Yield the smallest number of runs with the power for each true difference.

    It lies between two of the numbers tried, whose powers are known.
    """
    known, numbers = {**tried}, [*tried]

    def power(runs: int, at: int) -> float:
        if runs not in known:
            known[runs] = pilot.powers(distances, runs, level)
        return float(known[runs][at])

    for i in range(distances.size):
        place = bisect_left(numbers, wanted, key=partial(power, at=i))
        if 0 < place < len(numbers):
            between = range(numbers[place - 1] + 1, numbers[place] + 1)
            yield between[bisect_left(between, wanted, key=partial(power, at=i))]
        else:
            yield None if place else numbers[0]


def _pilot_of_pair(scores: ScoreTable, a: str, b: str, metric: Metric) -> _Pilot:
    tasks = shared_tasks(scores, (a, b))
    x, y = both = [Strata.from_table(scores, name, tasks) for name in (a, b)]
    for name, one in zip((a, b), both, strict=True):
        if one.counts.min() < 2 or not one.is_finite:
            raise ScoreDataError(f"{name}: expected at least two finite pilot runs on every task")
    if not (x.task_variances.any() or y.task_variances.any()):
        raise ScoreDataError(f"{a} and {b}: expected pilot runs that vary; on each task all agree")
    runs = 1.0 / float(np.mean(np.concatenate([1.0 / x.counts, 1.0 / y.counts])))
    if metric.name != IMPROVEMENT:
        return _Pilot(_difference(metric, x, y), runs)
    won, lost = placements(x, y, higher_is_better=scores.higher_is_better)
    lead = float(won.task_means.mean()) - 0.5
    seen = _difference(metric_named("mean"), won, lost)
    pilot = _Pilot(replace(seen, value=lead), runs, len(tasks))
    if pilot.seen.error > 0.0:
        return pilot
    # All pairs won: the placements do not vary, and the rank sums give the error.
    df = 2.0 * (runs - 1.0) * len(tasks)
    return replace(pilot, seen=Student(lead, pilot.study(round(runs)).error, df))


def _difference(metric: Metric, x: Strata, y: Strata) -> Student:
    """Return the difference of two algorithms, whose runs are finite, with a standard error.

    That of medians is half of their interval of one deviation, with the degrees of freedom of the
    mean.
    """
    found, of_mean = (
        minus(*(spread_of(runs, one, Noise.of(runs), RULE) for runs in (x, y)))
        for one in (metric, metric_named("mean"))
    )
    assert found is not None
    assert isinstance(of_mean, Student)
    if isinstance(found, Student):
        return found
    interval = found.interval(ONE_DEVIATION)
    return Student(found.value, (interval.high - interval.low) / 2.0, of_mean.df)


def power_of_t(noncentralities: FloatArray, df: float, level: float) -> FloatArray:
    """Return the power of the two-sided t test for differences in units of their standard error."""
    from scipy import special

    deviations, weights = _deviations(df)
    centers = noncentralities[:, None]
    beyond = float(special.stdtrit(df, (1.0 + level) / 2.0)) * deviations
    chances = special.ndtr(centers - beyond) + special.ndtr(-centers - beyond)
    return np.asarray(np.clip(chances @ weights, 0.0, 1.0))


def noncentrality(t: float, df: float, share: float) -> float:
    """Return the noncentrality at which that share of Student's t values lies below `t`."""
    from scipy import optimize, special

    deviations, weights = _deviations(df)

    def excess(center: float) -> float:
        return float(weights @ special.ndtr(t * deviations - center)) - share

    reach = abs(t) * float(deviations.max()) + 10.0
    return float(optimize.brentq(excess, -reach, reach, xtol=1e-9))


@lru_cache(maxsize=64)
def _deviations(df: float) -> tuple[FloatArray, FloatArray]:
    """Return values of the standard deviation, and their probabilities."""
    from scipy import special

    u, weights = _nodes()
    # Squeezed towards the ends, where its quantiles run away.
    share = (1.0 + np.sin(np.pi * u / 2.0)) / 2.0
    weights = weights * np.pi / 4.0 * np.cos(np.pi * u / 2.0)
    return np.sqrt(2.0 * special.gammaincinv(df / 2.0, share) / df), weights


@cache
def _nodes() -> tuple[FloatArray, FloatArray]:
    """Return the nodes and weights of Gauss and Legendre, which take a fifth of a second."""
    return np.polynomial.legendre.leggauss(N_NODES)
