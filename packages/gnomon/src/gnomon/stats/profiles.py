"""Performance profiles: which share of runs, or of tasks, gets past each threshold.

A profile shows the whole distribution at once (Agarwal et al. 2021): one that lies above another
everywhere is better by any summary. Where lower scores are better, "above" reads "below". Profiles
of distance (:mod:`gnomon.stats.distance`) show the share of tasks within tau of the best algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, check_resamples, check_word, listed, note
from gnomon.printing import percent
from gnomon.results import Results, Row, SeriesRecord, finite_or_none, generator, made_by, recorded
from gnomon.scores.checks import refuse_unlike_scales
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.scores.tidy import LARGEST
from gnomon.stats.bootstrap import Resamples, draw_key, quantiles
from gnomon.stats.cautions import shared_tasks, warn_of_missing_runs
from gnomon.stats.distance import DistanceKind, distances
from gnomon.stats.medians import locally_moderated_variances
from gnomon.stats.proportions import wilson
from gnomon.stats.strata import Strata, as_strata

ScoreKind = Literal["run_score", "average_score"]
ProfileKind = ScoreKind | DistanceKind

#: Thresholds span the range that holds this share of the scores; on a linear axis its middle half
#: takes at least this share of the range.
HELD, READABLE = 0.99, 0.1
#: How many thresholds there are, if none is given.
N_THRESHOLDS = 81
#: Up to this number of runs beyond a threshold the band's end is that of the exact binomial.
FEW_RUNS_BEYOND = 5
#: How many runs the expectation of what another run would do counts for.
PRIOR_RUNS = 2.0
#: Shares that differ by less are equal.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Profile(SeriesRecord):
    """One algorithm's profile with its band; see :class:`Profiles`."""

    algorithm: str
    kind: str
    tau: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    spacing: str = "linear"

    key = ("algorithm", "kind")
    series = ("tau", "value", "low", "high")

    def reached(self, share: float) -> float:
        """Return the threshold that this share gets to; NaN if there is none."""
        found = np.flatnonzero(self.value >= share)
        rises = not self.kind.endswith("_score")
        return float(self.tau[found[0 if rises else -1]]) if found.size else math.nan

    def area(self) -> float:
        """Return the area under the profile over its thresholds, by the trapezoidal rule."""
        return float(np.trapezoid(self.value, self.tau))


@dataclass(frozen=True, eq=False, repr=False)
class Profiles(Results[Profile]):
    """The profile of every algorithm; see :func:`profile`.

    A record has the fields `algorithm`, `kind`, `level`, arrays of shape (thresholds,): `tau`,
    ascending, `value`, the share at each threshold, and its pointwise band `low, high`, NaN where
    there is none, and `spacing` of the thresholds, ``linear`` or ``log`` (symmetric about zero,
    where some are not positive). Printed are the area under each profile and the thresholds that
    75, 50 and 25 % get to, or the shares at thresholds that were given.
    """

    drawn_by = "gnomon.plot.lines:profile_figure"

    @property
    def title(self) -> str | None:
        """What the columns are."""
        return None if self.settings.get("tau") else "area, and thresholds of shares"

    @property
    def notes(self) -> tuple[str, ...]:
        """How the thresholds were chosen, if they depend on the scores."""
        if self.settings.get("tau") or not self[0].kind.endswith("_score"):
            return ()
        held = f"over the range of {percent(HELD)} of the scores"
        return (f"Read off at {N_THRESHOLDS} thresholds {held}.",)

    def rows(self) -> Sequence[Row]:
        """Return numbers read off each profile, or its shares at the thresholds that were given."""
        if self.settings.get("tau"):
            return self.as_records()
        return [
            {"algorithm": one.algorithm, "kind": one.kind, "area": one.area()}
            | {f"{s:.0%}": finite_or_none(one.reached(s)) for s in (0.75, 0.5, 0.25)}
            for one in self
        ]


def profile(
    scores: Scores,
    kind: ProfileKind = "run_score",
    tau: npt.ArrayLike | None = None,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: np.random.Generator | int | None = None,
) -> Profiles:
    """Return the share of runs, or of tasks, beyond each threshold, for every algorithm.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run; or, for ratios and likelihoods, means, standard deviations and
        numbers of runs. Only tasks that all algorithms have count.
    kind : str
        ``run_score``: share of runs above each threshold; ``average_score``: share of tasks by
        their mean; ``ratio``: share of tasks on which the mean is within a factor of the best one
        (Dolan and Moré 2002); ``likelihood``: share of tasks on which minus the decimal logarithm
        of the one-sided p-value of Welch's test against the best algorithm is below a threshold
        (Recht).
    tau : array_like of float, optional
        Thresholds. By default they are evenly spaced over the range of 99 % of the scores, on a
        logarithmic scale if the middle half of the scores would crowd in a tenth of the axis.
    level : float
        Confidence level of the band at each threshold. Bands of run scores are Wilson's (Notes);
        those of average scores are a bootstrap's; profiles of distance have none.
    n_resamples : int
        Number of resamples, for bands of average scores.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 if not given.

    Returns
    -------
    Profiles
        In the table's order. The band is NaN with one run per task.

    Raises
    ------
    ScoreDataError
        No score is finite; raw scores of tasks on unlike scales; ratios or tests that the scores
        do not allow; or profiles of scores are requested for means and deviations.

    Warns
    -----
    DegenerateScoresWarning
        There is no band.

    Notes
    -----
    The share V of runs above a threshold is a mean over tasks of binomial shares. Its interval is
    Wilson's (1927) for as many runs as would give a plain share the same variance, the effective
    number of runs (as Korn and Graubard 1998 for surveys). A few runs that all lie on one side of
    the threshold show no variance; a further run would:

    1. The spread S of a task is moderated by the tasks nearest in mean, with R + 1 degrees of
       freedom. F is then the probability that one more run is above, by Student's t around the
       task's mean with the scale ``S sqrt(1 + 1/R)``.
    2. It counts for two runs: ``q = (R p + 2 F)/(R + 2)``, p being the share of the task's runs
       above.
    3. ``v = sum q (1 - q)/B/T**2 + 1/N**2`` with ``B = R (1 - R/(R + 2)**2)``: the variance of the
       mean over T tasks, if F is the truth, and that one of all N runs may always have gone the
       other way.
    4. The effective number of runs is ``Q (1 - Q)/v``, at least 1, with Q the mean of q, no nearer
       to 0 or 1 than 1/N.
    5. Where at most 5 of all runs lie beyond the threshold, the end on their side is no nearer to
       them than Clopper and Pearson's (1934) for N runs: Wilson's would be, since rare events are
       skewed (Brown, Cai and DasGupta 2001), and a whole curve passes many such thresholds.

    At 2 and 3 runs the bands cover 97 to 98 % for 95. A task whose rare event, of less than one in
    N runs, has not happened yet is not covered.

    Examples
    --------
    >>> from gnomon.stats import profile
    >>> scores = ScoreTable.from_arrays({"dqn": [[1.0, 2.0], [3.0, 4.0]]})
    >>> profile(scores, tau=[1.5, 2.5])[0].value
    array([0.75, 0.5 ])
    """
    check_word("kind", kind, (*get_args(ScoreKind), *get_args(DistanceKind)))
    scores = table_of(scores, summaries=kind in get_args(DistanceKind))
    check_resamples(n_resamples)
    at = None if tau is None else np.sort(np.ravel(np.asarray(tau, dtype=np.float64)))
    if at is not None and not np.all(np.abs(at) <= LARGEST):
        wrong = at[~(np.abs(at) <= LARGEST)][0]
        raise ScoreDataError(f"expected thresholds up to {LARGEST:g}, found {wrong:g}")
    if at is not None and not at.size:
        raise ScoreDataError("expected a threshold tau or more, found none")
    with recorded() as notes:
        warn_of_missing_runs(scores)
        if kind == "ratio" or kind == "likelihood":
            found = _of_distances(scores.algorithms, distances(scores, kind), kind, at)
        else:
            refuse_unlike_scales(scores, [f"profile of {kind}"], tasks=shared_tasks(scores))
            found = _of_scores(scores, at, _Asked(kind, level, n_resamples), generator(rng))
    settings = made_by(
        rng,
        kind=kind,
        tau=None if at is None else at.tolist(),
        level=level,
        n_resamples=n_resamples,
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
    )
    flat = {one.algorithm: int(np.sum(one.low == one.high)) for one in found}
    if any(flat.values()):
        named = ", ".join(f"{n} of {name}" for name, n in flat.items() if n)
        notes.append(
            f"the band has no width where all resamples agree ({named}, of "
            f"{found[0].tau.size} thresholds); this is not certainty"
        )
    return Profiles(tuple(found), settings, tuple(notes))


def _of_distances(
    names: Sequence[str], away: FloatArray, kind: DistanceKind, tau: FloatArray | None
) -> list[Profile]:
    """Return the shares of tasks with a ratio of at most, or a likelihood distance below, tau."""
    if tau is None:
        tau = np.linspace(0.0, 5.0, 101)
        if kind == "ratio":
            tau = np.unique(away[np.isfinite(away)])
    side: Literal["left", "right"] = "right" if kind == "ratio" else "left"
    none = np.full(tau.size, np.nan)
    return [
        Profile(
            name, kind, tau, np.searchsorted(np.sort(row), tau, side) / row.size,
            none, none, math.nan,
        )
        for name, row in zip(names, away, strict=True)
    ]  # fmt: skip


@dataclass(frozen=True)
class _Asked:
    """What all profiles of scores of one call share."""

    kind: ScoreKind
    level: float
    n_resamples: int

    def share(self, strata: Strata, tau: FloatArray) -> FloatArray:
        """Return the profile of an algorithm."""
        share = run_score_profile if self.kind == "run_score" else average_score_profile
        return share(strata, tau)

    def band(
        self, strata: Strata, tau: FloatArray, value: FloatArray, key: np.uint64
    ) -> tuple[FloatArray, FloatArray]:
        """Return the band of a profile: Wilson's of runs, resampled of task means."""
        if strata.counts.max() == 1:
            return np.full(tau.size, np.nan), np.full(tau.size, np.nan)
        if self.kind == "run_score":
            return _wilson_band(strata, tau, self.level)
        means = np.concatenate([*Resamples(strata, self.n_resamples, key).task_means()])
        drawn = np.asarray(np.mean([task[:, None] > tau for task in means.T], axis=0))
        ends = quantiles(drawn, [(1.0 - self.level) / 2.0, (1.0 + self.level) / 2.0])
        # The same share, summed in another order, may differ in the last digit.
        low, high = (np.where(np.abs(end - value) < ROUNDING, value, end) for end in ends)
        return low, high


def _of_scores(
    table: ScoreTable, tau: FloatArray | None, asked: _Asked, rng: np.random.Generator
) -> list[Profile]:
    """Return the profile of every algorithm of a table, on the tasks that all have."""
    tasks = shared_tasks(table)
    strata = {name: Strata.from_table(table, name, tasks) for name in table.algorithms}
    spacing = "linear"
    if tau is None:
        tau, spacing = _thresholds(list(strata.values()))
    # Where lower scores are better, negative ones are above negative thresholds.
    sign = 1.0 if table.higher_is_better else -1.0
    profiles, faults = [], dict[str, list[str]]()
    for name, own in strata.items():
        scores = Strata(sign * own.values, own.starts)
        value = asked.share(scores, sign * tau)
        low, high = asked.band(scores, sign * tau, value, draw_key(rng))
        if not (low < high).any():
            single = scores.counts.max() == 1
            reason = (
                " from one run per task" if single else ": at every threshold all resamples agree"
            )
            faults.setdefault(reason, []).append(name)
            low = high = np.full(tau.size, np.nan)
        of = name, asked.kind, tau, value, low, high, asked.level
        profiles.append(Profile(*of, spacing))
    for reason, names in faults.items():
        note(f"{asked.kind} profile of {listed(names)}: band not estimable{reason}")
    return profiles


def _thresholds(strata: Sequence[Strata]) -> tuple[FloatArray, str]:
    """Return thresholds over the range of 99 % of all scores, and how they lie.

    One game with scores fifty times those of the others would otherwise leave no room for them.
    """
    values = np.concatenate([one.values for one in strata])
    values = values[np.isfinite(values)]
    if not values.size:
        raise ScoreDataError("thresholds: expected at least one finite score, found none")
    side = (1.0 - HELD) / 2.0
    low = float(np.quantile(values, side, method="lower"))
    high = float(np.quantile(values, 1.0 - side, method="higher"))
    if low == high:
        air = 0.1 * abs(low) or 1.0
        return np.linspace(low - air, high + air, N_THRESHOLDS), "linear"
    first, third = np.quantile(values, [0.25, 0.75])
    if 0.0 < third - first < READABLE * (high - low):
        return _log_thresholds(values, low, high), "log"
    start = min(low, 0.0) if low <= 2.0 * (high - low) else low
    return np.linspace(start, high, N_THRESHOLDS), "linear"


def _log_thresholds(values: FloatArray, low: float, high: float) -> FloatArray:
    """Return evenly spaced logarithms, or inverse hyperbolic sines where values are not positive.

    The sine is linear up to the lower quartile of the absolute values, and logarithmic far from it.
    """
    if low > 0.0:
        return np.geomspace(low, high, N_THRESHOLDS)
    width = float(np.quantile(np.abs(values[values != 0.0]), 0.25))
    width = max(width, 1e-6 * max(abs(low), abs(high)))
    first, last = np.arcsinh([low / width, high / width])
    inner = width * np.sinh(np.linspace(first, last, N_THRESHOLDS)[1:-1])
    return np.concatenate([[low], inner, [high]])


def run_score_profile(scores: Strata | npt.ArrayLike, tau: FloatArray) -> FloatArray:
    """Return the share of runs above each threshold, averaged over tasks."""
    return np.asarray(_task_shares(as_strata(scores), tau).mean(axis=0))


def average_score_profile(scores: Strata | npt.ArrayLike, tau: FloatArray) -> FloatArray:
    """Return the share of tasks whose mean score is above each threshold."""
    return _shares_above(as_strata(scores).task_means, tau)


def _task_shares(strata: Strata, tau: FloatArray) -> FloatArray:
    """Return the share of each task's runs above each threshold, (tasks, thresholds)."""
    return np.stack([_shares_above(x, tau) for x in strata.per_task()])


def _shares_above(values: FloatArray, tau: FloatArray) -> FloatArray:
    """Return the share of values strictly above each threshold."""
    return 1.0 - np.searchsorted(np.sort(values), tau, "right") / values.size


def _wilson_band(strata: Strata, tau: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the band of a profile of runs, as the notes of :func:`profile` derive it."""
    shares, runs, n = _task_shares(strata, tau), strata.counts[:, None], strata.values.size
    smoothed = runs * shares + PRIOR_RUNS * _next_run(strata, tau, shares)
    smoothed /= runs + PRIOR_RUNS
    unbiased = runs * (1.0 - runs / np.square(runs + PRIOR_RUNS))
    of_tasks = (smoothed * (1.0 - smoothed) / unbiased).sum(axis=0)
    variance = of_tasks / strata.n_tasks**2 + 1.0 / n**2
    expected = np.clip(smoothed.mean(axis=0), 1.0 / n, 1.0 - 1.0 / n)
    effective = np.maximum(expected * (1.0 - expected) / variance, 1.0)
    value = shares.mean(axis=0)
    low, high = wilson(value * effective, effective, level=level)
    low = np.minimum(low, _exact_low(value, n, level))
    return low, np.maximum(high, 1.0 - _exact_low(1.0 - value, n, level))


def _next_run(strata: Strata, tau: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the probability that one more run of each task is above, (tasks, thresholds)."""
    from scipy import special

    if not np.isfinite(strata.values).all():
        return shares  # infinite (censored) runs are as likely again as they were
    variances, dfs = locally_moderated_variances(strata)
    scales = np.sqrt(variances * (1.0 + 1.0 / strata.counts))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = special.stdtr(dfs[:, None], (strata.task_means[:, None] - tau) / scales)
    return np.where(scales > 0.0, chances, shares)


def _exact_low(value: FloatArray, n_runs: int, level: float) -> FloatArray:
    """Return Clopper and Pearson's lower end where few runs are above, elsewhere the value."""
    from scipy import special

    above = value * n_runs
    few = (above > ROUNDING) & (above <= FEW_RUNS_BEYOND + ROUNDING * n_runs)
    found, tail = value.copy(), (1.0 - level) / 2.0
    found[few] = special.betaincinv(above[few], n_runs - above[few] + 1.0, tail)
    return found
