"""Ranks of models on items: by their means, with rank intervals from paired differences.

Two models are separated if their difference on the items that both have is, by its own test and
Holm's correction over all pairs; items, or clusters of them, are what was drawn.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.ranking.ranks.ranking import Decision, Ranked, Ranking
from gnomon.ranking.ranks.rating_noise import RatingNoise
from gnomon.ranking.ranks.tie_groups import group_numbers, possible_ranks, tie_groups
from gnomon.results import made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.rank_tests import holm
from gnomon.stats.items.item_comparisons import compare_items
from gnomon.stats.items.item_pairs import ItemPairs
from gnomon.stats.items.item_values import ItemMetric
from gnomon.stats.items.proportions import normal_quantile

ITEM_MEAN = "item_mean"

BoolArray = npt.NDArray[np.bool_]


def rank_by_items(scores: ScoreTable, *, level: float = 0.95, marginal: bool = False) -> Ranking:
    """Rank models by their means over items.

    Parameters
    ----------
    scores : ScoreTable
        Of items.
    level : float
    marginal : bool
        Whether rank intervals hold one by one: then those of a model are decided over its own
        pairs.

    Returns
    -------
    Ranking
        ``above`` is the probability of a difference in that direction, by its standard error.

    Raises
    ------
    ScoreDataError
        There is one model.

    Examples
    --------
    >>> right = {"a": [[1, 1, 1, 1] * 10], "b": [[1, 1, 1, 0] * 10], "c": [[0, 1, 0, 0] * 10]}
    >>> found = rank_by_items(ScoreTable.from_arrays(right, units="items"))
    >>> [(one.name, one.rank_low, one.rank_high) for one in found]
    [('a', 1, 1), ('b', 2, 2), ('c', 3, 3)]
    """
    names, mean = scores.algorithms, ItemMetric.named("mean")
    if len(names) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {names[0]} alone")
    with recorded() as notes:
        found = compare_items(scores, None, level=level)
    pairs = ItemPairs(scores)
    means = [pairs.mean(name, mean) for name in names]
    sign = 1.0 if scores.higher_is_better else -1.0
    values = np.array([one.moments.value for one in means])
    ends = np.array([one.interval(level) for one in means])
    lead, p, error = (np.zeros((len(names),) * 2) for _ in range(3))
    together: BoolArray = np.zeros(lead.shape, dtype=bool)
    for (i, j), one in zip(combinations(range(len(names)), 2), found, strict=True):
        lead[i, j], lead[j, i] = sign * one.value, -sign * one.value
        p[i, j] = p[j, i] = one.p_value
        known = not math.isnan(one.low)
        of_pair = pairs.difference(one.a, one.b, mean).error if known else math.inf
        error[i, j] = error[j, i] = of_pair
        together[i, j] = together[j, i] = one.p_adjusted <= 1.0 - level
    order = np.argsort(-sign * values, kind="stable")
    ranked = tuple(names[i] for i in order)
    groups = tie_groups(ranked, names, together)
    best, worst = possible_ranks(_marginal(p, level) if marginal else together, lead)
    records = tuple(
        Ranked(
            names[i],
            ITEM_MEAN,
            float(values[i]),
            float(ends[i, 0]),
            float(ends[i, 1]),
            int(best[i]),
            int(worst[i]),
            group_numbers(groups, names[i]),
        )
        for i in order
    )
    noise = _noise(ends, error, [one.moments.n for one in means], level)
    grid = np.ix_(order, order)
    settings = made_by(
        None, method=ITEM_MEAN, by="algorithm", units="items", cluster=scores.cluster, level=level,
        resampling="runs_and_tasks", n_resamples=0, marginal=marginal, correction="Holm",
    )  # fmt: skip
    return Ranking(
        records,
        settings,
        tuple(notes),
        groups=groups,
        above=_above(lead, error)[grid],
        separated=together[grid],
        decisions=(Decision(sign * values, noise).reordered(order.tolist()),),
        components=(ranked,),
    )


def _marginal(p: FloatArray, level: float) -> BoolArray:
    """Return which are separated by Holm's correction over the pairs of each model alone."""
    apart = np.zeros(p.shape, dtype=bool)
    for i in range(len(p)):
        others = np.arange(len(p)) != i
        apart[i, others] = holm(p[i, others]) <= 1.0 - level
    return apart


def _above(lead: FloatArray, error: FloatArray) -> FloatArray:
    """Return how likely a difference in the direction of i is, by its standard error."""
    from scipy.special import ndtr

    with np.errstate(invalid="ignore", divide="ignore"):
        steps = np.where(error > 0.0, lead / error, np.sign(lead) * math.inf)
    return np.asarray(np.where(lead == 0.0, 0.5, ndtr(steps)))


def _noise(ends: FloatArray, error: FloatArray, n_items: list[int], level: float) -> RatingNoise:
    """Return the standard errors as what tells how many more items would separate two."""
    n = len(ends)
    n_pairs = n * (n - 1) // 2
    single = normal_quantile(1.0 - (1.0 - level) / (n - 1))
    return RatingNoise(
        rating_errors=(ends[:, 1] - ends[:, 0]) / 2.0,
        difference_errors=error,
        critical=normal_quantile(1.0 - (1.0 - level) / n_pairs),
        marginal_criticals=np.full(n, single),
        beyond_chance=True,
        n_draws=np.asarray(n_items, dtype=np.float64),
        too_few=np.zeros(n, dtype=bool),
        torn=np.zeros((n, n), dtype=bool),
        varies=bool(error.any()),
    )
