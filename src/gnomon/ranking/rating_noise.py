"""How much ratings and their differences vary from one set of runs to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gnomon.ranking.tournament import Edges, Tournament
from gnomon.scores.table import FloatArray

__all__ = ["RatingNoise", "rating_noise"]


#: Degrees of freedom (runs less grounds, or grounds less one) below which nothing is estimable:
#: with three runs on one task, no test can tell two learners apart at 5 %.
LEAST_FREEDOM = 3


@dataclass(frozen=True, eq=False)
class RatingNoise:
    """Standard errors of ratings and differences, and how many of them make a difference.

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
        )


def rating_noise(
    edges: Edges,
    tournament: Tournament,
    replicates: FloatArray,
    level: float,
    least_edge_noise: bool,
    beyond_chance: bool,
) -> RatingNoise:
    """Return the noise of ratings from their resamples.

    Parameters
    ----------
    edges, tournament
        The contest, and its graph.
    replicates : ndarray of float, shape (n_resamples, n)
        Ratings of resamples.
    level : float
    least_edge_noise : bool
        Whether a difference is at least as uncertain as the edge between the two would be if they
        were alike: where one wins every pair of few runs, resamples do not vary at all.
    beyond_chance : bool
        As in :class:`RatingNoise`.
    """
    from scipy import stats

    n_draws, freedom = _draws(edges)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Resamples of m runs vary by (m - 1) / m too little; and their spread is itself uncertain.
        stretch = np.sqrt(n_draws / (n_draws - 1.0))
    z = float(stats.norm.ppf((1.0 + level) / 2.0))
    both = (
        np.minimum.outer(freedom, freedom) if edges.draw_grounds else np.add.outer(freedom, freedom)
    )
    longer = stats.t.ppf((1.0 + level) / 2.0, np.maximum(both, 1.0)) / z
    longer = longer * np.maximum.outer(stretch, stretch)
    alone = stats.t.ppf((1.0 + level) / 2.0, np.maximum(freedom, 1.0)) * stretch
    deviation, critical, marginal = _largest_differences(replicates, tournament, level)
    few = freedom < LEAST_FREEDOM
    known = np.isfinite(longer) & ~np.logical_or.outer(few, few)
    errors = np.where(known, deviation * np.where(known, longer, 0.0), np.inf)
    if least_edge_noise and not edges.draw_grounds:
        errors = np.maximum(errors, _edge_noise(edges, tournament))
    errors[_apart(tournament)] = np.inf
    spread = replicates.std(axis=0, ddof=1)
    unknown = few | ~np.isfinite(alone) | (spread <= 1e-12) | ~tournament.weights.any(axis=1)
    return RatingNoise(
        np.where(unknown, np.nan, np.where(unknown, 0.0, alone) * spread),
        errors,
        critical,
        marginal,
        beyond_chance,
        n_draws,
        few,
        bool((spread > 1e-12).any()),
    )


def _draws(edges: Edges) -> tuple[FloatArray, FloatArray]:
    """Return what is drawn from for each contestant, and its degrees of freedom."""
    sizes = edges.contest.sizes.astype(np.float64)
    present = sizes > 0
    n_grounds = present.sum(axis=0).astype(np.float64)
    if edges.draw_grounds:
        return n_grounds, n_grounds - 1.0
    inverse = np.where(present, 1.0 / np.maximum(sizes, 1.0), 0.0).sum(axis=0)
    return n_grounds / inverse, (sizes - present).sum(axis=0)


def _apart(tournament: Tournament) -> npt.NDArray[np.bool_]:
    """Return which pairs no chain of meetings connects."""
    part = np.empty(len(tournament.names), dtype=np.int64)
    for number, members in enumerate(tournament.components):
        part[list(members)] = number
    return np.not_equal.outer(part, part)


def _largest_differences(
    replicates: FloatArray, tournament: Tournament, level: float
) -> tuple[FloatArray, float, FloatArray]:
    """Return deviations of all differences, and quantiles of the largest studentized one.

    Over all pairs, and over those with each contestant. Pairs whose difference never varies have no
    part in the maximum and count as independent normal ones.
    """
    from scipy import stats

    noise = replicates - replicates.mean(axis=0)
    n = noise.shape[1]
    apart = _apart(tournament)
    deviation = np.empty((n, n))
    largest = np.zeros(len(noise))
    marginal = np.empty(n)
    least, still = np.empty(n), 0
    for i in range(n):
        difference = noise[:, [i]] - noise
        deviation[i] = difference.std(axis=0, ddof=1)
        varies = (deviation[i] > 1e-12) & ~apart[i]
        row = (np.abs(difference[:, varies]) / deviation[i, varies]).max(axis=1, initial=0.0)
        marginal[i] = np.quantile(row, level, method="higher")
        largest = np.maximum(largest, row)
        constant = int(np.count_nonzero(~varies & ~apart[i])) - 1
        least[i] = stats.norm.ppf(1.0 - (1.0 - level) / (2.0 * max(constant, 1)))
        still += constant
    overall = stats.norm.ppf(1.0 - (1.0 - level) / (2.0 * max(still // 2, 1)))
    critical = float(max(np.quantile(largest, level, method="higher"), overall))
    return deviation, critical, np.maximum(marginal, least)


def _edge_noise(edges: Edges, tournament: Tournament) -> FloatArray:
    """Return what the edge between two, were they alike, adds to the error of their difference.

    The edge enters the difference of the Hodge ratings with its weight times the effective
    resistance of the graph between the two.
    """
    contest, w = edges.contest, tournament.weights
    inverse = np.linalg.pinv(np.diag(w.sum(axis=1)) - w, hermitian=True)
    leverage = np.diag(inverse)[:, None] + np.diag(inverse)[None, :] - 2.0 * inverse
    m, n = contest.sizes[:, :, None], contest.sizes[:, None, :]
    pairs = contest.pairs
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = 4.0 * pairs / (pairs + 2.0 * edges.smoothing)
        variance = np.where(contest.met, slope**2 * (m + n + 1.0) / (12.0 * pairs), 0.0)
    # Weighted sums of edges, times leverage: the weights' own sum cancels.
    return np.asarray(leverage * np.sqrt((edges.ground_weights**2 * variance).sum(axis=0)))
