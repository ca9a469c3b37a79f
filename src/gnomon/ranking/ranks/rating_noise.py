"""Standard errors of ratings and of their differences, and the max-t quantiles that separate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gnomon.ranking.ranks.resampled_ratings import Edges, ResampledRatings
from gnomon.ranking.tournament import Tournament
from gnomon.scores.table import FloatArray

#: Degrees of freedom (runs less grounds, or grounds less one) below which nothing is estimable:
#: with three runs on one task, no test can tell two learners apart at 5 %.
LEAST_FREEDOM = 3
#: What varies by less does so by rounding.
VARIES = 1e-12
#: Where more resamples than these give no number, nothing is estimable: of drawn grounds too few
#: hold the contestants together.
MOST_MISSING = 0.05


@dataclass(frozen=True, eq=False)
class RatingNoise:
    """Standard errors of ratings and of differences, and critical values for separation.

    Parameters
    ----------
    rating_errors : ndarray of float, shape (n,)
        Half the width of a rating's interval; NaN where not estimable.
    difference_errors : ndarray of float, shape (n, n)
        Standard errors of differences, made longer for few runs as Student's t is; infinite where
        not estimable.
    critical : float
        Errors that a difference must exceed if all pairs are looked at.
    marginal_criticals : ndarray of float, shape (n,)
        The same if all pairs with one contestant are.
    beyond_chance : bool
        Whether ratings spread more than those of identical contestants; if not, none are separated.
    n_draws : ndarray of float, shape (n,)
        What was drawn from for each: runs (harmonic mean over grounds), or grounds.
    too_few : ndarray of bool, shape (n,)
        Whose runs are too few to say anything.
    torn : ndarray of bool, shape (n, n)
        Whom more than one resample in twenty does not connect, as drawn grounds may.
    varies : bool
        Whether any rating varies at all.
    """

    rating_errors: FloatArray
    difference_errors: FloatArray
    critical: float
    marginal_criticals: FloatArray
    beyond_chance: bool
    n_draws: FloatArray
    too_few: npt.NDArray[np.bool_]
    torn: npt.NDArray[np.bool_]
    varies: bool

    def rating_interval(self, ratings: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the intervals of ratings."""
        return ratings - self.rating_errors, ratings + self.rating_errors

    def separates(self, lead: FloatArray, *, marginal: bool = False) -> npt.NDArray[np.bool_]:
        """Return which differences are beyond what noise gives, shape (n, n)."""
        if not self.beyond_chance:
            return np.zeros(lead.shape, dtype=bool)
        critical = self.marginal_criticals[:, None] if marginal else self.critical
        with np.errstate(invalid="ignore"):
            # What is 0 but for rounding is 0.
            return np.asarray(np.abs(lead) > np.maximum(critical * self.difference_errors, 1e-9))

    def reordered(self, order: Sequence[int]) -> RatingNoise:
        """Return the same with contestants in another order."""
        return replace(
            self,
            rating_errors=self.rating_errors[order],
            difference_errors=self.difference_errors[np.ix_(order, order)],
            marginal_criticals=self.marginal_criticals[order],
            n_draws=self.n_draws[order],
            too_few=self.too_few[order],
            torn=self.torn[np.ix_(order, order)],
        )


def rating_noise(
    edges: Edges,
    tournament: Tournament,
    replicates: ResampledRatings,
    level: float,
    least_edge_noise: bool,
    beyond_chance: bool,
) -> RatingNoise:
    """Compute standard errors of ratings and differences from resamples, and critical values.

    Parameters
    ----------
    edges, tournament
        The contest, and its graph.
    replicates : ResampledRatings
    level : float
    least_edge_noise : bool
        Whether ratings and differences are at least as uncertain as the edges would make them if
        contestants were alike: where one wins every pair of few runs, resamples do not vary at all.
    beyond_chance : bool
        As in :class:`RatingNoise`.
    """
    from scipy.special import ndtri, stdtrit

    n_draws, stretch, freedom = _draws(edges)
    quantile = (1.0 + level) / 2.0
    both = (
        np.minimum.outer(freedom, freedom) if edges.draw_grounds else np.add.outer(freedom, freedom)
    )
    # The spread of resamples is itself uncertain: the longer the fewer runs.
    longer = stdtrit(np.maximum(both, 1.0), quantile) / ndtri(quantile)
    alone = stdtrit(np.maximum(freedom, 1.0), quantile)
    stretched = np.where(np.isfinite(stretch), stretch, np.nan)
    of_resamples, critical, marginal = _largest_differences(replicates, tournament, level)
    deviation = of_resamples * np.maximum.outer(stretched, stretched)
    varying = _spread(replicates.whole)
    spread = varying * stretched
    still = np.full(spread.shape, not tournament.log_odds.any())
    if least_edge_noise and not edges.draw_grounds:
        inverse = tournament.laplacian_inverse
        deviation = np.maximum(deviation, _least_difference_noise(edges, inverse))
        spread = np.hypot(spread, _bound_noise(edges, inverse))
    still |= spread <= VARIES
    few = freedom < LEAST_FREEDOM
    known = ~np.isnan(deviation) & ~np.logical_or.outer(few, few) & ~_apart(tournament)
    unknown = few | still | np.isnan(spread) | ~tournament.weights.any(axis=1)
    return RatingNoise(
        np.where(unknown, np.nan, alone * spread),
        np.where(known, deviation * longer, np.inf),
        critical,
        marginal,
        beyond_chance,
        n_draws,
        few,
        np.isnan(of_resamples) & ~_apart(tournament),
        bool((varying > VARIES).any()),
    )


def _spread(numbers: FloatArray) -> FloatArray:
    """Return the standard deviations of columns; NaN where too many resamples give no number."""
    missing = np.isnan(numbers).mean(axis=0)
    if not missing.any():
        return np.asarray(numbers.std(axis=0, ddof=1))
    spread = np.full(missing.shape, np.nan)
    enough = missing <= MOST_MISSING
    spread[enough] = np.nanstd(numbers[:, enough], axis=0, ddof=1)
    return spread


def _draws(edges: Edges) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what is drawn from for each contestant, what stretches its noise, and its freedom.

    Resamples of m runs vary by (m - 1) / m too little, and those of a single one not at all.
    """
    sizes = edges.contest.sizes.astype(np.float64)
    present = sizes > 0
    n_grounds = present.sum(axis=0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        if edges.draw_grounds:
            return n_grounds, np.sqrt(n_grounds / (n_grounds - 1.0)), n_grounds - 1.0
        each = np.where(present, 1.0 / np.maximum(sizes, 1.0), 0.0)
        drawn = (each * (1.0 - each)).sum(axis=0)
        stretch = np.sqrt(each.sum(axis=0) / drawn)
    return n_grounds / each.sum(axis=0), stretch, (sizes - present).sum(axis=0)


def _apart(tournament: Tournament) -> npt.NDArray[np.bool_]:
    """Return which pairs no chain of meetings connects."""
    part = np.empty(len(tournament.names), dtype=np.int64)
    for number, members in enumerate(tournament.components):
        part[list(members)] = number
    return np.not_equal.outer(part, part)


def _largest_differences(
    replicates: ResampledRatings, tournament: Tournament, level: float
) -> tuple[FloatArray, float, FloatArray]:
    """Return deviations of all differences, and quantiles of the largest studentized one.

    Over all pairs, and over those with each contestant. Pairs whose difference never varies have no
    part in the maximum and count as independent normal ones. A resample in which two are not
    connected has no difference of theirs.
    """
    from scipy.special import ndtri

    n_resamples, n = replicates.ratings.shape
    whole = replicates.parts is None
    apart = _apart(tournament)
    deviation = np.empty((n, n))
    largest = np.zeros(n_resamples)
    marginal = np.empty(n)
    least, still = np.empty(n), 0
    for i in range(n):
        leads = replicates.leads(i)
        deviation[i] = _spread(leads)
        varies = (deviation[i] > VARIES) & ~apart[i]
        noise = leads[:, varies]
        noise -= noise.mean(axis=0) if whole else np.nanmean(noise, axis=0)
        np.abs(noise, out=noise)
        noise /= deviation[i, varies]
        row = (noise if whole else np.nan_to_num(noise)).max(axis=1, initial=0.0)
        marginal[i] = np.quantile(row, level, method="higher")
        largest = np.maximum(largest, row)
        still_others = (deviation[i] <= VARIES) & ~apart[i] & (np.arange(n) != i)
        constant = int(np.count_nonzero(still_others))
        least[i] = ndtri(1.0 - (1.0 - level) / (2.0 * max(constant, 1)))
        still += constant
    overall = ndtri(1.0 - (1.0 - level) / (2.0 * max(still // 2, 1)))
    critical = float(max(np.quantile(largest, level, method="higher"), overall))
    return deviation, critical, np.maximum(marginal, least)


def _own_noise(edges: Edges) -> Iterator[FloatArray]:
    """Yield what i's runs add to its edge to j, were they alike, (n, n), ground by ground.

    A standard deviation: 1 / 12 m of the variance of P is that of m runs, and 1 / 12 m n of both.
    """
    for here in edges.contest.by_ground():
        m, pairs = here.sizes[0][:, None], here.pairs[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = 4.0 * pairs / (pairs + 2.0 * edges.smoothing)
            noise = slope * np.sqrt((1.0 + 0.5 * m / pairs) / (12.0 * m))
        yield np.where(here.met[0], noise, 0.0)


def _least_difference_noise(edges: Edges, inverse: FloatArray) -> FloatArray:
    """Return what the edge between two, were they alike, adds to the error of their difference.

    The edge enters the difference of the Hodge ratings with its weight times the effective
    resistance of the graph between the two; `inverse` is that of its Laplacian.
    """
    leverage = np.diag(inverse)[:, None] + np.diag(inverse)[None, :] - 2.0 * inverse
    variance = np.zeros_like(inverse)
    for own, weights in zip(_own_noise(edges), edges.ground_weights, strict=True):
        variance += weights**2 * (own**2 + own.T**2)
    # Weighted sums of edges, times leverage: the weights' own sum cancels.
    alone = leverage * np.sqrt(variance)
    # Few runs have heavier tails than normal ones: four of one that win against four of another
    # are seen once in 35 times, which is no rare event among many pairs.
    n_runs = edges.contest.sizes.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        longer = np.sqrt(n_runs / (n_runs - np.count_nonzero(edges.contest.sizes, axis=0)))
        return np.asarray(np.maximum.outer(longer, longer) * alone)


def _bound_noise(edges: Edges, inverse: FloatArray) -> FloatArray:
    """Return the noise of ratings from edges at their bound, which resamples do not show, (n,).

    Where one wins every pair of runs, all resamples say the same, and the next runs may not. Taken
    is three quarters of the noise between contestants that are alike: in simulations that brings
    95 % intervals of ratings near the bound, of equal numbers of runs, from holding 86 % to 96 %.
    The runs of one on one ground move all its edges there together.
    """
    squares = np.zeros_like(inverse)
    grounds = zip(_own_noise(edges), edges.ground_weights, edges.contest.by_ground(), strict=True)
    for own, weights, here in grounds:
        chance = here.probability[0]
        moved = np.where((chance == 0.0) | (chance == 1.0), 0.75 * weights * own, 0.0)
        # Row k: what k's runs add to the sums of everybody's weighted edges.
        added = np.diag(moved.sum(axis=1)) - moved
        squares += added.T @ added
    variance = ((inverse @ squares) * inverse).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
