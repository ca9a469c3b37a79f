"""The interval rule: one standard error for every metric, with Student's t.

1. The variance of each algorithm's runs on each task is moderated over the algorithms of the table
   (:func:`moderated_variances`). One factor on all residuals of an algorithm makes the variances of
   its task means add up to the moderated ones.
2. The standard error is the standard deviation of the metric over bootstrap resamples of the
   residuals within tasks, times sqrt(R/(R - 1)). For a metric that is a mean of some function of
   the scores it has a closed form: for the mean this is Welch's standard error.
3. The degrees of freedom are Satterthwaite's over tasks, with R - 1 each; single runs add none. For
   a difference of two algorithms the squared errors add.
4. Where the runs share an effect over tasks (:func:`shared_effects`), the error grows by the
   factor that whole runs show, moderated over the table, if this gives the wider interval.

The error of the mean depends on this sum alone, so a factor for each task would give the same. For
other metrics it would not: moderated variances are means over algorithms, which single outlying
runs dominate. They would spread the residuals of other algorithms on that task, although the
interquartile mean trims such runs.

The median of task means has the profile of its likelihood (:mod:`gnomon.stats.medians`), and where
tasks are a sample the percentile interval is expanded (:meth:`Drawn.expanded`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

import numpy as np

from gnomon.errors import check_level, check_resamples, check_word
from gnomon.scores.columns import IntArray
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import quantiles, replicates
from gnomon.stats.distributions import chi_squared_tail, normal_quantile, student_quantile
from gnomon.stats.metrics import Metric
from gnomon.stats.rank_tests import doubled_ranks
from gnomon.stats.strata import Strata

Method = Literal["auto", "percentile"]
#: What is the sample: runs on fixed tasks, or tasks as well.
Resampling = Literal["runs", "runs_and_tasks"]
#: Whose variances: moderated over those of the table, or an algorithm's own.
Variances = Literal["moderated", "own"]

#: A difference of the ends up to this share of the scores is rounding.
ROUNDING = 1e-12
#: Weight of the prior in degrees of freedom, which Smyth (2004) estimates from many variances. Half
#: or twice as much changes coverage by half a point at most.
PRIOR_DF = 2.0
#: Level of the test for effects that runs share over tasks.
SHARED_LEVEL = 0.2
#: Scores times resamples at most, for one metric of one algorithm; and the fewest resamples.
MOST_DRAWS, LEAST_RESAMPLES = 4_000_000, 200


@dataclass(frozen=True, slots=True)
class Rule:
    """How the intervals of one call are made; level and words are checked."""

    level: float
    method: Method
    n_resamples: int
    key: np.uint64
    variances: Variances = "moderated"

    def __post_init__(self) -> None:
        check_level(self.level)
        check_resamples(self.n_resamples)
        check_word("method", self.method, get_args(Method))
        check_word("variances", self.variances, get_args(Variances))


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends, and how they were made: student, profile, percentile, expanded or none."""

    low: float
    high: float
    method: str


NO_INTERVAL = Interval(math.nan, math.nan, "none")


def checked(interval: Interval, scale: float = 0.0) -> tuple[Interval, str | None]:
    """Return an interval, NaN where it has no width, and what is wrong with it in words.

    `scale` is the size of the numbers that were subtracted, relative to which rounding is judged.
    """
    low, high = interval.low, interval.high
    if math.isnan(low) or math.isnan(high):
        return interval, "interval not estimable, some resamples have no value"
    sizes = [abs(end) for end in (low, high) if math.isfinite(end)]
    if low == high or high - low <= ROUNDING * max(*sizes, scale, 0.0):
        empty = replace(interval, low=math.nan, high=math.nan)
        return empty, "interval not estimable, the scores that decide it do not vary"
    ends = [name for name, end in (("a lower", low), ("an upper", high)) if math.isinf(end)]
    if ends:
        which = " and ".join(ends)
        return interval, f"interval without {which} end, some resamples are infinite (censored)"
    return interval, None


@dataclass(frozen=True, slots=True)
class Student:
    """An estimate or a difference with its standard error and degrees of freedom."""

    value: float
    error: float
    df: float
    #: Limits of the metric, which no end exceeds.
    bounds: tuple[float, float] = (-math.inf, math.inf)
    #: What widens the error, if anything does.
    effect: SharedEffect | None = None

    def half_width(self, level: float) -> float:
        """Return half of the width of the interval."""
        return student_quantile(level, self.df) * self.error

    def interval(self, level: float) -> Interval:
        """Return the interval at a level."""
        half, (least, most) = self.half_width(level), self.bounds
        return Interval(max(self.value - half, least), min(self.value + half, most), "student")

    def p_value(self, neutral: float = 0.0) -> float:
        """Return the two-sided p-value of a hypothesis; NaN without an error."""
        from scipy import special

        if not self.error > 0.0:
            return math.nan
        return float(2.0 * special.stdtr(self.df, -abs(self.value - neutral) / self.error))

    def minus(self, other: Student) -> Student:
        """Return the difference of two independent estimates."""
        squares = np.square([self.error, other.error])
        df, total = satterthwaite(squares, np.array([self.df, other.df])), float(squares.sum())
        if self.effect is not None and other.effect is not None and total > 0.0:
            both = 2.0 * float((squares / total).prod())
            df = 1.0 / (1.0 / df + both * self.effect.covariance(other.effect))
        return Student(self.value - other.value, math.sqrt(total), float(df))


@dataclass(frozen=True, eq=False, slots=True)
class Drawn:
    """An estimate or a difference with its values in resamples."""

    value: float
    values: FloatArray

    def interval(self, level: float) -> Interval:
        """Return the interval between quantiles."""
        low, high = quantiles(self.values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        return Interval(float(low), float(high), "percentile")

    def expanded(self, level: float, n_tasks: int, bounds: tuple[float, float]) -> Interval:
        """Return the interval where tasks, at least 2, are a sample (after Hesterberg 2015).

        The distance of the percentile ends from the estimate is multiplied by sqrt(T/(T - 1)), T
        the number of tasks, and by the ratio of Student's to the normal quantile, with T - 1
        degrees of freedom.
        """
        inner = self.interval(level)
        ratio = student_quantile(level, n_tasks - 1.0) / normal_quantile(level)
        factor = math.sqrt(n_tasks / (n_tasks - 1.0)) * ratio
        low, high = (self.value + (end - self.value) * factor for end in (inner.low, inner.high))
        return Interval(max(low, bounds[0]), min(high, bounds[1]), "expanded")

    def p_value(self, neutral: float = 0.0) -> float:
        """Return the two-sided p-value of a hypothesis, at least 2/(n + 1)."""
        beyond = min(int(np.sum(self.values <= neutral)), int(np.sum(self.values >= neutral)))
        return min(1.0, 2.0 * (beyond + 1) / (self.values.size + 1))

    def minus(self, other: Self) -> Drawn:
        """Return the difference of two estimates that were drawn apart, or in pairs."""
        with np.errstate(invalid="ignore"):
            moved = self.values - other.values  # NaN where both are infinite
        return Drawn(self.value - other.value, moved)


def moderated_variances(variances: FloatArray, dfs: FloatArray) -> FloatArray:
    """Return variances shrunk towards those of the other algorithms on the same task.

    Few runs show little about a variance; the other algorithms on the same task add information
    (Smyth 2004). With s_t the mean variance of task t over algorithms, r_a the mean over tasks
    of an algorithm's variance over s_t, and d = R - 1, the result is
    ``(2 r_a s_t + d v_at) / (2 + d)``.

    Both arrays are (algorithms, tasks); d is 0 where a variance is not known, for want of a second
    run. The own variance stays where no other algorithm's is known; NaN where none is.
    """
    known = dfs > 0.0
    own = np.where(known, variances, np.nan)
    n_known = known.sum(axis=0)
    common = np.where(known, variances, 0.0).sum(axis=0) / np.where(n_known > 0, n_known, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(known & (common > 0.0), own / common, 0.0)
        counted = (known & (common > 0.0)).sum(axis=1)
        prior = (ratios.sum(axis=1) / np.maximum(counted, 1))[:, None] * common
        shrunk = (PRIOR_DF * prior + dfs * np.where(known, variances, 0.0)) / (PRIOR_DF + dfs)
    return np.where(n_known - known < 1, own, shrunk)


@dataclass(frozen=True, slots=True)
class SharedEffect:
    """What runs share over tasks: a factor on variances, and p-values.

    A share `own` of the factor comes from the `own_df` degrees of freedom of the algorithm's runs,
    the rest from the `table_df` of all algorithms, whose p-value is `p_table`.
    """

    factor: float
    own: float
    own_df: float
    table_df: float
    p_value: float
    p_table: float

    @property
    def df(self) -> float:
        """Degrees of freedom, at most those of own runs and prior (Smyth 2004)."""
        inverse = self.covariance(self) + self.own**2 / self.own_df
        return 1.0 / max(inverse, self.own / self.own_df)

    def covariance(self, other: SharedEffect) -> float:
        """Return half the covariance of two factors by what both take from the table."""
        return (1.0 - self.own * other.own) / self.table_df


@dataclass(frozen=True, eq=False, slots=True)
class Noise:
    """The variances to use for the runs of an algorithm's tasks, and the effect that runs share."""

    variances: FloatArray
    effect: SharedEffect | None = None

    @classmethod
    def of(cls, strata: Strata) -> Noise:
        """Return an algorithm's own noise."""
        own, dfs = strata.task_variances[None], (strata.counts - 1)[None].astype(np.float64)
        effect = shared_effects({"": strata}, "own").get("")
        return cls(variances_to_use(own, dfs, "own")[0], effect)

    def df(self, counts: IntArray) -> float:
        """Return the degrees of freedom of a mean over tasks with these numbers of runs.

        Tasks with one run have the pooled variance of the others, which therefore add to the error
        with the weights that they have in it. Of single runs alone, each task counts as one.
        """
        several = counts > 1
        if not several.any():
            several = ~several
        dfs, single = np.maximum(counts - 1, 1)[several], np.count_nonzero(~several)
        used = self.variances[several]
        with np.errstate(invalid="ignore"):
            squares = used / counts[several] + used * (single * dfs / dfs.sum())
            return float(satterthwaite(squares, dfs))

    def widening(self, counts: IntArray) -> float:
        """Return the factor by which 95 % intervals are wider for the shared effect, at least 1."""
        if self.effect is None:
            return 1.0
        df = self.df(counts)
        beyond = student_quantile(0.95, min(df, self.effect.df)) / student_quantile(0.95, df)
        return max(math.sqrt(self.effect.factor) * beyond, 1.0)


def shared_effects(
    samples: Mapping[str, Strata], variances: Variances, *, one_scale: bool = False
) -> dict[str, SharedEffect]:
    """Return the effects that runs share over tasks, of the algorithms that show any.

    They are shown if the runs of the algorithm, or those of the table together, vary more than
    independent tasks would let them (chi-squared test, by standardised scores; where all tasks have
    one scale, by the factor itself, since of two runs standardised scores are signs). Few runs show
    little about the factor, so it is moderated over the table as variances are, by a prior with no
    more degrees of freedom than the runs of the others have.
    """
    known = {name: x.shared_noise for name, x in samples.items()}
    shown = {name: noise for name, noise in known.items() if noise is not None}
    statistic, df, ratio = np.array([*shown.values()]).reshape(-1, 3).T
    statistic = df * ratio if one_scale else statistic
    table_df, sum_of_ratios, found = float(df.sum()), float(df @ ratio), {}
    p_table = chi_squared_tail(statistic.sum(), int(table_df)) if shown else 1.0
    everywhere = variances == "moderated" and p_table < SHARED_LEVEL
    for name, *of in zip(shown, statistic.tolist(), df.tolist(), ratio.tolist(), strict=True):
        statistic_of, df_of, ratio_of = of
        p_value = chi_squared_tail(statistic_of, int(df_of))
        if everywhere or p_value < SHARED_LEVEL:
            prior = min(PRIOR_DF, table_df - df_of) if variances == "moderated" else 0.0
            own = df_of / (prior + df_of)
            factor = own * ratio_of + (1.0 - own) * sum_of_ratios / table_df
            found[name] = SharedEffect(factor, own, df_of, table_df, p_value, p_table)
    return found


def rank_effects(scores: ScoreTable) -> dict[str, SharedEffect]:
    """Return the effects that the ranks of runs share over tasks, by algorithm.

    Scores are ranked among all runs on their task, so no scale matters.
    """
    if scores.run_counts.max(initial=0) < 2:
        return {}
    names = [name for name in scores.algorithms if scores.tasks_of(name)]
    samples = [Strata.from_table(scores, name) for name in names]
    place = {task: t for t, task in enumerate(scores.tasks)}
    task = np.concatenate([
        np.repeat([place[t] for t in scores.tasks_of(name)], strata.counts)
        for name, strata in zip(names, samples, strict=True)
    ])  # fmt: skip
    values = np.concatenate([strata.values for strata in samples])
    ranks = np.empty_like(values)
    for t in range(len(scores.tasks)):
        here = np.flatnonzero(task == t)
        ranks[here] = doubled_ranks(values[here]) / 2.0
    parts = np.split(ranks, np.cumsum([strata.n_scores for strata in samples])[:-1])
    of_ranks = [replace(one, values=x) for one, x in zip(samples, parts, strict=True)]
    return shared_effects(dict(zip(names, of_ranks, strict=True)), "moderated", one_scale=True)


def table_noise(scores: ScoreTable, variances: Variances) -> Callable[[str, Sequence[str]], Noise]:
    """Return the function from an algorithm and tasks to the noise of its runs there."""
    names, place = scores.algorithms, {task: t for t, task in enumerate(scores.tasks)}
    own, dfs = np.zeros((2, len(names), len(scores.tasks)))
    samples = {}
    for i, name in enumerate(names):
        if tasks := scores.tasks_of(name):
            samples[name] = strata = Strata.from_table(scores, name, tasks)
            places = [place[task] for task in tasks]
            own[i, places], dfs[i, places] = strata.task_variances, strata.counts - 1
    found = dict(zip(names, variances_to_use(own, dfs, variances), strict=True))
    effects = shared_effects(samples, variances)

    def noise(name: str, tasks: Sequence[str]) -> Noise:
        effect = effects.get(name) if len(tasks) > 1 else None
        return Noise(found[name][[place[task] for task in tasks]], effect)

    return noise


def variances_to_use(own: FloatArray, dfs: FloatArray, variances: Variances) -> FloatArray:
    """Return the variances to use, (algorithms, tasks), from own ones with degrees of freedom.

    A single run takes the mean variance of the algorithm's other tasks if nothing else is known.
    """
    dfs = np.where(np.isfinite(own), dfs, 0.0)  # censored runs have no variance
    found = moderated_variances(own, dfs) if variances == "moderated" else own
    found = np.where((found == 0.0) & (dfs == 0.0), np.nan, found)
    with np.errstate(invalid="ignore"):
        squares = np.sum(np.where(dfs > 0.0, own * dfs, 0.0), axis=1)
    pooled = squares / np.maximum(dfs.sum(axis=1), 1.0)
    return np.where(np.isnan(found), pooled[:, None], found)


def satterthwaite(variances: FloatArray, dfs: FloatArray) -> FloatArray:
    """Return the degrees of freedom of a sum, along the last axis, of variance estimates."""
    total = variances.sum(axis=-1, keepdims=True)
    shares = variances / np.where(total == 0.0, 1.0, total)  # tiny ones vanish when squared
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 1.0 / np.sum(np.square(shares) / dfs, axis=-1)
    return np.asarray(np.fmax(dfs.min(), np.where(total[..., 0] == 0.0, 0.0, df)))


def standard_error(strata: Strata, metric: Metric, noise: Noise, rule: Rule) -> Student:
    """Return a metric of one algorithm with its standard error by the rule of this module.

    At least one task has two runs. The error is NaN where some resamples are infinite. No resamples
    are drawn where it has a closed form, and fewer of very many scores.
    """
    drawn, counts = _residual_sample(strata, noise.variances), strata.counts
    if metric.each is not None:
        within = drawn.variances_of(metric.each(drawn.values)) * (drawn.counts - 1)
        spread = math.sqrt(float(np.sum(within / np.square(drawn.counts)))) / drawn.n_tasks
    else:
        n = min(rule.n_resamples, max(LEAST_RESAMPLES, MOST_DRAWS // drawn.n_scores))
        values = replicates([drawn], [metric], n_resamples=n, key=rule.key)[0, 0]
        spread = float(values.std(ddof=1)) if np.isfinite(values).all() else math.nan
    error, df = spread * math.sqrt(_inflation(drawn)), noise.df(counts)
    effect = noise.effect if noise.widening(counts) > 1.0 else None
    if effect is not None:
        error, df = error * math.sqrt(effect.factor), min(df, effect.df)
    return Student(float(metric.value(strata)), error, df, metric.bounds, effect)


def _inflation(drawn: Strata) -> float:
    """Return R/(R - 1), R the harmonic mean of the numbers of runs."""
    return drawn.mean_runs / (drawn.mean_runs - 1.0)


def _residual_sample(strata: Strata, variances: FloatArray) -> Strata:
    """Return the task means plus residuals to draw resamples from.

    One factor for all tasks that vary makes the variances of their means add up to those by
    moderated variances. Runs that are all equal, and single runs, get evenly spaced residuals with
    the moderated variance of their task, since other algorithms show that they could vary. Infinite
    scores are unchanged.
    """
    drawn = strata.with_single_runs_twice()
    counts, own = drawn.counts, drawn.task_variances
    known = np.isfinite(own) & np.isfinite(variances)
    largest = np.maximum.reduceat(np.abs(drawn.values), drawn.starts[:-1])
    varied = known & (own > np.square(1e-14 * largest))
    used = variances.copy()
    if varied.any():
        moderated, raw = (float(np.sum((x / counts)[varied])) for x in (variances, own))
        used[varied] = own[varied] * (moderated / raw)
    means: FloatArray = np.repeat(drawn.task_means, counts)
    is_varied, is_known = (np.repeat(x, counts) for x in (varied, known))
    places = np.arange(drawn.n_scores) - np.repeat(drawn.starts[:-1], counts)
    even = 2.0 * places / np.repeat(counts - 1, counts) - 1.0
    spread = np.where(varied, own, counts * (counts + 1) / (3.0 * np.square(counts - 1)))
    # So that the error of a mean is sqrt(variance / n) after the inflation of all tasks.
    size = counts**2 / ((counts - 1) * strata.counts)
    with np.errstate(invalid="ignore"):
        scale = np.repeat(np.sqrt(used * size / (spread * _inflation(drawn))), counts)
        residuals = np.where(is_varied, drawn.values - means, even)
        values = np.where(is_known, means + scale * residuals, drawn.values)
    return replace(drawn, values=values)
