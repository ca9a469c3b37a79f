"""Mann-Whitney tests of every pair, pooled over common tasks, exact where runs are few."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from gnomon.errors import counted
from gnomon.ranking.contest import By, Contest, contest_of, ground_of
from gnomon.ranking.tournament import (
    Tournament,
    Weights,
    ground_edges,
    ground_weights,
    require_meetings,
)
from gnomon.results import FieldRecord, Results, made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.rank_tests import doubled_ranks, holm, rank_sum_distribution

#: Up to so many pairs of runs, over all common grounds, the p-value is exact, unless
EXACT_PAIRS = 400
#: there are more equal steps than this between the least and the greatest value of the statistic
#: (with up to 6 runs each and equal weights there are at most 3,600 for each ground, with ties
#: twice as many), or
MOST_STEPS = 100_000
#: weights are in no ratios of whole numbers up to this one.
LARGEST_RATIO = 1_000


@dataclass(frozen=True)
class PairComparison(FieldRecord):
    """One contestant against another: P(better), ease ratio and Mann-Whitney test.

    Parameters
    ----------
    a, b : str
    ground : str or None
        Where; None for all common grounds together.
    probability : float
        P(a better than b), a tie counting one half.
    ease_ratio : float
        Smoothed pairs of runs won over lost; its weighted geometric mean over grounds.
    n_grounds : int
        Common grounds; if there is none, the numbers are NaN.
    p_value : float
        That none is better; one-sided: that a is not better.
    p_adjusted : float
        After Holm's correction over the comparisons made together.
    exact : bool
        Whether the p-value is from the exact distribution rather than the normal one.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[3.0], [4.0]], "b": [[1.0], [2.0]]})
    >>> round(compare_pairs(table)[0].ease_ratio, 3)
    5.0
    """

    a: str
    b: str
    ground: str | None
    probability: float
    ease_ratio: float
    n_grounds: int
    p_value: float
    p_adjusted: float
    exact: bool

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON; ``ground`` only where there is one."""
        fields = super().as_record()
        return {name: fields[name] for name in fields if name != "ground" or self.ground}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PairComparisons(Results[PairComparison]):
    """Tests of every pair: pairs in the order of the names, grounds inside them.

    Parameters
    ----------
    tournament : Tournament
        The same comparisons as a graph, of all common grounds.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[3.0], [4.0]], "b": [[1.0], [2.0]]})
    >>> compare_pairs(table).to_frame()["probability"].to_list()
    [1.0]
    """

    tournament: Tournament

    drawn_by: ClassVar[str | None] = "gnomon.plot.heat_maps:draw_pairs"
    columns: ClassVar[tuple[str, ...]] = (
        "a", "b", "probability", "ease_ratio", "n_grounds", "p_value", "p_adjusted",
    )  # fmt: skip

    @property
    def title(self) -> str:
        """The test, and what corrects it for their number."""
        over = counted(len({(one.a, one.b) for one in self}), "pair")
        grounds = {one.ground for one in self} - {None}
        if grounds:
            over = f"all {len(self)} tests of {over} on {counted(len(grounds), self._ground)}"
        return f"{self.settings['alternative']} Mann-Whitney tests, Holm's correction over {over}"

    @property
    def _ground(self) -> str:
        return ground_of(self.settings["by"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What the probability claims."""
        harder = self.settings["by"] == "task"
        better = "is harder than" if harder else "beats"
        return (
            f"probability: how often a run of a {better} one of b on the same {self._ground}; by "
            "how much does not count.",
        )


def compare_pairs(
    scores: ScoreTable | Contest,
    *,
    by: By = "algorithm",
    alternative: Literal["two-sided", "greater"] = "two-sided",
    per_ground: bool = False,
    smoothing: float = 1.0,
    weights: Weights = "equal",
) -> PairComparisons:
    """Test every pair of contestants by Mann and Whitney's U, pooled over their common grounds.

    The statistic is the weighted mean of P(a better than b) over grounds, and the p-value the share
    of all ways to deal the runs of each ground out anew, ties as they are, in which it is as great,
    or two-sided as far from 1/2. It is exact (by convolution of the distributions of U on each
    ground) if all of this holds:

    * there are at most 400 pairs of runs in all;
    * each weight is to the greatest as two whole numbers up to 1,000, as equal weights are, and as
      those by precision on several grounds hardly ever are;
    * all values of the statistic lie on a grid of at most 100,000 steps. With equal weights the
      step of the sum of P is one over the least common multiple of the grounds' numbers of pairs of
      runs, and with ties half of that: 1/100 for 5 runs against 5 here and against 4 there. 11
      pairs, 13, 17, 19 and 23 on five grounds are too many steps.

    Else it is from the normal distribution with the variance corrected for ties (van Elteren 1960)
    and a correction for continuity. :attr:`PairComparison.exact` tells which.

    Parameters
    ----------
    scores : ScoreTable or Contest
    by : str
        ``algorithm``, or ``task`` to compare tasks by difficulty.
    alternative : str
        ``greater``: a better than b, both ways round; or ``two-sided``, each pair once.
    per_ground : bool
        Whether to test on each ground by itself instead; Holm's correction is then over all.
    smoothing, weights
        As in :meth:`gnomon.ranking.Tournament.of`. Smoothing does not change a p-value,
        but for the weights by precision, which tests take as given; weights say nothing about one
        ground.

    Returns
    -------
    PairComparisons
        A sequence of :class:`PairComparison`; of those that share no ground, the numbers are NaN.

    Raises
    ------
    ScoreDataError
        No two have scores on a common ground.

    Examples
    --------
    >>> samples = ((np.array([5.0, 6.0, 7.0]), np.array([1.0, 2.0, 3.0])),)
    >>> (test,) = compare_pairs(Contest(("a", "b"), ("clockwise",), samples))
    >>> test.probability, round(test.p_value, 3), test.exact
    (1.0, 0.1, True)
    """
    with recorded() as warned:
        contest = contest_of(scores, by)
    require_meetings(Tournament.of(contest))
    tournament = Tournament.of(contest, smoothing=smoothing, weights=weights)
    numbers = range(len(contest.names))
    pairs = combinations(numbers, 2) if alternative == "two-sided" else permutations(numbers, 2)
    odds, variance = ground_edges(contest, smoothing, math.inf)
    weight = ground_weights(contest, weights, variance)
    found = []
    for i, j in pairs:
        there = contest.met if per_ground else weight > 0.0
        common = np.flatnonzero(there[:, i, j]).tolist()
        for part in [[g] for g in common] if per_ground else [common]:
            name = contest.grounds[part[0]] if per_ground else None
            w = np.ones(1) if per_ground else weight[part, i, j]
            p, exact = _tested(contest, i, j, part, w, alternative)
            chance = float(w @ contest.probability[part, i, j] / w.sum()) if part else math.nan
            ratio = math.exp(w @ odds[part, i, j] / w.sum()) if part else math.nan
            found.append(
                (contest.names[i], contest.names[j], name, chance, ratio, len(part), p, exact)
            )
    adjusted = holm([row[-2] for row in found])
    records = [
        PairComparison(*row[:-1], float(p), row[-1]) for row, p in zip(found, adjusted, strict=True)
    ]
    settings = made_by(None, by=contest.by, alternative=alternative, weights=weights)
    return PairComparisons(tuple(records), settings, tuple(warned), tournament=tournament)


def _tested(
    contest: Contest, i: int, j: int, grounds: Sequence[int], w: FloatArray, alternative: str
) -> tuple[float, bool]:
    """Return the p-value, and whether it is exact."""
    if not grounds:
        return math.nan, False
    samples = [(contest.samples[g][i], contest.samples[g][j]) for g in grounds]
    n_pairs = sum(x.size * y.size for x, y in samples)
    if n_pairs <= EXACT_PAIRS:
        scales = _whole_scales(w, [x.size * y.size for x, y in samples])
        p = None if scales is None else _exact(samples, scales, alternative)
        if p is not None:
            return p, True
    middle = variance = 0.0
    for (x, y), weight, g in zip(samples, w, grounds, strict=True):
        middle += weight * (contest.probability[g, i, j] - 0.5)
        variance += weight**2 * _null_variance(x, y)
    if variance == 0.0:
        return 1.0, True
    # Half a pair of runs, spread over the grounds, corrects for the steps of the counts.
    step = 0.5 * float(np.mean(w)) / (n_pairs / len(samples))
    if alternative == "two-sided":
        return math.erfc(max(abs(middle) - step, 0.0) / math.sqrt(2.0 * variance)), False
    return 0.5 * math.erfc((middle - step) / math.sqrt(2.0 * variance)), False


def _null_variance(x: FloatArray, y: FloatArray) -> float:
    """Return the variance of P(x better than y) if all runs are exchangeable, given the ties."""
    m, n = x.size, y.size
    ties = np.unique(np.concatenate([x, y]), return_counts=True)[1].astype(np.float64)
    total = m + n
    corrected = total + 1.0 - (ties**3 - ties).sum() / (total * (total - 1.0))
    return max(float(corrected), 0.0) / (12.0 * m * n)


def _whole_scales(w: FloatArray, n_pairs: Sequence[int]) -> list[int] | None:
    """Return whole numbers in the ratios of weight over pairs of runs, which is what a pair counts.

    None if the weights are not in ratios of small whole numbers.
    """
    if not np.isfinite(w).all():
        return None
    ratios = (w / w.max()).tolist()
    near = [Fraction(ratio).limit_denominator(LARGEST_RATIO) for ratio in ratios]
    # A weight given in decimals is that far from its fraction, by rounding, and no farther.
    if any(abs(float(f) - ratio) > 1e-12 * ratio for f, ratio in zip(near, ratios, strict=True)):
        return None
    each = [f / n for f, n in zip(near, n_pairs, strict=True)]
    unit = math.lcm(*(f.denominator for f in each))
    return [int(f * unit) for f in each]


class _NullSums(NamedTuple):
    """The doubled ranks' sum of one's runs on a ground, less its mean, and all that it could be.

    ``seen`` is what it is, ``least`` the least that it could be, ``above`` how far above that are
    all that it could be, ascending, and ``chances`` their probabilities. Times a scale, and so
    numbers of Python: scales may be large.
    """

    seen: int
    least: int
    above: list[int]
    chances: FloatArray

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, scale: int) -> _NullSums:
        """Count all ways to deal the runs out."""
        ranks = doubled_ranks(np.concatenate([x, y]))
        chances = rank_sum_distribution(ranks, x.size)
        sums = np.flatnonzero(chances)
        least, mean = int(sums[0]), x.size * (x.size + y.size + 1)
        return cls(
            scale * (int(ranks[: x.size].sum()) - mean),
            scale * (least - mean),
            [scale * int(s - least) for s in sums],
            chances[sums],
        )


def _exact(
    samples: Sequence[tuple[FloatArray, FloatArray]], scales: Sequence[int], alternative: str
) -> float | None:
    """Return the p-value of the scaled sum of rank sums; None if its grid has too many steps."""
    parts = [_NullSums.of(x, y, scale) for (x, y), scale in zip(samples, scales, strict=True)]
    step = math.gcd(*(above for part in parts for above in part.above))
    if step == 0:  # all is tied
        return 1.0
    if sum(part.above[-1] for part in parts) // step > MOST_STEPS:
        return None
    whole = np.ones(1)
    for part in parts:
        whole = _convolved(whole, [above // step for above in part.above], part.chances)
    seen, least = sum(part.seen for part in parts), sum(part.least for part in parts)
    # whole[k]: the probability of the sum least + k step; its mean is 0
    if alternative == "two-sided":
        if seen == 0:
            return 1.0
        low, high = (-abs(seen) - least) // step, -((least - abs(seen)) // step)
        return min(1.0, float(whole[: max(low + 1, 0)].sum() + whole[high:].sum()))
    return min(1.0, float(whole[(seen - least) // step :].sum()))


def _convolved(whole: FloatArray, shifts: Sequence[int], chances: FloatArray) -> FloatArray:
    """Return the distribution on a grid of the sum with a number that takes a few places of it."""
    found = np.zeros(whole.size + shifts[-1])
    for shift, chance in zip(shifts, chances, strict=True):
        found[shift : shift + whole.size] += chance * whole
    return found
