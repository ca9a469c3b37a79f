"""Critical differences: mean ranks over tasks, and which of them tests do not tell apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, counted
from gnomon.ranking.ranks import By, Field, ground_of, tier_text, tiers
from gnomon.ranking.ratings import task_ranks, wins_and_pairs
from gnomon.results import FieldRecord, Results, Row, made_by, noted, recorded
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.rank_tests import holm
from gnomon.tables import p_value

PostHoc = Literal["wilcoxon-holm", "nemenyi"]
Differences = Literal["wins", "scores"]

#: Below so many differences other than 0, Wilcoxon's p-value is exact.
EXACT_DIFFERENCES = 26
#: Numbers beyond ten to this, or its inverse, cannot be rounded to nine digits.
MOST_DIGITS = 290


@dataclass(frozen=True)
class MeanRank(FieldRecord):
    """Mean rank of one algorithm over the common tasks, and the test behind its groups.

    Parameters
    ----------
    name, test : str
    mean_rank : float
    groups : tuple of int
        Numbers, from 1, of the groups of which it is a member.
    n_tasks : int
        Common tasks, on which all this rests.
    friedman_p : float
        Of Friedman's test that all are alike.
    critical_difference : float
        Nemenyi's critical difference of mean ranks; NaN for the other test.
    differences : str
        What was compared on each task, for the ranks as for the tests: ``wins`` or ``scores``, as
        in :func:`critical_difference`.

    Examples
    --------
    >>> import gnomon as gn
    >>> draws = np.random.default_rng(0)
    >>> scores = {a: draws.normal(m, 1, (1, 12)) for a, m in {"a": 0, "b": 0, "c": 4}.items()}
    >>> found = critical_difference(gn.ScoreTable.from_arrays(scores))[0]
    >>> found.name, found.mean_rank, found.n_tasks
    ('c', 1.0, 12)
    """

    name: str
    test: str
    mean_rank: float
    groups: tuple[int, ...]
    n_tasks: int
    friedman_p: float
    critical_difference: float
    differences: Differences


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CriticalDifference(Results[MeanRank]):
    """Mean ranks over common tasks, with groups that a test does not separate.

    A sequence of :class:`MeanRank`, best first.

    Parameters
    ----------
    groups : tuple of tuples of str
        The longest stretches of the order in which no pair is separated, of two or more.
    p_values : ndarray of float, shape (n, n)
        Of each pair, adjusted; NaN on the diagonal and where not estimable.

    Examples
    --------
    >>> import gnomon as gn
    >>> draws = np.random.default_rng(0)
    >>> scores = {a: draws.normal(m, 1, (1, 12)) for a, m in {"a": 0, "b": 0, "c": 4}.items()}
    >>> found = critical_difference(gn.ScoreTable.from_arrays(scores), test="nemenyi")
    >>> found[0].name, found.groups, round(found[0].critical_difference, 2)
    ('c', (('a', 'b'),), 0.96)
    """

    groups: tuple[tuple[str, ...], ...]
    p_values: FloatArray

    drawn_by: ClassVar[str | None] = "gnomon.plot.tiers:critical_difference_figure"

    @property
    def names(self) -> tuple[str, ...]:
        """Names, best first."""
        return tuple(one.name for one in self)

    @property
    def mean_ranks(self) -> FloatArray:
        """Mean ranks, shape (n,)."""
        return np.array([one.mean_rank for one in self])

    @property
    def by(self) -> By:
        """What was compared; what they share is the other one of algorithms and tasks."""
        by: By = self.settings["by"]
        return by

    @property
    def over(self) -> str:
        """What the mean is taken over, in words."""
        return f"{self[0].n_tasks} {ground_of(self.by)}s"

    @property
    def compared(self) -> str:
        """What they were compared by, in words, as they follow ``by``."""
        each, every = ("on each", "on all") if self.by == "algorithm" else ("for each", "for all")
        ground = ground_of(self.by)
        if self[0].differences == "wins":
            return f"P({'better' if self.by == 'algorithm' else 'harder'}) {each} {ground}"
        if self[0].test == "nemenyi":
            return f"mean scores {each} {ground}"
        return f"differences of scores, whose size must mean the same {every} {ground}s"

    @property
    def title(self) -> str:
        """The test, and over how many tasks."""
        return f"{self[0].test}, {self.over}, {self.settings['level']:.0%}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was compared, and the test that all are alike."""
        n_pairs = counted(len(self) * (len(self) - 1) // 2, "pair")
        by = "one distance for" if self[0].test == "nemenyi" else "Holm's correction over"
        notes = (
            f"Compared by {self.compared}; {by} {n_pairs}. The {ground_of(self.by)}s are the "
            "sample; rank takes the runs as the sample and may separate other pairs.",
            f"Friedman's test that all are alike: p {p_value(self[0].friedman_p, '= ')}",
        )
        if self[0].test != "nemenyi":
            return notes
        text = f"critical difference {self[0].critical_difference:.3g}"
        return (*notes, f"{text}: it depends on who else is in the table")

    def rows(self) -> list[Row]:
        """Return mean ranks, and groups by letters."""
        return [
            {
                self.by: one.name,
                "mean rank": one.mean_rank,
                "not separated": tier_text(one.groups) or "-",
            }
            for one in self
        ]


def critical_difference(
    scores: ScoreTable,
    *,
    by: By = "algorithm",
    test: PostHoc = "wilcoxon-holm",
    differences: Differences | None = None,
    level: float = 0.95,
) -> CriticalDifference:
    r"""Compare mean ranks over the tasks that all algorithms share.

    Pairs are separated by Wilcoxon's signed-rank test over tasks with Holm's correction (Benavoli,
    Corani and Mangili 2016), which does not depend on who else is in the pool; or, on request, by
    Nemenyi's critical difference :math:`q \sqrt{k (k + 1) / 6 N}` (Demsar 2006), which does.
    Wilcoxon's p-values are exact or not as :func:`wilcoxon_p_value` says; those of Friedman's and
    Nemenyi's tests are from the distributions that hold for many tasks.

    Parameters
    ----------
    scores : ScoreTable
    by : str
        ``algorithm``, or ``task`` for mean ranks of difficulty over the algorithms.
    test : str
        ``wilcoxon-holm`` or ``nemenyi``. Nemenyi's and Friedman's tests take the ranks that are
        returned.
    differences : str, optional
        What algorithms are compared by on a task. ``scores``: they are ranked by their mean score
        (the median where runs are infinite), and Wilcoxon's test takes the difference of two mean
        scores, whose size must mean the same on all tasks. ``wins``: they are ranked as by
        :func:`gnomon.ranking.ratings.pooled.mean_rank`, and Wilcoxon's test takes P(i better than
        j) - 1/2, for which tasks need no common scale. With one run each, both rank alike. By
        default wins where anyone has several runs on a shared task, else scores.
    level : float

    Returns
    -------
    CriticalDifference
        A sequence of :class:`MeanRank`, best first.

    Raises
    ------
    ScoreDataError
        Fewer than two tasks are shared by all.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = {name: rng.normal(mean, 1, (5, 12)) for name, mean in
    ...           {"a": 0, "b": 0, "c": 3}.items()}
    >>> found = critical_difference(ScoreTable.from_arrays(scores))
    >>> found.names[0], float(found.mean_ranks[0]), found.groups
    ('c', 1.0, (('b', 'a'),))
    """
    from scipy import stats

    with recorded() as warned:
        field = Field.of(scores, by)
    if test == "wilcoxon-holm" and (differences or _default(field)) == "scores":
        # Sizes of differences count: tasks without a scale stay out.
        with noted():
            field = Field.of(scores, by, scaled=True)
    shared = _shared(field)
    if shared.size < 2:
        raise ScoreDataError(
            f"expected at least two {ground_of(field.by)}s that all share for a critical "
            f"difference, found {shared.size}"
        )
    differences = differences or _default(field)
    if differences == "wins":
        ranks = task_ranks(field.samples)[shared]
    else:
        means = _plain(np.array([[_middle(x) for x in field.samples[g]] for g in shared]))
        ranks = stats.rankdata(-means, axis=1)
    mean_ranks = ranks.mean(axis=0)
    order = np.argsort(mean_ranks, kind="stable")
    difference = math.nan
    if test == "nemenyi":
        p_values, difference = _nemenyi(mean_ranks, len(ranks), level)
    else:
        p_values = _wilcoxon_holm(
            _margins(field, shared) if differences == "wins" else _leads(means)
        )
    separated = p_values <= 1.0 - level
    names = tuple(field.names[i] for i in order)
    groups = tiers(names, separated[np.ix_(order, order)])
    groups = tuple(group for group in groups if len(group) > 1)
    about = len(ranks), _friedman(ranks), difference, differences
    records = tuple(
        MeanRank(name, test, mean_rank, _numbers(groups, name), *about)
        for name, mean_rank in zip(names, mean_ranks[order].tolist(), strict=True)
    )
    settings = made_by(None, by=field.by, test=test, differences=differences, level=level)
    return CriticalDifference(
        records, settings, tuple(warned), groups=groups, p_values=p_values[np.ix_(order, order)]
    )


def _numbers(groups: tuple[tuple[str, ...], ...], name: str) -> tuple[int, ...]:
    return tuple(number for number, group in enumerate(groups, 1) if name in group)


def _shared(field: Field) -> npt.NDArray[np.intp]:
    """Return the places of the tasks on which all have scores."""
    return np.flatnonzero((field.sizes > 0).all(axis=1))


def _default(field: Field) -> Differences:
    """Return what to compare on each task: wins, where anyone has several runs there."""
    return "wins" if int(field.sizes[_shared(field)].max(initial=0)) > 1 else "scores"


def _nemenyi(mean_ranks: FloatArray, n_tasks: int, level: float) -> tuple[FloatArray, float]:
    """Return the p-values of all pairs, NaN on the diagonal, and the critical difference."""
    from scipy import stats

    k = len(mean_ranks)
    # Nemenyi's q is the studentized range over the root of 2.
    unit = math.sqrt(k * (k + 1) / (6.0 * n_tasks) / 2.0)
    gap = np.abs(mean_ranks[:, None] - mean_ranks)
    p_values = np.asarray(stats.studentized_range.sf(gap / unit, k, np.inf))
    np.fill_diagonal(p_values, np.nan)
    return p_values, float(stats.studentized_range.ppf(level, k, np.inf)) * unit


def _margins(field: Field, shared: npt.NDArray[np.intp]) -> FloatArray:
    """Return P(i better than j) - 1/2 of all pairs on each task, (tasks, n, n)."""
    # One division of whole numbers rounds equal fractions alike, and i's lead as j's lag: what ties
    # stays tied. 0.7 - 0.5 is less than 0.5 - 0.3.
    wins, pairs = wins_and_pairs([field.samples[g] for g in shared])
    return np.asarray((wins - np.swapaxes(wins, 1, 2)) / (2.0 * np.maximum(pairs, 1.0)))


def _leads(means: FloatArray) -> FloatArray:
    """Return the differences of all pairs on each task, (tasks, n, n)."""
    with np.errstate(invalid="ignore"):  # never learned minus never learned: no difference
        lead = means[:, :, None] - means[:, None, :]
    return _plain(np.nan_to_num(lead, posinf=np.inf, neginf=-np.inf), means)


def _plain(numbers: FloatArray, scores: FloatArray | None = None) -> FloatArray:
    """Return numbers to the nine digits of each task's largest score, what ties by these tied.

    In binary 0.53 - 0.51 is more than 0.22 - 0.20.
    """
    plain = np.empty_like(numbers)
    for g, of_task in enumerate(numbers if scores is None else scores):
        size = float(np.abs(of_task[np.isfinite(of_task)]).max(initial=0.0))
        digits = 9 - math.ceil(math.log10(size)) if size > 0.0 else 0
        plain[g] = np.round(numbers[g], digits) if abs(digits) < MOST_DIGITS else numbers[g]
    return plain


def _wilcoxon_holm(each: FloatArray) -> FloatArray:
    """Return the p-values of all pairs, corrected; NaN on the diagonal."""
    k = each.shape[1]
    pairs = list(combinations(range(k), 2))
    p_values = np.full((k, k), np.nan)
    adjusted = holm([wilcoxon_p_value(each[:, i, j]) for i, j in pairs])
    for (i, j), p in zip(pairs, adjusted, strict=True):
        p_values[i, j] = p_values[j, i] = p
    return p_values


def _middle(x: FloatArray) -> float:
    """Return the mean, or the median of runs some of which are infinite."""
    return float(np.mean(x)) if np.isfinite(x).all() else float(np.median(x))


def _friedman(ranks: FloatArray) -> float:
    """Return the p-value of Friedman's test, corrected for ties (chi-squared approximation)."""
    from scipy import stats

    n_tasks, k = ranks.shape
    spread = float(((ranks - (k + 1) / 2.0) ** 2).sum())
    if spread == 0.0:
        return 1.0
    between = float(((ranks.sum(axis=0) - n_tasks * (k + 1) / 2.0) ** 2).sum())
    return float(stats.chi2.sf((k - 1) * between / spread, k - 1))


def wilcoxon_p_value(differences: npt.ArrayLike) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test.

    Zeros are ranked and then dropped (Pratt 1959), as a task on which two are equal speaks for
    their being equal. With fewer than 26 differences other than 0 the p-value is exact, whatever
    ties and zeros there are: the share of all ways to give the differences signs in which the sum
    of signed ranks is as far from 0. From 26 on it is that of the normal distribution with the
    variance corrected for ties, without correction for continuity.

    Parameters
    ----------
    differences : array_like of float, shape (n,)
        Infinite ones are larger than all others, and tied with one another.

    Returns
    -------
    float
        1 if all differences are 0 or there is none; NaN if one is NaN.

    Examples
    --------
    >>> wilcoxon_p_value([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    0.03125
    >>> wilcoxon_p_value([0.5, 0.5, 0.5, 0.5])
    0.125
    """
    from scipy import stats

    d = np.asarray(differences, dtype=np.float64)
    if np.isnan(d).any():
        return math.nan
    moved = d != 0.0
    if not moved.any():
        return 1.0
    ranks = stats.rankdata(np.abs(d))
    if np.count_nonzero(moved) < EXACT_DIFFERENCES:
        doubled = np.rint(2.0 * ranks[moved]).astype(np.int64)
        return _signed_rank_p_value(doubled, d[moved] > 0.0)
    # Ranks in place of sizes keep infinite differences comparable.
    return float(stats.wilcoxon(np.sign(d) * ranks, zero_method="pratt", method="approx").pvalue)


def _signed_rank_p_value(
    doubled_ranks: npt.NDArray[np.int64], positive: npt.NDArray[np.bool_]
) -> float:
    """Return the share of all signs by which the sum of ranks is as far from its mean."""
    total = int(doubled_ranks.sum())
    # ways[s]: choices of the ranks so far, to be the positive ones, of which the sum is s
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in doubled_ranks:
        ways[rank:] += ways[:-rank].copy()
    far = np.abs(2 * np.arange(total + 1) - total)
    seen = abs(2 * int(doubled_ranks[positive].sum()) - total)
    return float(ways[far >= seen].sum() / 2.0**doubled_ranks.size)
