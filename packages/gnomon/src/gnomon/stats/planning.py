"""Planning: how many runs separate two algorithms, and how wide intervals would be.

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
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from gnomon.errors import ScoreDataError, check_word
from gnomon.results import FieldRecord, Results, Row, made_by, recorded
from gnomon.scores.plausibility import check_scales
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import FloatArray, ScoreTable, Units
from gnomon.stats.cautions import shared_tasks
from gnomon.stats.comparison import chosen_pair, metrics_to_compare
from gnomon.stats.difference import IMPROVEMENT, Spread, minus
from gnomon.stats.estimates import estimate, spread_of
from gnomon.stats.improvement import placements, share_variance, variance_parts
from gnomon.stats.intervals import Noise, Rule, Student, table_noise
from gnomon.stats.item_plans import ItemPlan, item_plan_notes, plan_items
from gnomon.stats.items import counted_as, refuse_options
from gnomon.stats.metrics import Metric, Metrics, metric_list, metric_named
from gnomon.stats.power import noncentrality, power_of_t
from gnomon.stats.samples import Strata
from gnomon.stats.sequential import SequentialResult, sequential_compare

Way = Literal["power", "widths", "sequential"]

#: Runs to try for power.
DEFAULT_RUNS = (3, 5, 10, 20, 40)
#: Share of pilots that respect the limit of the difference for which the power is.
ASSURANCE = 0.8
#: The error of a pilot is by its own variances.
RULE = Rule(0.95, "auto", 2000, np.uint64(0), "own")
#: The normal probability within one standard deviation.
ONE_DEVIATION = 0.6826894921370859
#: A power this close to the error of the test is that error.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class PowerPoint(FieldRecord):
    """The power of a number of runs to separate two algorithms.

    Parameters
    ----------
    a, b, metric : str
        What is compared.
    runs : int
        Runs per task and algorithm.
    power : float
        If the true difference is the lower limit of its one-sided 80 % interval.
    low, high : float
        For the ends of the confidence interval of the difference.
    needed : int or None
        The smallest number of runs with the power wanted, the same for all records of a pair; if it
        is the smallest tried, at most that many. None if it is more than the largest tried.
    needed_low, needed_high : int or None
        The same for the ends of the confidence interval of the difference.
    """

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
        Width of the interval, if runs vary as those of the pilot; with the pilot's number of runs
        that of :func:`gnomon.stats.estimate`.
    relative_width : float
        The same as a share of the width with the pilot's runs.
    """

    algorithm: str
    metric: str
    runs: int
    width: float
    relative_width: float


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Results[PowerPoint | IntervalWidth | SequentialResult | ItemPlan]):
    """Powers or widths for numbers of runs; see :func:`plan`."""

    drawn_by = "gnomon.plot.lines:plan_figure"

    @property
    def notes(self) -> tuple[str, ...]:
        """How many runs or items each pair needs, and for which difference."""
        power, level = self.settings.get("power", 0.8), self.settings.get("level", 0.95)
        pairs: dict[tuple[str, str, str], list[PowerPoint]] = {}
        for one in self:
            if isinstance(one, PowerPoint):
                pairs.setdefault((one.a, one.b, one.metric), []).append(one)
        found = [_needed_note(points, power, level) for points in pairs.values()]
        if found:
            found.append(
                "power: the chance to find the difference if the true one is the lower limit of "
                f"its one-sided {100 * ASSURANCE:g} % interval, since the present one may be luck; "
                f"low, high: if it is an end of its {100 * level:.4g} % interval."
            )
        found += item_plan_notes([one for one in self if isinstance(one, ItemPlan)], power)
        if self.settings.get("way") == "widths":
            found.append("width: with the present number of runs that of the estimate.")
        if self.settings.get("way") == "sequential":
            found.append(
                "p_value, level: those of the last look; all looks together keep the error "
                f"{1.0 - level:.2g}. Not corrected over metrics."
            )
        return tuple(found)

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        return [name for name in rows[0] if not name.startswith("needed")]


def _needed_note(points: Sequence[PowerPoint], power: float, level: float) -> str:
    """Return a sentence on the number of runs that separates a pair."""
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
    interval = f"{100.0 * level:.4g} % interval: {' to '.join(ends)}"
    return f"{one.a} and {one.b} ({one.metric}): {text} ({interval})."


def plan(
    scores: Scores,
    a: str | None = None,
    b: str | None = None,
    metrics: Metrics | None = None,
    *,
    way: Way = "power",
    units: Units | None = None,
    cluster: str | None = None,
    runs: Sequence[int] | None = None,
    items: Sequence[int] | None = None,
    power: float = 0.8,
    level: float = 0.95,
    gamma: float | None = None,
    rng: np.random.Generator | int | None = None,
) -> Plan:
    """Estimate how many runs are needed to separate algorithms.

    Runs are assumed to vary as those at hand. The power is that of the two-sided test of
    :func:`gnomon.stats.compare` of a pair if the true difference is the lower limit of its
    one-sided 80 % interval, since the present difference may be luck; `low` and `high` are those
    for the ends of its confidence interval. The error of the difference is by the algorithms' own
    variances. The notes name the smallest number of runs with the
    power wanted, between the smallest and the largest of `runs`. For items the power is that for
    the present difference.

    Parameters
    ----------
    scores : ScoreTable
        Runs at hand (a pilot), at least two per task.
    a, b : str, optional
        Two algorithms; all pairs if not given.
    metrics : str, Metric or sequence of them, optional
        ``iqm`` if not given, for items ``mean``.
    way : str
        ``power``: the power of each number of runs; ``widths``: how wide intervals would be;
        ``sequential``: a comparison look by look (:func:`sequential_compare`). For items ``power``
        only: more items or more epochs.
    units, cluster : str, optional
        As in :func:`gnomon.stats.compare`.
    runs : sequence of int, optional
        Runs per task to try, or to look after; if not given 3, 5, 10, 20, 40 for power, and up to
        six times the pilot's for widths. For items, epochs: 1, 2, 4, 8 and those there are.
    items : sequence of int, optional
        For items, how many to try; from half to eight times the present number if not given.
    power : float
        The power to reach, between 0 and 1.
    level : float
        Confidence level.
    gamma : float, optional
        Target of the optimality gap.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 if not given.

    Returns
    -------
    Plan
        Records of :class:`PowerPoint`, :class:`IntervalWidth`, :class:`SequentialResult` or, for
        items, :class:`~gnomon.stats.item_plans.ItemPlan`, metric by metric.

    Raises
    ------
    ScoreDataError
        There are too few algorithms, runs or looks for that way, or runs do not vary; raw scores of
        tasks lie on unlike scales; items are given for a table of tasks, or for items a way that
        they do not have.
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
    check_word("way", way, ("power", "widths", "sequential"))
    for name, share in (("level", level), ("power", power)):
        if not 0.0 < share < 1.0:
            raise ValueError(f"expected a {name} between 0 and 1, found {share:g}")
    scores = counted_as(scores, units, cluster)
    pair = chosen_pair(scores, a, b)
    if pair is not None and way == "power":
        scores = scores.select(algorithms=pair)
    of_items = scores.units == "items"
    if of_items:
        refuse_options("items", **{f"way={way}": way != "power", "gamma": gamma})
    elif items:
        refuse_options("tasks", items=items)
    wanted = metric_list(metrics or ("mean" if of_items else "iqm"))
    counts = sorted(set(runs or ()))
    if way != "sequential" and not of_items and min(counts, default=2) < 2:
        raise ValueError(f"expected at least 2 runs, found {counts[0]}")
    found: Any
    with recorded() as notes:
        if of_items:
            found = plan_items(
                scores, pair, wanted, items=items, epochs=counts, power=power, level=level
            )
        elif way == "sequential":
            found = _looks(scores, pair, wanted, counts, level, gamma, rng)
        elif way == "power":
            check_scales(scores, wanted, gamma=gamma)
            found = _powers(scores, wanted, counts or DEFAULT_RUNS, power, level, gamma)
        else:
            found = _widths(scores, pair, wanted, counts, level, gamma, rng)
        records = tuple(found)
    settings = made_by(
        rng,
        way=way,
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        power=power,
        level=level,
        gamma=gamma,
    )
    return Plan(records, settings, tuple(notes))


@dataclass(frozen=True)
class _Pilot:
    """What a pilot shows of a metric or a difference, with the mean number of its runs."""

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
    metrics: Sequence[str | Metric],
    runs: Sequence[int],
    wanted: float,
    level: float,
    gamma: float | None,
) -> Iterator[PowerPoint]:
    """Yield the powers of every pair."""
    if len(scores.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    tail = (1.0 - level) / 2.0
    for metric in metrics_to_compare(metrics, gamma, scores.higher_is_better):
        for a, b in combinations(scores.algorithms, 2):
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
    x, y = both = [_pilot_runs(scores, name, tasks) for name in (a, b)]
    if not (x.task_variances.any() or y.task_variances.any()):
        raise ScoreDataError(f"{a} and {b}: expected pilot runs that vary; on each task all agree")
    runs = 1.0 / float(np.mean(np.concatenate([1.0 / x.counts, 1.0 / y.counts])))
    if metric.name != IMPROVEMENT:
        return _Pilot(_student(metric, [(one, Noise.of(one)) for one in both], RULE), runs)
    won = placements(x, y, higher_is_better=scores.higher_is_better)
    lead = float(won[0].task_means.mean()) - 0.5
    seen = _student(metric_named("mean"), [(one, Noise.of(one)) for one in won], RULE)
    pilot = _Pilot(replace(seen, value=lead), runs, len(tasks))
    if pilot.seen.error > 0.0:
        return pilot
    # All pairs won: the placements do not vary, and the rank sums give the error.
    df = 2.0 * (runs - 1.0) * len(tasks)
    return replace(pilot, seen=Student(lead, pilot.study(round(runs)).error, df))


def _student(metric: Metric, samples: Sequence[tuple[Strata, Noise]], rule: Rule) -> Student:
    """Return a metric of one algorithm, or its difference of two, with a standard error.

    That of a median is half of its interval of one deviation, with the degrees of freedom of the
    mean.
    """

    def spread(one: Metric) -> Spread:
        first, *others = (spread_of(x, one, noise, rule) for x, noise in samples)
        found = minus(first, others[0]) if others else first
        assert found is not None  # all runs are finite
        return found

    found = spread(metric)
    if isinstance(found, Student):
        return found
    interval, of_mean = found.interval(ONE_DEVIATION), spread(metric_named("mean"))
    assert isinstance(of_mean, Student)
    return Student(found.value, (interval.high - interval.low) / 2.0, of_mean.df)


def _pilot_runs(scores: ScoreTable, name: str, tasks: Sequence[str]) -> Strata:
    """Return finite runs, at least two per task."""
    pilot = Strata.from_table(scores, name, tasks)
    if pilot.counts.min() < 2 or not pilot.is_finite:
        raise ScoreDataError(f"{name}: expected at least two finite pilot runs on every task")
    return pilot


def _widths(
    scores: ScoreTable,
    pair: tuple[str, str] | None,
    metrics: Sequence[str | Metric],
    runs: Sequence[int],
    level: float,
    gamma: float | None,
    rng: np.random.Generator | int | None,
) -> Iterator[IntervalWidth]:
    """Yield the widths that estimates have now, times the factor by which others would differ."""
    if IMPROVEMENT in metrics:
        raise ScoreDataError(f"{IMPROVEMENT}: expected a metric of one algorithm")
    names, tasks = pair or scores.algorithms, scores.shared_tasks(scores.algorithms)
    samples = {name: _pilot_runs(scores, name, tasks) for name in names}
    for name, strata in samples.items():
        if not strata.task_variances.any():
            raise ScoreDataError(f"{name}: expected pilot runs that vary; on each task all agree")
    known = estimate(scores, metrics, level=level, gamma=gamma, rng=rng)
    present = {(one.algorithm, one.metric): one.high - one.low for one in known}
    noise, rule = table_noise(scores, "moderated"), replace(RULE, variances="moderated")
    for name, strata in samples.items():
        now = int(strata.counts.min())
        for metric in metrics_to_compare(metrics, gamma, scores.higher_is_better):
            width = present[name, metric.name]
            pilot = _Pilot(_student(metric, [(strata, noise(name, tasks))], rule), strata.mean_runs)
            half = pilot.seen.half_width(level)
            for n in sorted({now, *(runs or (2 * now, 3 * now, 4 * now, 6 * now))}):
                factor = pilot.study(n).half_width(level) / half if half else math.nan
                yield IntervalWidth(name, metric.name, n, width * factor, factor)


def _looks(
    scores: ScoreTable,
    pair: tuple[str, str] | None,
    metrics: Sequence[str | Metric],
    runs: Sequence[int],
    level: float,
    gamma: float | None,
    rng: np.random.Generator | int | None,
) -> Iterator[SequentialResult]:
    if pair is None or len(runs) < 2:
        raise ScoreDataError(
            "sequential: expected two algorithms and two numbers of runs to look after, or more"
        )
    draws = np.random.default_rng(0 if rng is None else rng)
    for metric in metrics:
        yield sequential_compare(
            scores, *pair, metric, looks=runs, level=level, gamma=gamma, rng=draws
        )
