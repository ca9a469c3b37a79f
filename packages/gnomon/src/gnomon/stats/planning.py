"""Planning: how many runs separate two algorithms, and how many items two models.

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

from gnomon.errors import ScoreDataError, counted, note
from gnomon.results import FieldRecord, Results, Row, made_by, recorded
from gnomon.scores.checks import check_scales
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import FloatArray, ScoreTable, Units
from gnomon.stats.cautions import shared_tasks, warn_of_missing_runs
from gnomon.stats.comparison import chosen_pair, metrics_to_compare
from gnomon.stats.difference import IMPROVEMENT, minus
from gnomon.stats.distributions import student_quantile
from gnomon.stats.estimates import spread_of
from gnomon.stats.improvement import placements, share_variance, variance_parts
from gnomon.stats.intervals import Noise, Rule, Student
from gnomon.stats.items import Items, counted_as, item_metrics, refuse_options, votes_of
from gnomon.stats.metrics import Metric, Metrics, metric_list, metric_named
from gnomon.stats.strata import Strata

#: Runs to try.
DEFAULT_RUNS = (3, 5, 10, 20, 40)
#: Numbers of items to try, as multiples of the present one, and epochs of each.
FACTORS, EPOCHS = (0.5, 1.0, 2.0, 4.0, 8.0), (1, 2, 4, 8)
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


@dataclass(frozen=True, slots=True)
class ItemPlan(FieldRecord):
    """The power of a number of items and epochs; the fields are those of :class:`Plan`."""

    a: str
    b: str
    metric: str
    items: int
    runs: int
    standard_error: float
    detectable: float
    power: float
    from_epochs: float


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Results[PowerPoint | ItemPlan]):
    """The powers of numbers of runs, or of items; see :func:`plan`.

    Records have the fields `a`, `b`, `metric`, `runs` (per task and algorithm) and

    * `power`: if the true difference is the lower limit of its one-sided 80 % interval;
    * `low`, `high`: for the ends of the confidence interval of the difference;
    * `needed`, `needed_low`, `needed_high`: the smallest number of runs with the power wanted, for
      each of the three, the same for all records of a pair; if it is the smallest tried, at most
      that many. None if it is more than the largest tried.

    Those of items have `items`, and as `runs` the epochs of each item, for both models, and

    * `standard_error`: of the paired difference; with the present items and epochs that of its
      interval;
    * `detectable`: the smallest difference found with the power wanted;
    * `power`: if the true difference equals the observed one;
    * `from_epochs`: the share of the variance that epochs add, which more of them would remove.
    """

    drawn_by = "gnomon.plot.lines:plan_figure"

    @property
    def notes(self) -> tuple[str, ...]:
        """How many runs or items each pair needs, and for which difference."""
        power, level = self.settings.get("power", 0.8), self.settings.get("level", 0.95)
        found = []
        for _, records in groupby(self, attrgetter("a", "b", "metric")):
            own = [*records]
            points = [one for one in own if isinstance(one, PowerPoint)]
            items = [one for one in own if isinstance(one, ItemPlan)]
            found.append(_runs_note(points, power, level) if points else _items_note(items, power))
        if any(isinstance(one, PowerPoint) for one in self):
            found.append(
                "power: the probability of detecting the difference if the true one is the lower "
                f"limit of its one-sided {100 * ASSURANCE:g} % interval; "
                f"low, high: if it is an end of its {100 * level:.4g} % interval."
            )
        elif found:
            found.append("power: if the true difference equals the observed one.")
        return tuple(found)

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        return [name for name in rows[0] if not name.startswith("needed")]


def _runs_note(points: Sequence[PowerPoint], power: float, level: float) -> str:
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


def _items_note(plans: Sequence[ItemPlan], power: float) -> str:
    """Return a sentence on the number of items that separates a pair, and the effect of epochs."""
    one, tried = plans[0], [plan.runs for plan in plans]
    least, most = min(tried), max(tried)

    def needed(epochs: int) -> str:
        tried = {plan.items: plan.power for plan in plans if plan.runs == epochs}
        few = [n for n, reached in tried.items() if reached < power]
        if len(few) == len(tried):
            return f"more than {few[-1]:,}"
        enough = next(n for n, reached in tried.items() if reached >= power)
        return f"between {few[-1]:,} and {enough:,}" if few else f"at most {enough:,}"

    text = f"{one.a}, {one.b} ({one.metric}): {needed(least)} items of {counted(least, 'epoch')}"
    text += f" (or {needed(most)} of {most})" if most > least else ""
    text += f" give power {power:g}"
    share = next(plan.from_epochs for plan in plans if plan.runs == least)
    if math.isfinite(share):
        shorter = 100.0 * (1.0 - math.sqrt(1.0 - share))
        text += f"; more epochs shorten the standard error by at most {shorter:.0f} %, "
        text += "twice as many items by 29 %"
    return f"{text}."


def plan(
    scores: Scores,
    a: str | None = None,
    b: str | None = None,
    metrics: Metrics | None = None,
    *,
    units: Units | None = None,
    cluster: str | None = None,
    runs: Sequence[int] | None = None,
    items: Sequence[int] | None = None,
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
    smallest and the largest of `runs`. For items the power is that for the present difference.

    Parameters
    ----------
    scores : ScoreTable
        Runs at hand (a pilot), at least two per task.
    a, b : str, optional
        Two algorithms; all pairs if not given.
    metrics : str, Metric or sequence of them, optional
        ``probability_of_improvement`` if not given, by which :func:`gnomon.rank` separates
        algorithms and a report plans; for items ``mean``.
    units, cluster : str, optional
        As in :func:`gnomon.stats.compare`.
    runs : sequence of int, optional
        Runs per task to try; if not given 3, 5, 10, 20, 40. For items, epochs: 1, 2, 4, 8 and those
        there are.
    items : sequence of int, optional
        For items, how many to try; from half to eight times the present number if not given.
    power : float
        The power to reach, between 0 and 1.
    level : float
        Confidence level.
    gamma : float, optional
        Target of the optimality gap.

    Returns
    -------
    Plan
        Metric by metric and pair by pair, a record for each number of runs, or of items and epochs.

    Raises
    ------
    ScoreDataError
        There are too few algorithms or runs, or runs do not vary; raw scores of tasks lie on unlike
        scales; items are given for a table of tasks.
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
    scores = counted_as(scores, units, cluster)
    pair = chosen_pair(scores, a, b)
    pairs = [pair] if pair else [*combinations(scores.algorithms, 2)]
    if len(scores.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    counts = sorted(set(runs or ()))
    with recorded() as notes:
        if scores.units == "items":
            refuse_options("items", gamma=gamma)
            if votes_of(scores) is not None:
                raise ScoreDataError(
                    "plan applies to tasks and items, not to votes; compare gives the smallest "
                    "lead that the votes detect"
                )
            plans = _item_plans(scores, pairs, item_metrics(metrics), items, counts, power, level)
            records: tuple[PowerPoint | ItemPlan, ...] = (*plans,)
        else:
            refuse_options("tasks", items=items or None)
            if min(counts, default=2) < 2:
                raise ScoreDataError(
                    f"expected at least 2 runs of each task to try, found {counts[0]}"
                )
            warn_of_missing_runs(scores)
            wanted = metric_list(metrics or IMPROVEMENT)
            tasks = scores.shared_tasks(pair) if pair else None
            check_scales(scores, wanted, tasks=tasks, gamma=gamma)
            kinds = metrics_to_compare(wanted, gamma, scores.higher_is_better)
            records = (*_powers(scores, pairs, kinds, counts or DEFAULT_RUNS, power, level),)
    settings = made_by(
        None,
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        power=power,
        level=level,
        gamma=gamma,
    )
    return Plan(records, settings, tuple(notes))


# Runs


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


# Items and epochs


def _item_plans(
    scores: ScoreTable,
    pairs: Sequence[tuple[str, str]],
    metrics: Sequence[str],
    items: Sequence[int] | None,
    epochs: Sequence[int],
    power: float,
    level: float,
) -> Iterator[ItemPlan]:
    """Yield plans of each pair for every number of items and of epochs."""
    if other := [metric for metric in metrics if metric != "mean"]:
        raise ScoreDataError(f"{other[0]}: expected the metric mean to plan items and epochs")
    values = Items(scores)
    values.warn_of_missing([*dict.fromkeys(name for pair in pairs for name in pair)])
    for a, b in pairs:
        yield from _item_plans_of(values, a, b, items, epochs, power, level)


def _item_plans_of(
    values: Items,
    a: str,
    b: str,
    items: Sequence[int] | None,
    epochs: Sequence[int],
    power: float,
    level: float,
) -> Iterator[ItemPlan]:
    found = values.differences([(a, b)])
    n = int(found.n[0])
    if math.isnan(found.variance[0]):
        where = " in two clusters or more" if found.clustered[0] else ""
        raise ScoreDataError(
            f"{a} and {b}: expected two shared items or more{where}, found {counted(n, 'item')}"
        )
    if found.constant[0]:
        raise ScoreDataError(f"{a} and {b}: expected differences of items that vary; all agree")
    parts = values.components((a, b))
    one_epoch = math.isnan(parts.epochs)
    if one_epoch:
        note(
            f"{a} and {b}: no item has two epochs of both models, so the effect of more epochs is "
            "unknown; run some items twice"
        )
    # The components show how the error changes, and the comparison what it is.
    now, present = sum(parts.parts()), float(found.error[0])
    detectable = float(found.detectable(level, power)[0])
    steps_now = sum(student_quantile(p, float(found.df[0])) for p in (level, 2.0 * power - 1.0))
    tried = [1] if one_epoch else sorted({*(epochs or (*EPOCHS, round(parts.n_epochs)))})
    for n_items in sorted({*(items or (max(round(f * n), 2) for f in FACTORS))}):
        more = n_items / n
        # Clusters grow in number with items, and degrees of freedom with clusters.
        df = max(float(found.df[0]) * more, 1.0)
        steps = sum(student_quantile(p, df) for p in (level, 2.0 * power - 1.0))
        for each in tried:
            variances = parts.parts(more, float(each))
            total = sum(variances)
            factor = math.sqrt(total / now if now else 1.0 / more)
            error = present * factor
            smallest = detectable * (factor * steps / steps_now)
            found_with = power_of_t(found.value / error, df, level)[0]
            yield ItemPlan(
                a=a,
                b=b,
                metric=values.metric,
                items=n_items,
                runs=each,
                standard_error=error,
                detectable=min(smallest, 1.0) if found.bounded[0] else smallest,
                power=float(found_with),
                from_epochs=math.nan if one_epoch or not total else variances[2] / total,
            )
